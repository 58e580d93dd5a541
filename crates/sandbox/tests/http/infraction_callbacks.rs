//! Tests callbacks, faults and scopes of infractions.

use std::time::{Duration, Instant};

use cais_domain::end_to_end_id::EndToEndId;
use cais_sandbox::{Fault, FaultMode, InfractionOutcome, NewDispute, Operation, SandboxConfig};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    bed::{Bed, eventually, instant_sends, with_state_file},
    receiver::Receiver,
};

const LIST: &str = "/v2/gn/infracoes?inicio=2020-01-01T00:00:00Z&fim=2100-01-01T00:00:00Z";

fn defense() -> Value {
    json!({ "analise": "rejeitado", "justificativa": "It was delivered." })
}

fn open(bed: &Bed, e2e: &EndToEndId) -> String {
    bed.control.open_infraction(e2e, NewDispute::default()).unwrap().id
}

fn defenses(bed: &Bed) -> (u64, u64) {
    let item = bed.control.ledger().unwrap().infractions.remove(0);
    (item.defenses, item.defense_requests)
}

/// Returns the status in each callback about an infraction, in order of arrival.
fn statuses(receiver: &Receiver, id: &str) -> Vec<String> {
    let all = receiver.received();
    let mine = all.iter().filter(|call| call.body["infracoes"][0]["idInfracao"] == id);
    mine.map(|call| call.body["infracoes"][0]["status"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_change_of_an_infraction_has_a_callback() {
    let bed = Bed::start().await;
    let receiver = Receiver::start(&[]).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    bed.register_webhook(&receiver.url).await;
    let id = open(&bed, &e2e);
    // A callback shows the state when it is sent, so the test waits for each one.
    let until = async |count: usize| eventually(async || (statuses(&receiver, &id).len() == count).then_some(())).await;
    until(1).await;
    let body = &receiver.received()[0].body;
    let whole = json!({ "infracoes": [{ "idInfracao": id, "endToEndId": e2e.as_str(), "status": "ABERTA" }] });
    assert_eq!((body, receiver.received()[0].path.as_str()), (&whole, "/pix"));
    assert_eq!(bed.post(&format!("/v2/gn/infracoes/{id}/defesa"), &defense()).await.status, 201);
    until(2).await;
    for (outcome, count) in
        [(InfractionOutcome::Won, 3), (InfractionOutcome::Reopened, 4), (InfractionOutcome::Lost, 5)]
    {
        bed.control.resolve_infraction(&id, outcome).unwrap();
        until(count).await;
    }
    assert_eq!(statuses(&receiver, &id), ["ABERTA", "EM_DEFESA", "REJEITADA", "ABERTA", "ACEITA"]);
    // The return is shown with its Pix once final.
    let returned = eventually(async || {
        let all = receiver.received();
        all.into_iter().find_map(|call| call.body["pix"][0]["devolucoes"].as_array().cloned())
    });
    let returned = returned.await;
    assert_eq!((&returned[0]["natureza"], &returned[0]["status"]), (&json!("MED_FRAUDE"), &json!("DEVOLVIDO")));
}

#[tokio::test]
async fn waiting_callbacks_are_sent_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let config = SandboxConfig { callback_retry_base: Duration::from_mins(1), ..instant_sends() };
    let bed = Bed::with(with_state_file(&path, config)).await;
    let receiver = Receiver::start(&[500]).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    bed.register_webhook(&receiver.url).await;
    let id = open(&bed, &e2e);
    receiver.wait_for(1).await;
    bed.sandbox.stop().await;
    let bed = Bed::with(with_state_file(&path, instant_sends())).await;
    receiver.wait_for(2).await;
    assert_eq!(statuses(&receiver, &id), ["ABERTA", "ABERTA"]);
    eventually(async || (bed.control.ledger().unwrap().callbacks.delivered == 1).then_some(())).await;
}

#[tokio::test]
async fn faults_affect_paths_of_infractions() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let path = format!("/v2/gn/infracoes/{}/defesa", open(&bed, &e2e));
    bed.control.set_faults(FaultMode::Error.into()).unwrap();
    for answer in [bed.get(LIST).await, bed.post(&path, &defense()).await] {
        assert_eq!((answer.status, answer.kind()), (500, "InfracaoErroInterno"));
    }
    bed.control.set_faults(FaultMode::Down.into()).unwrap();
    for answer in [bed.get(LIST).await, bed.post(&path, &defense()).await] {
        assert_eq!(answer.status, 429);
    }
    assert_eq!(defenses(&bed), (0, 0), "no work was done");
    bed.control.set_faults(FaultMode::DropReply.into()).unwrap();
    assert!(!bed.try_send(Method::POST, &path, Some(&defense())).await.unwrap_err().is_timeout());
    assert_eq!(bed.get(LIST).await.body["infracoes"][0]["status"], "EM_DEFESA", "reads are answered");
    assert_eq!(defenses(&bed), (1, 1));
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.post(&path, &defense()).await.status, 409);
    assert_eq!(defenses(&bed), (1, 2));
}

#[tokio::test]
async fn late_reply_to_defense_follows_its_callback() {
    let bed = Bed::start().await;
    let receiver = Receiver::start(&[]).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let id = open(&bed, &e2e);
    bed.register_webhook(&receiver.url).await;
    let latency = Duration::from_mins(1);
    bed.control.set_faults(Fault { mode: FaultMode::LateReply, latency }).unwrap();
    let path = format!("/v2/gn/infracoes/{id}/defesa");
    let request = bed.client.post(bed.url(&path)).bearer_auth(&bed.token).json(&defense()).timeout(latency);
    let reply = tokio::spawn(request.send());
    receiver.wait_for(1).await;
    assert_eq!(statuses(&receiver, &id), ["EM_DEFESA"]);
    assert!(!reply.is_finished(), "the answer waits");
    reply.abort();
    let latency = Duration::from_millis(100);
    bed.control.set_faults(Fault { mode: FaultMode::Slow, latency }).unwrap();
    let before = Instant::now();
    assert_eq!(bed.post(&path, &defense()).await.status, 409);
    assert!(before.elapsed() >= latency);
}

#[tokio::test]
async fn infraction_requests_need_a_scope_and_are_counted() {
    let mut bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let path = format!("/v2/gn/infracoes/{}/defesa", open(&bed, &e2e));
    bed.token = bed.token_for(Some("gn.infractions.read")).await;
    let refused = bed.post(&path, &defense()).await;
    assert_eq!((refused.status, &refused.body["error"]), (403, &json!("insufficient_scope")));
    assert_eq!(bed.get(LIST).await.status, 200);
    bed.token = bed.token_for(Some("gn.infractions.write")).await;
    assert_eq!(bed.get(LIST).await.status, 403);
    assert_eq!(bed.post(&path, &defense()).await.status, 201);
    bed.token = "unknown".to_owned();
    assert_eq!(bed.get(LIST).await.status, 401);
    let requests = bed.control.ledger().unwrap().requests;
    assert_eq!((requests[&Operation::InfractionList], requests[&Operation::DefenseCreate]), (1, 1));
    assert_eq!(bed.post(LIST, &json!({})).await.status, 405);
    assert_eq!(bed.get(&path).await.status, 405);
}
