//! Tests lists of received and sent Pix, one received Pix, and the balance.

use cais_domain::money::Money;
use cais_ports::{Acquirer as _, ReturnedPart};
use serde_json::json;

use super::answers::{asked, last_page, payment, refused, transaction, woovi};
use super::callbacks::{payout_return, return_id};
use crate::answers::{BUDGET, NAME, PIX, TXID, changed, day, html, json_reply, kind, pix, reason};
use crate::server::Server;

#[tokio::test]
async fn received_pix_are_listed_by_page() {
    let server = Server::start(|seen, _| {
        let second = seen.path.contains("skip=100");
        let rows = if second { vec![changed(transaction(), "/charge", None)] } else { vec![transaction(); 100] };
        let paging = json!({"skip": if second { 100 } else { 0 }, "limit": 100, "hasNextPage": !second});
        json_reply(200, &json!({"pageInfo": paging, "transactions": rows}))
    })
    .await;
    let woovi = woovi(&server.url());
    let first = woovi.list_received(day(0), BUDGET).await.unwrap();
    assert_eq!((first.rows.len(), first.next), (100, Some(1)));
    let row = first.rows.first().unwrap();
    assert_eq!(
        (row.txid.as_ref().map(cais_domain::txid::Txid::as_str), row.payment.end_to_end_id.as_str()),
        (Some(TXID), PIX)
    );
    let second = woovi.list_received(day(1), BUDGET).await.unwrap();
    assert_eq!((second.rows.len(), second.next), (1, None));
    assert!(second.rows.iter().all(|row| row.txid.is_none()));
    let query = "start=2026-11-20T00%3A00%3A00Z&end=2026-11-21T00%3A00%3A00Z&skip=100&limit=100";
    assert_eq!(server.seen().last().unwrap().path, format!("/api/v1/transaction?{query}"));
}

#[tokio::test]
async fn listed_pix_that_went_back_has_its_returns() {
    let back = |status: &str| changed(transaction(), "/status", Some(json!(status)));
    for (status, refunds, wanted) in [
        ("REFUNDED", json!([{"status": "CONFIRMED", "value": 1050, "correlationID": "by-hand"}]), Ok(1)),
        ("PARTIAL_REFUND", json!([{"status": "CONFIRMED", "value": 50, "correlationID": "by-hand"}]), Ok(1)),
        ("CONFIRMED", json!([]), Ok(0)),
        // Without its returns the Pix would be credited in full.
        ("REFUNDED", json!([]), Err("the answer's refunds does not show the return of a refunded Pix")),
    ] {
        let row = back(status);
        let server = Server::start(move |seen, _| match seen.path.as_str() {
            path if path.ends_with("/refund") => json_reply(200, &json!({"refunds": refunds})),
            path if path.contains("/dispute/") => refused(400, "Dispute not found"),
            _ => json_reply(200, &last_page("transactions", std::slice::from_ref(&row))),
        })
        .await;
        let page = woovi(&server.url()).list_received(day(0), BUDGET).await.unwrap();
        let found: Vec<_> = page.rows.iter().map(|row| row.payment.returns.len()).collect();
        let unreadable: Vec<_> = page.unreadable.iter().map(|row| (row.name.as_str(), row.reason.as_str())).collect();
        match wanted {
            Ok(returns) => assert_eq!((found, unreadable), (vec![returns], vec![]), "{status}"),
            Err(reason) => assert_eq!((found, unreadable), (vec![], vec![(PIX, reason)]), "{status}"),
        }
    }
}

#[tokio::test]
async fn unreadable_row_of_a_charge_is_reported() {
    let broken = |charge| changed(changed(transaction(), "/value", Some(json!(1.5))), "/charge", charge);
    let ours = json!({"correlationID": TXID});
    let foreign = json!({"correlationID": "9134e286-6f71-427a-bf00-241681624586"});
    let rows = [broken(Some(ours)), broken(Some(foreign)), broken(None), transaction()];
    let page = last_page("transactions", &rows);
    let server = Server::start(move |_, _| json_reply(200, &page)).await;
    let page = woovi(&server.url()).list_received(day(0), BUDGET).await.unwrap();
    let unreadable: Vec<_> = page.unreadable.iter().map(|row| (row.name.as_str(), row.reason.as_str())).collect();
    assert_eq!(page.rows.len(), 1);
    assert_eq!(unreadable, [(PIX, "the answer's transactions[0].value is not an amount")]);
}

#[tokio::test]
async fn sent_pix_are_listed_with_foreign_ones_left_out() {
    let foreign = changed(payment("CONFIRMED"), "/payment/correlationID", Some(json!("222a1750-de17-406c-bd0c")));
    let broken = |id: &str| {
        let broken = changed(payment("CONFIRMED"), "/payment/value", Some(json!("x")));
        changed(broken, "/payment/correlationID", Some(json!(id)))
    };
    let rows = [payment("CONFIRMED"), foreign, broken("payment1"), broken(NAME), payment("CREATED")];
    let page = last_page("payments", &rows);
    let server = Server::start(move |_, _| json_reply(200, &page)).await;
    let page = woovi(&server.url()).list_sent(day(0), BUDGET).await.unwrap();
    let found: Vec<_> = page.rows.iter().map(|row| (row.instruction_id.as_str(), row.awaits_approval)).collect();
    assert_eq!(found, [(NAME, false), (NAME, true)]);
    let unreadable: Vec<_> = page.unreadable.iter().map(|row| (row.name.as_str(), row.reason.as_str())).collect();
    assert_eq!(unreadable, [(NAME, "the answer's payments[3].value is not an amount")]);
    assert!(server.seen().remove(0).path.starts_with("/api/v1/payment?start="));
}

