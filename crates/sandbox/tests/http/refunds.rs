//! Tests returns: requested, settled by the clock, failed by the tester, refused.

use serde_json::{Value, json};

use crate::bed::{Bed, eventually};

#[tokio::test]
async fn return_is_settled_after_a_second() {
    let bed = Bed::start().await;
    let (txid, e2e) = bed.paid(1, "10.00").await;
    let path = format!("/v2/pix/{e2e}/devolucao/r1");
    let body = json!({ "valor": "4.00", "natureza": "ORIGINAL", "descricao": "sorry" });
    let requested = bed.put(&path, &body).await;
    assert_eq!((requested.status, &requested.body["status"]), (201, &json!("EM_PROCESSAMENTO")), "{requested:?}");
    assert_eq!((&requested.body["valor"], &requested.body["descricao"]), (&body["valor"], &body["descricao"]));
    let return_id = requested.body["rtrId"].as_str().unwrap();
    assert!(return_id.len() == 32 && return_id.starts_with('D'));
    assert_eq!(requested.body["horario"]["liquidacao"], Value::Null);
    assert_eq!(bed.control.ledger().unwrap().returned.count, 0);
    bed.control.set_clock_offset(2).unwrap();
    let settled = bed.get(&path).await;
    assert_eq!((settled.status, &settled.body["status"]), (200, &json!("DEVOLVIDO")));
    assert!(settled.body["horario"]["liquidacao"].is_string());
    let cob = bed.get(&format!("/v2/cob/{txid}")).await.body;
    assert_eq!(cob["pix"][0]["devolucoes"], json!([settled.body]));
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.returned.count, ledger.returned.total.to_string()), (1, "4.00".to_owned()));
}

#[tokio::test]
async fn return_is_settled_without_readers() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    assert_eq!(bed.request_refund(&e2e, "r1", "1.00").await.status, 201);
    eventually(async || (bed.control.ledger().unwrap().returned.count == 1).then_some(())).await;
}

#[tokio::test]
async fn returns_never_exceed_the_pix() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    assert_eq!(bed.request_refund(&e2e, "r1", "6.00").await.status, 201);
    let refused = bed.request_refund(&e2e, "r2", "4.01").await;
    assert_eq!(
        (refused.status, refused.kind(), refused.violated()),
        (400, "PixDevolucaoInvalida", vec!["devolucao.valor"])
    );
    assert_eq!(bed.request_refund(&e2e, "r2", "4.00").await.status, 201);
    assert_eq!(bed.request_refund(&e2e, "r3", "0.01").await.status, 400);
    // A failed return frees its amount.
    bed.control.fail_refund(&e2e, "r1").unwrap();
    assert_eq!(bed.request_refund(&e2e, "r3", "6.00").await.status, 201);
}

#[tokio::test]
async fn return_id_is_unique_per_pix() {
    let bed = Bed::start().await;
    let (_, first) = bed.paid(1, "10.00").await;
    let (_, second) = bed.paid(2, "10.00").await;
    assert_eq!(bed.request_refund(&first, "r1", "1.00").await.status, 201);
    let again = bed.request_refund(&first, "r1", "1.00").await;
    assert_eq!((again.status, again.violated()), (400, vec!["devolucao.id"]));
    assert_eq!(bed.request_refund(&second, "r1", "1.00").await.status, 201);
}

#[tokio::test]
async fn pix_is_returnable_for_ninety_days() {
    let mut bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let days_90 = 90 * 86_400;
    bed.control.set_clock_offset(days_90 - 60).unwrap();
    bed.authenticate().await;
    assert_eq!(bed.request_refund(&e2e, "r1", "1.00").await.status, 201);
    bed.control.set_clock_offset(days_90 + 60).unwrap();
    let late = bed.request_refund(&e2e, "r2", "1.00").await;
    assert_eq!((late.status, late.kind(), late.violated()), (400, "PixDevolucaoInvalida", vec!["e2eid"]));
}

#[tokio::test]
async fn return_can_be_failed_until_final() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    assert_eq!(bed.request_refund(&e2e, "r1", "1.00").await.status, 201);
    let fail = format!("/sandbox/pix/{e2e}/devolucao/r1/fail");
    assert_eq!(bed.post(&fail, &json!({})).await.status, 204);
    let failed = bed.get(&format!("/v2/pix/{e2e}/devolucao/r1")).await.body;
    assert_eq!(failed["status"], "NAO_REALIZADO");
    assert!(failed["motivo"].is_string());
    assert_eq!(bed.post(&fail, &json!({})).await.status, 409);
    assert_eq!(bed.request_refund(&e2e, "r2", "1.00").await.status, 201);
    bed.control.set_clock_offset(2).unwrap();
    assert_eq!(bed.post(&format!("/sandbox/pix/{e2e}/devolucao/r2/fail"), &json!({})).await.status, 409);
    assert_eq!(bed.post(&format!("/sandbox/pix/{e2e}/devolucao/r9/fail"), &json!({})).await.status, 404);
}

#[tokio::test]
async fn bad_return_is_refused() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let cases = [
        ("r1", json!({}), "devolucao.valor"),
        ("r1", json!({ "valor": 1.00 }), "devolucao.valor"),
        ("r1", json!({ "valor": "0.00" }), "devolucao.valor"),
        ("r1", json!({ "valor": "1.00", "natureza": "MED_FRAUDE" }), "devolucao.natureza"),
        ("r1", json!({ "valor": "1.00", "natureza": "RETIRADA" }), "devolucao.valor"),
        ("r1", json!({ "valor": "1.00", "descricao": "x".repeat(141) }), "devolucao.descricao"),
        ("r1", json!({ "valor": "1.00", "x": 1 }), "devolucao.x"),
        ("r-1", json!({ "valor": "1.00" }), "devolucao.id"),
        (&"r".repeat(36), json!({ "valor": "1.00" }), "devolucao.id"),
    ];
    for (id, body, property) in cases {
        let answer = bed.put(&format!("/v2/pix/{e2e}/devolucao/{id}"), &body).await;
        assert_eq!(
            (answer.status, answer.kind(), answer.violated()),
            (400, "PixDevolucaoInvalida", vec![property]),
            "{body}"
        );
    }
    let unknown = "E".repeat(32);
    let put = bed.put(&format!("/v2/pix/{unknown}/devolucao/r1"), &json!({ "valor": "1.00" })).await;
    assert_eq!((put.status, put.kind()), (404, "PixNaoEncontrado"));
    assert_eq!(bed.get(&format!("/v2/pix/{unknown}/devolucao/r1")).await.kind(), "PixNaoEncontrado");
    assert_eq!(bed.get(&format!("/v2/pix/{e2e}/devolucao/r1")).await.kind(), "PixDevolucaoNaoEncontrada");
}
