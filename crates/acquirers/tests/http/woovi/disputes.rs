//! Tests disputes and evidence.

use cais_domain::infraction::Situation;
use cais_ports::{Acquirer as _, DefenseOrder, DefenseReceipt, UpstreamInfractionStatus};
use serde_json::{Value, json};

use super::answers::{asked, last_page, refused, transaction, woovi};
use crate::answers::{BUDGET, PIX, changed, day, html, json_reply, kind, reason};
use crate::server::{Act, Server};

const ID: &str = "67e3170b38e62d5935ed4faf";

fn dispute(status: &str) -> Value {
    json!({
        "status": status, "endToEndId": PIX, "id": ID, "name": "Seu Jorge", "value": 1000, "disputeReason": "Golpe",
        "type": "CHARGEBACK", "createdAt": "2026-11-20T16:00:00Z"
    })
}

fn page(rows: &[Value]) -> Act {
    json_reply(200, &changed(last_page("disputes", rows), "/pageInfo/limit", Some(json!(40))))
}

#[tokio::test]
async fn status_of_a_dispute_is_mapped() {
    use UpstreamInfractionStatus::{Accepted, Cancelled, Rejected, Undecided};
    for (status, wanted) in [
        ("CREATED", Undecided),
        ("OPENED", Undecided),
        ("PENDING", Undecided),
        ("PENDING_DOCUMENTATION", Undecided),
        ("ACKNOWLEDGED", Undecided),
        ("IN_REVIEW", Undecided),
        ("CLOSED", Undecided),
        ("SOMETHING_NEW", Undecided),
        ("ACCEPTED", Accepted),
        ("REJECTED", Rejected),
        ("CANCELED", Cancelled),
    ] {
        let server = Server::start(move |_, _| page(&[dispute(status)])).await;
        let listed = woovi(&server.url()).list_infractions(day(0), BUDGET).await.unwrap();
        let [found] = listed.rows.as_slice() else { unreachable!("{listed:?}") };
        assert_eq!((found.id.as_str(), found.end_to_end_id.as_str(), found.status), (ID, PIX, wanted), "{status}");
        assert_eq!((found.amount.centavos(), found.situation), (1000, Situation::Scam));
        assert_eq!((found.reason.as_deref(), found.deadline_at), (Some("Golpe"), None));
        assert_eq!(found.opened_at.to_string(), "2026-11-20T16:00:00Z");
        assert!(!found.opened_at_is_reported && found.defense.is_none());
        assert_eq!(server.methods(), "GET");
    }
}

#[tokio::test]
async fn dispute_without_amount_has_that_of_its_pix() {
    let med = json!({"type": "MED", "status": "CREATED", "endToEndId": PIX, "id": ID});
    let nameless = changed(med.clone(), "/id", None);
    for (row, pix, wanted) in [
        (med.clone(), json_reply(200, &json!({"transaction": transaction()})), Ok((ID, 1050))),
        (nameless, json_reply(200, &json!({"transaction": transaction()})), Ok((PIX, 1050))),
        (med.clone(), refused(400, "Transaction not found"), Err("names no Pix of the account")),
    ] {
        let server =
            Server::start(
                move |seen, _| {
                    if seen.path.contains("/dispute?") { page(std::slice::from_ref(&row)) } else { pix.clone() }
                },
            )
            .await;
        let listed = woovi(&server.url()).list_infractions(day(0), BUDGET).await.unwrap();
        match wanted {
            Ok((id, centavos)) => {
                let [found] = listed.rows.as_slice() else { unreachable!("{listed:?}") };
                assert_eq!((found.id.as_str(), found.amount.centavos()), (id, centavos));
                assert_eq!(found.opened_at.to_string(), "2026-11-20T15:00:00Z", "the instant of the Pix");
            }
            Err(message) => {
                let [row] = listed.unreadable.as_slice() else { unreachable!("{listed:?}") };
                assert!(row.name == ID && row.reason.contains(message), "{row:?}");
            }
        }
    }
    // A failed read of the Pix proves nothing about the list.
    let server =
        Server::start(
            move |seen, _| if seen.path.contains("/dispute?") { page(std::slice::from_ref(&med)) } else { html(500) },
        )
        .await;
    assert_eq!(kind(&woovi(&server.url()).list_infractions(day(0), BUDGET).await), "unknown");
}

