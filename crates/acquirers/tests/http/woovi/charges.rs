//! Tests charges: requests, classification of answers, and checks.

use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_ports::{Acquirer as _, ReturnNature, UpstreamStatus};
use cais_testkit::CapturedLogs;
use serde_json::{Value, json};

use super::answers::{APP_ID, asked, charge, charged, last_page, refused, transaction, woovi};
use crate::answers::{
    BUDGET, CODE, NAME, PIX, STATIC_CODE, TXID, changed, html, json_reply, kind, order, reason, txid,
};
use crate::losses::losses;
use crate::server::{Act, Server};

/// The refusal of a `correlationID` that exists already.
pub const EXISTS: &str = "Já existe uma cobrança com o correlationID fornecido";

/// Returns the answer with [`charge`] changed at a pointer.
fn with(pointer: &str, value: Option<Value>) -> Value {
    charged(&changed(charge(), pointer, value))
}

#[tokio::test]
async fn charge_order_is_written_in_woovi_format() {
    let server = Server::start(|_, _| json_reply(200, &charged(&charge()))).await;
    let mut ordered = order();
    ordered.description = Some(format!("one\r\ntwo {}", "é".repeat(200)));
    ordered.payer = Some((Document::parse("123.456.789-09").unwrap(), " Ana Lima ".to_owned()));
    let made = woovi(&format!("{}/", server.url())).create_charge(&ordered, BUDGET).await.unwrap();
    assert_eq!((made.txid.as_str(), made.amount, made.status), (TXID, ordered.amount, UpstreamStatus::Active));
    assert_eq!(made.copy_paste.as_deref(), Some(CODE));
    assert_eq!(made.expires_at.to_string(), "2026-11-20T16:00:00.278Z");
    let seen = server.seen().remove(0);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/api/v1/charge?return_existing=true"));
    assert_eq!((seen.header("authorization"), seen.header("content-type")), (APP_ID, "application/json"));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(
        body,
        json!({
            "correlationID": TXID, "value": 1050, "type": "DYNAMIC", "expiresIn": 3600,
            "comment": format!("one  two {}", "é".repeat(131)), "customer": {"name": "Ana Lima", "taxID": "12345678909"}
        })
    );
    woovi(&server.url()).create_charge(&order(), BUDGET).await.unwrap();
    let body: Value = serde_json::from_str(&server.seen().remove(1).body).unwrap();
    assert_eq!(body, json!({"correlationID": TXID, "value": 1050, "type": "DYNAMIC", "expiresIn": 3600}));
}

