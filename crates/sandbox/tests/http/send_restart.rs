//! Tests sends across restarts: none is lost or repeated, and the balance is unchanged.

use std::fs;

use cais_sandbox::SandboxConfig;
use serde_json::{Value, json};

use crate::{
    bed::{Bed, instant_sends, money, pending_sends, with_state_file},
    receiver::Receiver,
};

const KEY: &str = "maria@example.com";

/// Returns the ledger's sends and balances.
fn movements(bed: &Bed) -> [Value; 5] {
    let ledger = serde_json::to_value(bed.control.ledger().unwrap()).unwrap();
    ["sent", "rejected", "sent_returned", "returned", "saldo"].map(|name| ledger[name].clone())
}

#[tokio::test]
async fn sends_survive_kill_and_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(with_state_file(&path, instant_sends())).await;
    let mut body = bed.payout("10.00", KEY);
    body["pagador"]["infoPagador"] = json!("order 7");
    assert_eq!(bed.put("/v3/gn/pix/paid", &body).await.status, 201);
    assert_eq!(bed.send("paid", "10.00", KEY).await.status, 409);
    assert_eq!(bed.send("failed", "3.00", "fail@sandbox.cais").await.status, 201);
    bed.control.return_sent("paid", Some(money("4.00"))).unwrap();
    let (_, e2e) = bed.paid(1, "7.00").await;
    assert_eq!(bed.request_refund(&e2e, "r1", "2.00").await.status, 201);
    bed.control.fail_refund(&e2e, "r1").unwrap();
    let before = (bed.sent("paid").await, bed.sent("failed").await, movements(&bed));
    assert_eq!(before.2[4], "1000000001.00");
    // A kill leaves the file unchanged, so a copy of the file simulates it.
    let copy = folder.path().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    // The second start reads the compacted file of the first.
    for _ in 0..2 {
        let killed = Bed::with(with_state_file(&copy, instant_sends())).await;
        assert_eq!((killed.sent("paid").await, killed.sent("failed").await, movements(&killed)), before);
        killed.sandbox.stop().await;
    }
    let again = Bed::with(with_state_file(&copy, instant_sends())).await;
    assert_eq!(again.send("paid", "10.00", KEY).await.status, 409);
    let sent = again.control.ledger().unwrap().sent;
    assert_eq!((sent.items[0].effects, sent.items[0].requests), (1, 3));
}

#[tokio::test]
async fn accepted_send_becomes_final_after_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(with_state_file(&path, pending_sends())).await;
    let receiver = Receiver::start(&[]).await;
    bed.register_webhook(&receiver.url).await;
    assert_eq!(bed.send("good", "1.00", KEY).await.status, 201);
    assert_eq!(bed.send("bad", "2.00", "fail@sandbox.cais").await.status, 201);
    bed.sandbox.stop().await;
    // The duration of a send is decided at its acceptance.
    let mut bed = Bed::with(with_state_file(&path, instant_sends())).await;
    assert_eq!(bed.sent("good").await["status"], "EM_PROCESSAMENTO");
    assert_eq!(bed.balance().await, "999999997.00");
    bed.control.set_clock_offset(3_600).unwrap();
    let calls = receiver.wait_for(2).await;
    let mut statuses: Vec<_> = calls.iter().map(|call| call.body["pix"][0]["status"].as_str().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["NAO_REALIZADO", "REALIZADO"]);
    bed.authenticate().await;
    assert_eq!(bed.sent("good").await["status"], "REALIZADO");
    assert_eq!(bed.balance().await, "999999999.00");
}

#[tokio::test]
async fn opening_balance_is_set_once_and_may_exceed_ten_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let opening = |text| SandboxConfig { opening_balance: money(text), ..instant_sends() };
    let bed = Bed::with(with_state_file(&path, opening("9999999999.99"))).await;
    bed.paid(1, "9999999999.99").await;
    bed.sandbox.stop().await;
    for _ in 0..2 {
        let bed = Bed::with(with_state_file(&path, opening("1.00"))).await;
        assert_eq!(bed.balance().await, "19999999999.98");
        bed.sandbox.stop().await;
    }
}

#[tokio::test]
async fn state_file_without_balance_gets_one_with_movements() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(with_state_file(&path, instant_sends())).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    for id in ["r1", "r2"] {
        assert_eq!(bed.request_refund(&e2e, id, "3.00").await.status, 201);
    }
    bed.control.fail_refund(&e2e, "r2").unwrap();
    bed.sandbox.stop().await;
    // Such a file has neither balances nor the flag that returns are covered.
    let lines = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = lines
        .lines()
        .filter(|line| !line.contains("balance_set"))
        .map(|line| line.replace(r#""is_covered":true,"#, ""))
        .collect();
    assert!(!lines.iter().any(|line| line.contains("is_covered")));
    fs::write(&path, format!("{}\n", lines.join("\n"))).unwrap();
    let bed = Bed::with(with_state_file(&path, instant_sends())).await;
    assert_eq!(bed.balance().await, "1000000007.00");
}
