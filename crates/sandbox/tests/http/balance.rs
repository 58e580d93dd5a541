//! Tests the account's balance: its movements, and that the balance is never negative.

use std::collections::BTreeMap;

use cais_domain::money::Money;
use cais_sandbox::{ControlError, Ledger, SandboxConfig};
use serde_json::json;

use crate::bed::{Bed, eventually, instant_sends, money, pending_sends};

const KEY: &str = "maria@example.com";

/// Returns the expected balance, from all movements in the ledger.
fn expected(opening: Money, ledger: &Ledger) -> Money {
    let came = [opening, ledger.received.total, ledger.sent_returned.total];
    let left = Money::sum([ledger.sent.total, ledger.returned.total]).unwrap();
    Money::sum(came).unwrap().checked_sub(left).unwrap()
}

#[tokio::test]
async fn every_movement_changes_the_balance() {
    let opening = money("100.00");
    let bed = Bed::with(SandboxConfig { opening_balance: opening, ..instant_sends() }).await;
    assert_eq!(bed.balance().await, "100.00");
    let (_, e2e) = bed.paid(1, "50.00").await;
    assert_eq!(bed.balance().await, "150.00");
    assert_eq!(bed.send("a", "30.00", KEY).await.status, 201);
    assert_eq!(bed.balance().await, "120.00");
    assert_eq!(bed.request_refund(&e2e, "r1", "20.00").await.status, 201);
    assert_eq!(bed.balance().await, "100.00", "the balance pays a return at its request");
    assert_eq!(bed.request_refund(&e2e, "r2", "10.00").await.status, 201);
    bed.control.fail_refund(&e2e, "r2").unwrap();
    assert_eq!(bed.balance().await, "100.00", "the money of the failed return is back");
    bed.send("b", "100.00", "slow@sandbox.cais").await;
    assert_eq!(bed.balance().await, "0.00", "a send is paid for when it is accepted");
    bed.control.return_sent("a", Some(money("5.00"))).unwrap();
    bed.control.set_clock_offset(2).unwrap();
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.balance, expected(opening, &ledger)), (money("5.00"), money("5.00")));
}

#[tokio::test]
async fn send_beyond_balance_is_refused_and_its_id_stays_free() {
    let bed = Bed::with(instant_sends()).await;
    let set = bed.put("/sandbox/saldo", &json!({ "saldo": "12.34" })).await;
    assert_eq!((set.status, set.body), (200, json!({ "saldo": "12.34" })));
    let refused = bed.send("a", "12.35", KEY).await;
    let found = json!({ "nome": "pagamento_negado", "mensagem": "the balance of the account is not sufficient" });
    assert_eq!((refused.status, refused.body), (422, found));
    assert_eq!(bed.get("/v2/gn/pix/enviados/id-envio/a").await.status, 404);
    assert_eq!(bed.send("a", "12.34", KEY).await.status, 201);
    assert_eq!(bed.balance().await, "0.00");
    assert_eq!(bed.send("b", "0.01", KEY).await.status, 422);
    bed.control.set_balance(money("0.01")).unwrap();
    assert_eq!(bed.send("b", "0.01", KEY).await.status, 201);
}

#[tokio::test]
async fn failed_send_returns_its_money() {
    let bed = Bed::with(pending_sends()).await;
    bed.control.set_balance(money("1.00")).unwrap();
    assert_eq!(bed.send("a", "1.00", "fail@sandbox.cais").await.status, 201);
    assert_eq!(bed.send("b", "1.00", KEY).await.status, 422);
    bed.control.set_clock_offset(3_600).unwrap();
    let mut bed = bed;
    bed.authenticate().await;
    assert_eq!(bed.send("b", "1.00", KEY).await.status, 201);
}