#[tokio::test]
async fn inexpressible_order_is_never_sent() {
    let server = Server::start(|_, _| json_reply(200, &charged(&charge()))).await;
    for (centavos, seconds) in [(0, 60), (-1, 60), (1_000_000_000_000, 60), (100, 0)] {
        let mut order = order();
        order.amount = Money::from_centavos(centavos);
        order.expires_in_s = seconds;
        assert_eq!(kind(&woovi(&server.url()).create_charge(&order, BUDGET).await), "refused", "{centavos} {seconds}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn charge_that_differs_from_order_is_refused() {
    for (pointer, value, field) in [
        ("/correlationID", Some(json!("99jd8x2m4pe9ktva0c6rzq5w3n")), "correlationID"),
        ("/correlationID", None, "correlationID"),
        ("/value", Some(json!(1051)), "value"),
        ("/value", Some(json!(10.5)), "value"),
        ("/value", Some(json!("10,50")), "value"),
        ("/value", None, "value"),
        ("/status", None, "status"),
        ("/brCode", None, "brCode"),
        ("/brCode", Some(json!(STATIC_CODE)), "brCode"),
        ("/brCode", Some(json!(CODE.replace("2BF6", "2BF7"))), "brCode"),
        ("/brCode", Some(json!("https://api.openpix.com.br/x")), "brCode"),
    ] {
        let answer = with(pointer, value.clone());
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let result = woovi(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "refused", "{pointer} {value:?} {}", reason(&result));
        assert!(reason(&result).contains(&format!("answer's {field} ")), "{pointer}: {}", reason(&result));
        assert_eq!(server.methods(), "POST");
    }
}

#[tokio::test]
async fn documented_quirks_are_tolerated() {
    let no_date = changed(charge(), "/expiresDate", None);
    for answer in [
        with("/value", Some(json!("1050"))),
        with("/status", Some(json!("SOMETHING_NEW"))),
        with("/expiresIn", Some(json!("86424"))),
        charged(&no_date),
        charged(&changed(no_date, "/expiresIn", Some(json!("3600")))),
        json!({"charge": charge()}),
    ] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let made = woovi(&server.url()).create_charge(&order(), BUDGET).await.unwrap();
        assert_eq!(made.expires_at.as_second(), "2026-11-20T16:00:00Z".parse::<jiff::Timestamp>().unwrap().as_second());
        assert_eq!(made.status, UpstreamStatus::Active);
    }
}

/// The answer to the order, the answer to the look-up, the outcome, and the requests.
#[tokio::test]
async fn refusal_of_a_charge_is_classified() {
    let found = json_reply(200, &charged(&charge()));
    let other = json_reply(200, &with("/value", Some(json!(9900))));
    let absent = refused(400, "Charge not found");
    for (post, get, wanted, methods) in [
        (refused(400, "expiresIn must be at least 300 seconds"), found.clone(), "refused", "POST"),
        (refused(403, "forbidden"), found.clone(), "unavailable", "POST"),
        (refused(429, "Too many requests"), found.clone(), "unavailable", "POST"),
        (html(401), found.clone(), "unavailable", "POST"),
        (refused(400, EXISTS), found.clone(), "ok", "POST GET"),
        (refused(400, EXISTS), other.clone(), "refused", "POST GET"),
        (refused(400, EXISTS), absent.clone(), "unknown", "POST GET"),
        (refused(400, EXISTS), html(500), "unknown", "POST GET"),
        (refused(500, "Internal"), found.clone(), "ok", "POST GET"),
        (refused(500, "Internal"), other, "refused", "POST GET"),
        (refused(500, "Internal"), absent, "unknown", "POST GET POST"),
        (refused(500, "Internal"), refused(400, "?"), "unknown", "POST GET"),
        (json_reply(200, &json!({"error": "x"})), found, "ok", "POST GET"),
    ] {
        let server = Server::start(move |seen, _| match seen.method.as_str() {
            "POST" => post.clone(),
            _ => get.clone(),
        })
        .await;
        let result = woovi(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!((kind(&result), server.methods().as_str()), (wanted, methods), "{}", reason(&result));
    }
}

#[tokio::test]
async fn charge_with_lost_answer_is_found_or_sent_again() {
    for (name, loss, budget) in losses(&charged(&charge())) {
        let lost = loss.clone();
        let server = Server::start(move |seen, _| match seen.method.as_str() {
            "POST" => lost.clone(),
            _ => json_reply(200, &charged(&charge())),
        })
        .await;
        let result = woovi(&server.url()).create_charge(&order(), budget).await;
        assert_eq!((kind(&result), server.methods().as_str()), ("ok", "POST GET"), "{name}: {}", reason(&result));

        let server = Server::start(move |seen, nth| match (seen.method.as_str(), nth) {
            ("POST", 0) => loss.clone(),
            ("POST", _) => json_reply(200, &charged(&charge())),
            _ => refused(400, "Cobrança não encontrada"),
        })
        .await;
        let result = woovi(&server.url()).create_charge(&order(), budget).await;
        assert_eq!((kind(&result), server.methods().as_str()), ("ok", "POST GET POST"), "{name}: {}", reason(&result));
        let bodies: Vec<_> =
            server.seen().into_iter().filter(|seen| seen.method == "POST").map(|seen| seen.body).collect();
        assert!(bodies.iter().all(|body| body.contains(TXID)) && bodies.len() == 2, "{bodies:?}");
    }
}

/// Starts a server with one charge, its Pix and its refunds.
async fn with_books(charge: Value, transactions: Value, refunds: Value, dispute: Act) -> Server {
    Server::start(move |seen, _| match seen.path.as_str() {
        path if path.ends_with("/refund") => json_reply(200, &refunds),
        path if path.starts_with("/api/v1/charge/") => json_reply(200, &charge),
        path if path.starts_with("/api/v1/dispute/") => dispute.clone(),
        _ => json_reply(200, &transactions),
    })
    .await
}

fn none() -> Act {
    refused(400, "Dispute not found")
}

#[tokio::test]
async fn charge_is_read_with_its_pix_and_returns() {
    let ours = json!({
        "status": "CONFIRMED", "value": 400, "correlationID": NAME, "endToEndId": "D12345678202611201501bbbbbbbbbbb",
        "time": "2026-11-20T15:05:00Z"
    });
    let refunds = json!({"refunds": [ours, ours]});
    let paid = with("/status", Some(json!("COMPLETED")));
    let server = with_books(paid, last_page("transactions", &[transaction(), transaction()]), refunds, none()).await;
    let found = woovi(&server.url()).find_charge(&txid(), BUDGET).await.unwrap().unwrap();
    assert_eq!((found.status, found.amount), (UpstreamStatus::Completed, order().amount));
    let [payment] = found.payments.as_slice() else { unreachable!("{found:?}") };
    assert_eq!((payment.end_to_end_id.as_str(), payment.amount), (PIX, order().amount));
    assert_eq!(payment.paid_at.to_string(), "2026-11-20T15:00:00Z");
    let returned: Vec<_> = payment.returns.iter().map(crate::answers::returned).collect();
    assert_eq!(returned, [format!("{NAME} D12345678202611201501bbbbbbbbbbb 4.00 done 2026-11-20T15:05:00Z ours")]);
    let asked = asked(&server);
    let wanted = ["GET /charge/", "GET /transaction", "GET /charge/"];
    assert_eq!(asked, [format!("{}{TXID}", wanted[0]), wanted[1].to_owned(), format!("{}{TXID}/refund", wanted[2])]);
    let list = server.seen().remove(1).path;
    assert_eq!(list, format!("/api/v1/transaction?charge={TXID}&skip=0&limit=100"));
}

const SECOND: &str = "E12345678202611201500bbbbbbbbbbb";

/// Returns the ids of the Pix of a charge with the number of their returns.
fn returns_of(payments: &[cais_ports::UpstreamPayment]) -> Vec<(&str, usize)> {
    payments.iter().map(|payment| (payment.end_to_end_id.as_str(), payment.returns.len())).collect()
}

#[tokio::test]
async fn return_of_charge_with_several_pix_is_not_guessed() {
    let row = |status: &str, end_to_end_id: &str| {
        let row = changed(transaction(), "/endToEndId", Some(json!(end_to_end_id)));
        changed(row, "/status", Some(json!(status)))
    };
    let back = |status: &str, name: &str, id: &str| json!({"status": status, "value": 400, "correlationID": name, "endToEndId": id});
    let (unnamed, return_id) = ([("CONFIRMED", 0), ("CONFIRMED", 0)], "D12345678202611201501ccccccccccc");
    let other = back("CONFIRMED", "by-hand", return_id);
    for (refunds, statuses, alerts) in [
        // A return that names its Pix belongs to it.
        (back("CONFIRMED", "by-hand", SECOND), [("CONFIRMED", 0), ("CONFIRMED", 1)], 0),
        (back("CONFIRMED", NAME, PIX), [("CONFIRMED", 1), ("CONFIRMED", 0)], 0),
        // A refund of ours is read by its own id.
        (back("CONFIRMED", NAME, return_id), unnamed, 0),
        // Both Pix could be the returned one.
        (other.clone(), unnamed, 1),
        (other.clone(), [("REFUNDED", 0), ("PARTIAL_REFUND", 0)], 1),
        // A failed return moved no money.
        (back("REJECTED", "by-hand", return_id), unnamed, 0),
        // Only one Pix shows a return.
        (other, [("CONFIRMED", 0), ("PARTIAL_REFUND", 1)], 0),
    ] {
        let rows = [row(statuses[0].0, PIX), row(statuses[1].0, SECOND)];
        let page = last_page("transactions", &rows);
        let server = with_books(charged(&charge()), page, json!({"refunds": [refunds]}), none()).await;
        let logs = CapturedLogs::start();
        let found = woovi(&server.url()).find_charge(&txid(), BUDGET).await.unwrap().unwrap();
        assert_eq!(returns_of(&found.payments), [(PIX, statuses[0].1), (SECOND, statuses[1].1)], "{refunds}");
        let lines = logs.alerts(cais_ports::alerts::PAYMENT_RETURNED);
        assert_eq!(lines.len(), alerts, "{refunds} {statuses:?}: {lines:?}");
        for line in lines {
            let fields = ["acquirer", "txid", "returned", "name"].map(|field| line[field].clone());
            assert_eq!(fields, ["main", TXID, "4.00", "by-hand"].map(|text| json!(text)), "{line}");
        }
    }
}

#[tokio::test]
async fn unpaid_charge_needs_two_reads() {
    for status in ["ACTIVE", "EXPIRED", "SOMETHING_NEW"] {
        let answer = with("/status", Some(json!(status)));
        let server = with_books(answer, last_page("transactions", &[]), json!({}), none()).await;
        let found = woovi(&server.url()).find_charge(&txid(), BUDGET).await.unwrap().unwrap();
        assert_eq!((found.status, found.payments.len()), (UpstreamStatus::Active, 0), "{status}");
        assert_eq!(server.methods(), "GET GET");
    }
    for text in ["Charge not found", "Cobrança não encontrada"] {
        let server = Server::start(move |_, _| refused(400, text)).await;
        assert_eq!(woovi(&server.url()).find_charge(&txid(), BUDGET).await, Ok(None), "{text}");
    }
    let server = Server::start(|_, _| refused(400, "algo deu errado")).await;
    assert_eq!(kind(&woovi(&server.url()).find_charge(&txid(), BUDGET).await), "unknown");
}

/// An uncertain answer fails the read: a wrong credit is worse than a late one.
#[tokio::test]
async fn pix_that_may_be_of_another_charge_is_never_credited() {
    let row = |pointer: &str, value| changed(transaction(), pointer, value);
    let more =
        json!({"pageInfo": {"skip": 0, "limit": 100, "hasNextPage": true}, "transactions": vec![transaction(); 100]});
    for (page, message) in [
        (last_page("transactions", &[row("/charge", None)]), "transactions[0].charge is not the requested charge"),
        (
            last_page("transactions", &[row("/charge/correlationID", Some(json!("99jd8x2m4pe9ktva0c6rzq5w3n")))]),
            "charge",
        ),
        (last_page("transactions", &[row("/endToEndId", Some(json!("E1")))]), "endToEndId is not an end-to-end id"),
        (last_page("transactions", &[row("/endToEndId", None)]), "endToEndId is not an end-to-end id"),
        (last_page("transactions", &[row("/value", Some(json!(10.5)))]), "value is not an amount"),
        (last_page("transactions", &[row("/time", None)]), "time is not an instant"),
        (last_page("transactions", &[row("/type", Some(json!("LOAN")))]), "type is not a known type"),
        (last_page("transactions", &[json!(7)]), "cannot be read"),
        (
            last_page("transactions", &[transaction(), row("/value", Some(json!(9)))]),
            "one endToEndId with different facts",
        ),
        (more, "has more than a page"),
        (json!({"pageInfo": {}}), "transactions is missing"),
    ] {
        let server = with_books(charged(&charge()), page, json!({"refunds": []}), none()).await;
        let result = woovi(&server.url()).find_charge(&txid(), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{message}");
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
    }
}

#[tokio::test]
async fn transactions_that_are_no_received_pix_are_left_out() {
    let row = |pointer: &str, value: &str| changed(transaction(), pointer, Some(json!(value)));
    let older = changed(changed(transaction(), "/endToEndId", None), "/endToEndID", Some(json!(PIX)));
    for (rows, payments) in [
        (vec![row("/type", "REFUND"), row("/type", "WITHDRAW"), row("/type", "FEE")], 0),
        (["INTERNAL_TRANSFER", "BALANCE_BLOCK", "BALANCE_UNBLOCK"].map(|kind| row("/type", kind)).to_vec(), 0),
        // An unknown status is unfinished.
        (vec![row("/status", "PENDING")], 0),
        (vec![older], 1),
        (vec![changed(transaction(), "/status", None)], 1),
        (vec![row("/type", "DYNAMIC")], 1),
    ] {
        let server =
            with_books(charged(&charge()), last_page("transactions", &rows), json!({"refunds": []}), none()).await;
        let found = woovi(&server.url()).find_charge(&txid(), BUDGET).await.unwrap().unwrap();
        assert_eq!(found.payments.len(), payments, "{rows:?}");
    }
}

#[tokio::test]
async fn foreign_return_belongs_to_accepted_dispute() {
    let foreign = json!({"refunds": [{"status": "CONFIRMED", "value": 1050, "correlationID": "9134e286-6f71-427a"}]});
    let dispute = |status: &str| json_reply(200, &json!({"dispute": {"type": "MED", "status": status, "id": "d1"}}));
    for (answer, wanted) in [
        (dispute("ACCEPTED"), Some(ReturnNature::Infraction)),
        (dispute("IN_REVIEW"), Some(ReturnNature::Ordinary)),
        (none(), Some(ReturnNature::Ordinary)),
        (html(500), None),
    ] {
        let page = last_page("transactions", &[transaction()]);
        let server = with_books(charged(&charge()), page, foreign.clone(), answer).await;
        let found = woovi(&server.url()).find_charge(&txid(), BUDGET).await;
        let nature = found.ok().flatten().and_then(|charge| Some(charge.payments.first()?.returns.first()?.nature));
        assert_eq!(nature, wanted);
        assert_eq!(asked(&server).last().unwrap(), &format!("GET /dispute/{PIX}"));
    }
}

/// The answer to the removal, the charge after it, the outcome, and the status of the result.
#[tokio::test]
async fn removed_charge_is_cancelled() {
    let deleted = json_reply(200, &json!({"status": "OK", "id": TXID}));
    let active = json_reply(200, &charged(&charge()));
    let paid = json_reply(200, &with("/status", Some(json!("COMPLETED"))));
    let absent = refused(400, "Charge not found");
    let (ok, removed) = ("ok", Some(UpstreamStatus::Removed));
    for (delete, after, wanted, status) in [
        (deleted.clone(), absent.clone(), ok, removed),
        // The text for a removed charge is not documented.
        (deleted.clone(), refused(400, "algo"), ok, removed),
        (deleted.clone(), active.clone(), "unknown", None),
        (deleted.clone(), paid.clone(), ok, Some(UpstreamStatus::Completed)),
        (deleted, html(500), "unknown", None),
        (Act::Cut, absent.clone(), ok, removed),
        (Act::Cut, active.clone(), "unknown", None),
        (Act::Cut, refused(400, "algo"), "unknown", None),
        (refused(400, "Charge is completed"), paid, ok, Some(UpstreamStatus::Completed)),
        (refused(400, "Charge is completed"), active.clone(), "refused", None),
        (refused(403, "no"), active, "unavailable", None),
    ] {
        let server =
            Server::start(move |seen, nth| match (seen.method.as_str(), seen.path.contains("transaction"), nth) {
                ("DELETE", _, _) => delete.clone(),
                (_, true, _) => json_reply(200, &last_page("transactions", &[])),
                (_, false, 0) => json_reply(200, &charged(&charge())),
                _ => after.clone(),
            })
            .await;
        let result = woovi(&server.url()).cancel_charge(&txid(), BUDGET).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert_eq!(result.ok().map(|charge| charge.status), status);
    }
}

#[tokio::test]
async fn paid_or_absent_charge_is_not_removed() {
    let paid = with("/status", Some(json!("COMPLETED")));
    for (answer, rows) in [(paid, vec![]), (charged(&charge()), vec![transaction()])] {
        let server = with_books(answer, last_page("transactions", &rows), json!({"refunds": []}), none()).await;
        let found = woovi(&server.url()).cancel_charge(&txid(), BUDGET).await.unwrap();
        assert_ne!(found.status, UpstreamStatus::Removed);
        assert!(!server.methods().contains("DELETE"));
    }
    let server = Server::start(|_, _| refused(400, "Charge not found")).await;
    assert_eq!(kind(&woovi(&server.url()).cancel_charge(&txid(), BUDGET).await), "refused");
    assert_eq!(server.methods(), "GET");
}