#[tokio::test]
async fn returns_of_sent_pix_are_listed_apart() {
    let with = |pointer: &str, value: serde_json::Value| changed(payout_return(), pointer, Some(value));
    let mut exchanged = with("/type", json!("CONFIRMED"));
    exchanged["status"] = json!("REFUND");
    let rows = [
        payout_return(),
        exchanged,
        // A return of a received Pix, one in flight, two failed ones, and a Pix that is no return.
        with("/charge", json!({"correlationID": TXID})),
        with("/status", json!("IN_PROCESSING")),
        with("/status", json!("REJECTED")),
        with("/status", json!("NOT_ACCOMPLISHED")),
        with("/type", json!("WITHDRAW")),
        // Rows that cannot be read are reported.
        with("/value", json!(4.5)),
        with("/value", json!(-400)),
        with("/endToEndId", json!("D3168")),
        with("/status", json!("REFUNDED")),
    ];
    let page = last_page("transactions", &rows);
    let server = Server::start(move |_, _| json_reply(200, &page)).await;
    let page = woovi(&server.url()).list_payout_returns(day(0), BUDGET).await.unwrap();
    let part = ReturnedPart {
        return_id: return_id(),
        amount: Money::from_centavos(400),
        at: "2026-11-20T16:00:00Z".parse().unwrap(),
    };
    assert_eq!((page.rows, page.next), (vec![part.clone(), part], None));
    let unreadable: Vec<_> = page.unreadable.iter().map(|row| (row.name.as_str(), row.reason.as_str())).collect();
    let wrong = "the answer's transactions[";
    let (id, value) = (return_id(), |row: usize| format!("{wrong}{row}].value is not an amount"));
    assert_eq!(
        unreadable,
        [
            (id.as_str(), value(7).as_str()),
            (id.as_str(), value(8).as_str()),
            ("D3168", format!("{wrong}9].endToEndId is not the id of a return").as_str()),
            (id.as_str(), format!("{wrong}10].status is not a known status").as_str()),
        ]
    );
    let query = "start=2026-11-20T00%3A00%3A00Z&end=2026-11-21T00%3A00%3A00Z&skip=0&limit=100";
    assert_eq!(server.seen().remove(0).path, format!("/api/v1/transaction?type=REFUND&{query}"));
    for answer in [refused(400, "type inválido"), html(200), json_reply(200, &json!({"transactions": {}}))] {
        let server = Server::start(move |_, _| answer.clone()).await;
        assert_ne!(kind(&woovi(&server.url()).list_payout_returns(day(0), BUDGET).await), "ok");
    }
}

#[tokio::test]
async fn received_pix_is_read_by_its_id() {
    let without = changed(transaction(), "/charge", None);
    let other = changed(transaction(), "/endToEndId", Some(json!("E12345678202611201500bbbbbbbbbbb")));
    let outgoing = changed(transaction(), "/type", Some(json!("WITHDRAW")));
    for (answer, wanted) in [
        (json_reply(200, &json!({"transaction": transaction()})), format!("{TXID} 1")),
        (json_reply(200, &json!({"transaction": without})), "- 0".to_owned()),
        (refused(400, "Transaction not found"), "none".to_owned()),
        (refused(400, "Transação não encontrada"), "none".to_owned()),
        (refused(400, "algo"), "unknown".to_owned()),
        (json_reply(200, &json!({"transaction": other})), "unknown".to_owned()),
        (json_reply(200, &json!({"transaction": outgoing})), "unknown".to_owned()),
        (json_reply(200, &json!({})), "unknown".to_owned()),
        (html(200), "unknown".to_owned()),
    ] {
        let refunds = json!({"refunds": [{"status": "CONFIRMED", "value": 1, "correlationID": NAME}]});
        let server = Server::start(move |seen, _| match seen.path.as_str() {
            path if path.ends_with("/refund") => json_reply(200, &refunds),
            // The charge has a return, so its Pix are read.
            path if path.contains("?charge=") => json_reply(200, &last_page("transactions", &[transaction()])),
            _ => answer.clone(),
        })
        .await;
        let result = woovi(&server.url()).find_received(&pix(), BUDGET).await;
        let found = match &result {
            Ok(Some(found)) => {
                let txid = found.txid.as_ref().map_or("-", |txid| txid.as_str());
                format!("{txid} {}", found.payment.returns.len())
            }
            Ok(None) => "none".to_owned(),
            Err(_) => kind(&result).to_owned(),
        };
        assert_eq!(found, wanted, "{}", reason(&result));
        assert_eq!(asked(&server).first().unwrap(), &format!("GET /transaction/{PIX}"));
    }
}

#[tokio::test]
async fn balance_is_that_of_the_default_account() {
    let account = |is_default: bool, available: i64| {
        let balance = json!({"total": 9, "blocked": 100, "available": available});
        json!({"accountId": "x", "isDefault": is_default, "balance": balance})
    };
    let accounts = json!({"accounts": [account(false, 30), account(true, 129_430)]});
    for (answer, wanted) in [
        (json_reply(200, &accounts), Some((129_430, 100))),
        (json_reply(200, &json!({"accounts": [account(false, -5)]})), Some((-5, 100))),
        (json_reply(200, &json!({"accounts": []})), None),
        (json_reply(200, &json!({"accounts": [{"balance": {"available": 1.5}}]})), None),
        (html(200), None),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let found = woovi(&server.url()).balance().await.ok().map(|(balance, _)| balance);
        let found = found.map(|balance| (balance.available.centavos(), balance.blocked.centavos()));
        assert_eq!(found, wanted);
    }
}