#[tokio::test]
async fn unreadable_dispute_is_reported_with_the_others() {
    let broken = |pointer: &str, value| changed(dispute("CREATED"), pointer, value);
    for (row, message) in [
        (broken("/endToEndId", Some(json!("E1"))), "endToEndId is not an end-to-end id"),
        (broken("/endToEndId", None), "endToEndId is not an end-to-end id"),
        (broken("/id", Some(json!("a/b"))), "id is not a dispute id"),
        (broken("/value", Some(json!(10.5))), "value is not an amount"),
        (broken("/status", None), "status is missing"),
    ] {
        let server = Server::start(move |_, _| page(&[row.clone(), dispute("CREATED")])).await;
        let listed = woovi(&server.url()).list_infractions(day(0), BUDGET).await.unwrap();
        assert_eq!((listed.rows.len(), listed.unreadable.len()), (1, 1), "{message}");
        assert!(listed.unreadable.iter().all(|row| row.reason.contains(message)), "{message}: {listed:?}");
    }
}

fn defense(evidence_url: Option<&str>) -> DefenseOrder {
    DefenseOrder {
        infraction: ID.to_owned(),
        text: "The goods were delivered.".to_owned(),
        evidence_url: evidence_url.map(ToOwned::to_owned),
    }
}

#[tokio::test]
async fn evidence_is_sent_as_a_document() {
    let server =
        Server::start(|_, _| json_reply(200, &json!({"documents": [{"url": "https://woovi.example/copy"}]}))).await;
    let receipt = woovi(&server.url()).send_defense(&defense(Some("https://shop.example/a.pdf")), BUDGET).await;
    assert_eq!(receipt, Ok(DefenseReceipt::Taken));
    assert_eq!(asked(&server), [format!("POST /dispute/{ID}/evidence")]);
    let body: Value = serde_json::from_str(&server.seen().remove(0).body).unwrap();
    let document = json!({
        "url": "https://shop.example/a.pdf", "description": "The goods were delivered.",
        "correlationID": format!("defense-{ID}")
    });
    assert_eq!(body, json!({"documents": [document]}));
}

#[tokio::test]
async fn defense_without_address_is_refused_unsent() {
    let server = Server::start(|_, _| json_reply(200, &json!({"documents": [{}]}))).await;
    let result = woovi(&server.url()).send_defense(&defense(None), BUDGET).await;
    assert!(kind(&result) == "refused" && reason(&result).contains("defense_evidence_url"), "{result:?}");
    let bad_id = DefenseOrder { infraction: "../x".to_owned(), ..defense(Some("https://shop.example/a")) };
    assert_eq!(kind(&woovi(&server.url()).send_defense(&bad_id, BUDGET).await), "refused");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn answer_to_evidence_is_classified() {
    for (answer, wanted) in [
        (refused(400, "You cannot send a evidence for a accepted dispute"), "refused"),
        (refused(400, "Já existe uma evidência com este correlationID"), "AlreadyThere"),
        (refused(403, "no"), "unavailable"),
        (refused(404, "Not Found"), "unknown"),
        (json_reply(200, &json!({"documents": []})), "unknown"),
        (json_reply(200, &json!({})), "unknown"),
        (html(200), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = woovi(&server.url()).send_defense(&defense(Some("https://shop.example/a")), BUDGET).await;
        let found = match &result {
            Ok(receipt) => format!("{receipt:?}"),
            Err(_) => kind(&result).to_owned(),
        };
        assert_eq!(found, wanted, "{}", reason(&result));
    }
}
