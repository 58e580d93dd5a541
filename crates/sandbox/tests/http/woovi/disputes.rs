//! Tests disputes: listed, defended with documents, decided.

use cais_sandbox::{InfractionOutcome, NewDispute};
use serde_json::json;

use super::bed::WooviBed;
use crate::receiver::Receiver;

fn documents(id: &str) -> serde_json::Value {
    json!({ "documents": [{ "url": "https://files.example/a.pdf", "description": "receipt", "correlationID": id }] })
}

#[tokio::test]
async fn dispute_is_shown_as_each_page_documents() {
    let bed = WooviBed::start().await;
    let e2e = bed.paid("a", 1000).await;
    let opened = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    let one = bed.get(&format!("/dispute/{e2e}")).await;
    let expected = json!({ "type": "MED", "status": "CREATED", "endToEndId": e2e.as_str(), "id": opened.id });
    assert_eq!((one.status, &one.body["dispute"]), (200, &expected));
    let row = bed.get("/dispute").await.body["disputes"][0].clone();
    assert_eq!((&row["status"], &row["value"], &row["type"]), (&json!("IN_REVIEW"), &json!(1000), &json!("MED")));
    assert_eq!(row["id"], opened.id);
    assert_eq!((&row["disputeReason"], row["createdAt"].is_string()), (&json!("golpe"), true));
    assert_eq!(bed.get("/dispute/E0").await.error(), "Dispute not found");
    let again = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    assert_eq!(bed.get(&format!("/dispute/{e2e}")).await.body["dispute"]["id"], again.id, "the newest");
}

#[tokio::test]
async fn evidence_is_accepted_until_the_decision() {
    let bed = WooviBed::start().await;
    let e2e = bed.paid("a", 1000).await;
    let opened = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    let path = format!("/dispute/{}/evidence", opened.id);
    let answer = bed.post(&path, &documents("d1")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let shown = &answer.body["documents"][0];
    assert_eq!((&shown["description"], &shown["correlationID"]), (&json!("receipt"), &json!("d1")));
    assert_ne!(shown["url"], "https://files.example/a.pdf", "the institution keeps a copy");
    // A repeat adds nothing; another document is added.
    assert_eq!(bed.post(&path, &documents("d1")).await.status, 200);
    assert_eq!(bed.post(&path, &documents("d2")).await.status, 200);
    let item = bed.control.ledger().unwrap().infractions[0].clone();
    assert_eq!(item.defense.unwrap().lines().count(), 2);
    assert_eq!((item.defenses, item.defense_requests), (2, 2));
    for body in [json!({}), json!({ "documents": [] }), json!({ "documents": [{ "url": "a.pdf" }] })] {
        assert_eq!(bed.post(&path, &body).await.status, 400, "{body}");
    }
    assert_eq!(bed.post("/dispute/none/evidence", &documents("d")).await.error(), "Dispute not found");
    bed.control.resolve_infraction(&opened.id, InfractionOutcome::Lost).unwrap();
    let refused = bed.post(&path, &documents("d3")).await;
    assert_eq!(refused.error(), "You cannot send a evidence for a accepted dispute");
    let late = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    bed.control.set_clock_offset(8 * 86_400).unwrap();
    let refused = bed.post(&format!("/dispute/{}/evidence", late.id), &documents("d4")).await;
    assert!(refused.error().contains("deadline"));
}

#[tokio::test]
async fn decisions_are_published() {
    let bed = WooviBed::start().await;
    let receiver = Receiver::start(&[]).await;
    for event in ["CREATED", "ACCEPTED", "REJECTED", "CANCELED"] {
        bed.subscribe(&receiver, &format!("OPENPIX:DISPUTE_{event}")).await;
    }
    let e2e = bed.paid("a", 1000).await;
    let before = bed.balance().await;
    let cases = [
        (InfractionOutcome::Won, "REJECTED", 0),
        (InfractionOutcome::Cancelled, "CANCELED", 0),
        (InfractionOutcome::Lost, "ACCEPTED", 1000),
    ];
    let mut count = 4;
    for (outcome, status, taken) in cases {
        let opened = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
        count += 1;
        let created = receiver.wait_for(count).await[count - 1].body.clone();
        assert_eq!(created["event"], "OPENPIX:DISPUTE_CREATED");
        let dispute = &created["dispute"];
        assert_eq!((&dispute["status"], &dispute["id"]), (&json!("OPENED"), &json!(opened.id)));
        assert_eq!((&dispute["value"], &dispute["endToEndId"]), (&json!(1000), &json!(e2e.as_str())));
        bed.control.resolve_infraction(&opened.id, outcome).unwrap();
        count += 1;
        let decided = receiver.wait_for(count).await[count - 1].body.clone();
        assert_eq!(decided["event"], format!("OPENPIX:DISPUTE_{status}"));
        assert_eq!(decided["dispute"]["status"], status);
        assert_eq!(bed.balance().await, before - taken);
    }
    // The institution's own return is no refund of the charge.
    assert_eq!(bed.get("/charge/a/refund").await.body["refunds"], json!([]));
}
