//! Tests that the state survives restarts, except for an incomplete last line of the file.

use std::{fs, io::Write, os::unix::fs::PermissionsExt, path::Path};

use cais_sandbox::{JournalError, Sandbox, SandboxConfig, SandboxError};
use serde_json::{Value, json};

use crate::{
    bed::{Bed, eventually, txid},
    receiver::Receiver,
};

fn config(path: &Path) -> SandboxConfig {
    SandboxConfig { state_file: Some(path.to_owned()), ..SandboxConfig::default() }
}

/// Returns a charge without the parts that depend on the port.
async fn cob(bed: &Bed, number: u32) -> Value {
    let mut cob = bed.get(&format!("/v2/cob/{}", txid(number))).await.body;
    let fields = cob.as_object_mut().unwrap();
    for field in ["location", "pixCopiaECola", "loc"] {
        assert!(fields.remove(field).is_some());
    }
    cob
}

/// Creates one of every object: revised, paid, partly returned, expired, with a webhook.
async fn fill(bed: &Bed) {
    let mut body = bed.cob("10.00");
    body["devedor"] = json!({ "cpf": "12345678909", "nome": "Maria" });
    body["infoAdicionais"] = json!([{ "nome": "a", "valor": "b" }]);
    bed.put(&format!("/v2/cob/{}", txid(1)), &body).await;
    bed.patch(&format!("/v2/cob/{}", txid(1)), &json!({ "valor": { "original": "20.00" } })).await;
    let pix = bed.control.pay(&txid(1), None).unwrap();
    for id in ["r1", "r2"] {
        assert_eq!(bed.request_refund(&pix.end_to_end_id, id, "1.00").await.status, 201);
    }
    bed.control.fail_refund(&pix.end_to_end_id, "r1").unwrap();
    eventually(async || (bed.control.ledger().unwrap().returned.count == 1).then_some(())).await;
    bed.create(2, "5.00").await;
    bed.control.expire(&txid(2)).unwrap();
    let webhook = format!("/v2/webhook/{}", bed.credentials.pix_key);
    bed.put(&webhook, &json!({ "webhookUrl": "http://127.0.0.1:1/hook" })).await;
}

#[tokio::test]
async fn state_survives_kill_and_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(config(&path)).await;
    fill(&bed).await;
    let before = (cob(&bed, 1).await, cob(&bed, 2).await);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // A kill leaves the file unchanged, so a copy of the file simulates it.
    let copy = folder.path().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    let killed = Bed::with(config(&copy)).await;
    assert_eq!((cob(&killed, 1).await, cob(&killed, 2).await), before);
    assert_eq!(killed.credentials.client_secret, bed.credentials.client_secret);
    assert_eq!(killed.credentials.pix_key, bed.credentials.pix_key);
    // The start compacted the copy. The snapshot gives the same state again.
    let ledger = serde_json::to_value(killed.control.ledger().unwrap().received).unwrap();
    killed.sandbox.stop().await;
    assert!(fs::metadata(&copy).unwrap().len() < fs::metadata(&path).unwrap().len());
    let again = Bed::with(config(&copy)).await;
    assert_eq!((cob(&again, 1).await, cob(&again, 2).await), before);
    assert_eq!(serde_json::to_value(again.control.ledger().unwrap().received).unwrap(), ledger);
    assert_eq!(again.get("/v2/webhook").await.body["webhooks"].as_array().unwrap().len(), 1);
    assert_eq!(again.put(&format!("/v2/cob/{}", txid(1)), &again.cob("1.00")).await.status, 409);
}

#[tokio::test]
async fn only_a_torn_last_line_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(config(&path)).await;
    bed.create(1, "1.00").await;
    bed.create(2, "2.00").await;
    let whole = fs::read(&path).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let copy = folder.path().join("copy.jsonl");
    for cut in [last_line + 1, usize::midpoint(last_line, whole.len()), whole.len() - 1] {
        fs::write(&copy, &whole[..cut]).unwrap();
        let torn = Bed::with(config(&copy)).await;
        assert_eq!(torn.control.ledger().unwrap().cobs, 1, "cut at {cut}");
        torn.create(3, "3.00").await;
        torn.sandbox.stop().await;
        let after = Bed::with(config(&copy)).await;
        assert_eq!(after.control.ledger().unwrap().cobs, 2);
        after.sandbox.stop().await;
    }
}

#[tokio::test]
async fn damaged_line_is_reported_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    Bed::without_webhook(config(&path)).await.sandbox.stop().await;
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"cob\n").unwrap();
    let error = Sandbox::start(config(&path)).await.unwrap_err();
    assert!(matches!(error, SandboxError::State(JournalError::Unreadable { line: 7, .. })), "{error}");
}

#[tokio::test]
async fn state_file_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(config(&path)).await;
    let error = Sandbox::start(config(&path)).await.unwrap_err();
    assert!(matches!(error, SandboxError::State(JournalError::InUse(_))), "{error}");
    let control = bed.control.clone();
    bed.sandbox.stop().await;
    // A handle that outlives its sandbox does not hold the file.
    Bed::with(config(&path)).await;
    drop(control);
}

#[tokio::test]
async fn waiting_callbacks_are_sent_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(config(&path)).await;
    // The first attempt fails. The second is due a second later, after the end of the process.
    let receiver = Receiver::start(&[500]).await;
    let webhook = format!("/v2/webhook/{}", bed.credentials.pix_key);
    bed.put(&webhook, &json!({ "webhookUrl": receiver.url })).await;
    let (_, e2e) = bed.paid(1, "1.00").await;
    receiver.wait_for(1).await;
    bed.sandbox.stop().await;
    let bed = Bed::with(config(&path)).await;
    let received = receiver.wait_for(2).await;
    assert_eq!(received[1].body["pix"][0]["endToEndId"], e2e.as_str());
    eventually(async || (bed.control.ledger().unwrap().callbacks.delivered == 1).then_some(())).await;
}