#[tokio::test]
async fn return_beyond_balance_fails_when_due() {
    let bed = Bed::with(instant_sends()).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    bed.control.set_balance(money("3.00")).unwrap();
    let requested = bed.request_refund(&e2e, "r1", "4.00").await;
    assert_eq!((requested.status, &requested.body["status"]), (201, &json!("EM_PROCESSAMENTO")));
    assert_eq!(bed.request_refund(&e2e, "r2", "3.00").await.status, 201);
    assert_eq!(bed.balance().await, "0.00");
    bed.control.set_clock_offset(2).unwrap();
    let failed = bed.get(&format!("/v2/pix/{e2e}/devolucao/r1")).await.body;
    assert_eq!((&failed["status"], failed["motivo"].is_string()), (&json!("NAO_REALIZADO"), true));
    assert_eq!(bed.get(&format!("/v2/pix/{e2e}/devolucao/r2")).await.body["status"], "DEVOLVIDO");
    assert_eq!(bed.balance().await, "0.00", "the return debited no money, so its failure returns none");
}

/// Counts the statuses of sends that begin at the same time.
async fn send_concurrently(bed: &Bed, ids: impl Iterator<Item = String>) -> BTreeMap<u16, usize> {
    let mut requests = tokio::task::JoinSet::new();
    for id in ids {
        let request = bed.client.put(bed.url(&format!("/v3/gn/pix/{id}"))).bearer_auth(&bed.token);
        let request = request.json(&bed.payout("1.00", KEY));
        requests.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let mut statuses = BTreeMap::new();
    for status in requests.join_all().await {
        *statuses.entry(status).or_default() += 1;
    }
    statuses
}

#[tokio::test]
async fn concurrent_sends_never_overdraw() {
    let bed = Bed::with(SandboxConfig { workers: 4, ..SandboxConfig::default() }).await;
    bed.control.set_balance(money("5.99")).unwrap();
    let statuses = send_concurrently(&bed, (0..64).map(|number| format!("send{number}"))).await;
    assert_eq!(statuses, BTreeMap::from([(201, 5), (422, 59)]));
    assert_eq!(bed.balance().await, "0.99");
    let settled = async || {
        let sent = bed.control.ledger().unwrap().sent;
        let done = sent.items.iter().all(|item| item.status == cais_sandbox::SendStatus::Settled);
        done.then_some((sent.count, sent.total))
    };
    assert_eq!(eventually(settled).await, (5, money("5.00")));
}

#[tokio::test]
async fn concurrent_sends_with_one_id_send_once() {
    let bed = Bed::with(SandboxConfig { workers: 4, ..SandboxConfig::default() }).await;
    let statuses = send_concurrently(&bed, (0..64).map(|_| "same".to_owned())).await;
    assert_eq!(statuses, BTreeMap::from([(201, 1), (409, 63)]));
    let sent = bed.control.ledger().unwrap().sent;
    assert_eq!((sent.count, sent.items[0].effects, sent.items[0].requests), (1, 1, 64));
    assert_eq!(bed.balance().await, "999999999.00");
}

#[tokio::test]
async fn balance_is_shown_with_blocks_on_request() {
    let bed = Bed::start().await;
    assert_eq!(bed.get("/v2/gn/saldo").await.body, json!({ "saldo": "1000000000.00" }));
    let blocks = json!({ "judicial": "0.00", "med": "0.00", "total": "0.00" });
    let shown = bed.get("/v2/gn/saldo?bloqueios=true").await.body;
    assert_eq!(shown, json!({ "saldo": "1000000000.00", "bloqueios": blocks }));
    for query in ["bloqueios=sim", "x=1"] {
        let refused = bed.get(&format!("/v2/gn/saldo?{query}")).await;
        assert_eq!((refused.status, &refused.body["nome"]), (400, &json!("json_invalido")), "{query}");
        assert_eq!(refused.body["erros"][0]["caminho"], ".query");
    }
    for body in [json!({}), json!({ "saldo": "-1.00" }), json!({ "saldo": "1.001" }), json!({ "saldo": 1, "x": 1 })] {
        assert_eq!(bed.put("/sandbox/saldo", &body).await.status, 400, "{body}");
    }
    let negative = bed.control.set_balance(money("-0.01"));
    assert!(matches!(negative, Err(ControlError::OutOfRange { field: "saldo" })));
    assert_eq!(bed.put("/sandbox/saldo", &json!({ "saldo": 7.5 })).await.body, json!({ "saldo": "7.50" }));
}
