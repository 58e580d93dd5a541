//! Tests the expiry of charges and its event.

use serde_json::json;

use super::bed::WooviBed;
use crate::{bed::eventually, receiver::Receiver};

#[tokio::test]
async fn unpaid_charge_expires_once() {
    let bed = WooviBed::start().await;
    let receiver = Receiver::start(&[]).await;
    bed.subscribe(&receiver, "OPENPIX:CHARGE_EXPIRED").await;
    bed.charge("a", 100).await;
    bed.paid("b", 100).await;
    bed.charge("c", 100).await;
    assert_eq!(bed.delete("/charge/c").await.status, 200);
    bed.control.set_clock_offset(86_401).unwrap();
    assert_eq!(bed.get("/charge/a").await.body["charge"]["status"], "EXPIRED");
    let received = receiver.wait_for(2).await;
    assert_eq!(received[1].body["event"], "OPENPIX:CHARGE_EXPIRED");
    let charge = &received[1].body["charge"];
    assert_eq!((&charge["correlationID"], &charge["status"]), (&json!("a"), &json!("EXPIRED")));
    // A longer time to pay opens the charge again. The end of that time publishes another event.
    let until = bed.control.ledger().unwrap().now + jiff::SignedDuration::from_secs(1_000);
    let patched = bed.patch("/charge/a", &json!({ "expiresDate": until.to_string() })).await;
    assert_eq!((patched.status, &patched.body["charge"]["status"]), (200, &json!("ACTIVE")), "{patched:?}");
    bed.control.set_clock_offset(86_401 + 1_001).unwrap();
    let received = receiver.wait_for(3).await;
    assert_eq!(received[2].body["charge"]["correlationID"], "a");
    eventually(async || (bed.control.ledger().unwrap().woovi.webhooks.delivered == 3).then_some(())).await;
    assert_eq!(receiver.received().len(), 3);
    let short = bed.control.ledger().unwrap().now + jiff::SignedDuration::from_secs(10);
    assert!(bed.patch("/charge/a", &json!({ "expiresDate": short.to_string() })).await.error().contains("300"));
}
