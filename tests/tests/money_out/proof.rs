//! An acquirer that executes requests and answers something else: only proof moves money.

use serde_json::{Value, json};

use crate::support::{AlteringProxy, Engine, Institution, Node, Shop, borrowed, eventually, id, on_both, own};

on_both! {
    payout_answered_by_a_missing_path_is_not_failed payout_answered_as_a_duplicate_is_not_failed
    refund_answered_by_a_missing_path_is_not_failed payment_is_credited_after_a_key_rotation
    payment_is_credited_despite_an_unusable_code refused_records_do_not_affect_other_orders
    unmatched_callback_is_credited_after_a_retry
}

/// Starts a merchant with R$ 100.00 at an institution with changeable answers. Returns the charge of the money too.
async fn with_money(engine: Engine, psp: &Institution, upstream: &AlteringProxy) -> (Node, Shop, String) {
    let environment = upstream.environment(psp, "main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    let charge = shop.charge("100").await;
    psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    (node, shop, id(&charge))
}

/// Returns the answer of a gateway without the path, in the API's own form.
fn gone(status: &mut u16, body: &mut Value) {
    *status = 404;
    *body = json!({"nome": "rota_nao_disponivel", "mensagem": "Rota nao disponivel."});
}

/// Checks that the payout keeps its money while the acquirer reports false states, and completes once afterwards.
async fn completes_once(psp: &Institution, upstream: &AlteringProxy, (node, shop): (&Node, &Shop)) {
    let made = shop.pay_out("10", "ana@example.com").await.expect(201);
    assert_eq!((&made["status"], shop.available().await.as_str()), (&json!("processing"), "90.00"), "{made}");
    eventually("the worker has looked the payout up", || async {
        let reads = psp.requests("send_read").await + psp.requests("send_list").await;
        (reads >= 3).then_some(())
    })
    .await;
    assert_eq!(shop.get(&format!("/payouts/{}", id(&made))).await.expect(200)["status"], "processing");
    upstream.stop_altering();
    shop.until_payout(&id(&made), "completed").await;
    let sends = psp.sends().await;
    assert_eq!((sends.len(), &sends[0]["count"]), (1, &json!(1)), "{sends:?}");
    assert_eq!(shop.available().await, "90.00");
    shop.check_statement().await;
    node.verify();
}

async fn payout_answered_by_a_missing_path_is_not_failed(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, _) = with_money(engine, &psp, &upstream).await;
    upstream.alter_answers(|_, path, status, body| {
        if path.contains("/gn/pix") {
            gone(status, body);
        }
    });
    completes_once(&psp, &upstream, (&node, &shop)).await;
}

async fn payout_answered_as_a_duplicate_is_not_failed(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, _) = with_money(engine, &psp, &upstream).await;
    // A proxy repeats the request, and passes on the answer to the repeat. No look-up shows the payout yet.
    upstream.alter_answers(|method, path, status, body| match method {
        "PUT" if path.contains("/gn/pix") => {
            *status = 400;
            *body = json!({"nome": "id_envio_duplicado", "mensagem": "O idEnvio ja foi usado."});
        }
        _ if path.contains("/gn/pix") => {
            *status = 404;
            *body = json!({"type": "https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado", "title": "x", "status": 404});
        }
        _ => {}
    });
    completes_once(&psp, &upstream, (&node, &shop)).await;
}

async fn refund_answered_by_a_missing_path_is_not_failed(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, charge) = with_money(engine, &psp, &upstream).await;
    upstream.alter_answers(|_, path, status, body| {
        if path.contains("/devolucao/") {
            gone(status, body);
        }
    });
    let made = shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":40}"#).await.expect(201);
    assert_eq!((&made["status"], shop.available().await.as_str()), (&json!("processing"), "60.00"), "{made}");
    upstream.stop_altering();
    eventually("the refund completes", || async {
        (shop.refunds(&charge).await[0]["status"] == "completed").then_some(())
    })
    .await;
    assert_eq!((&psp.ledger().await["returned"]["count"], shop.available().await.as_str()), (&json!(1), "60.00"));
    node.verify();
}

/// Checks that a charge is credited although all its records have another value in a field.
async fn credited_despite(engine: Engine, field: &'static str, odd: &'static str) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, _) = with_money(engine, &psp, &upstream).await;
    let charge = shop.charge("40").await;
    upstream.alter_answers(move |method, path, _, body| {
        if method == "GET" && path.contains("/v2/cob/") {
            body[field] = json!(odd);
        }
    });
    psp.pay(charge["txid"].as_str().unwrap()).await;
    let paid = shop.until(&id(&charge), "paid").await;
    assert_eq!(paid["pix"]["copy_paste"], charge["pix"]["copy_paste"], "the code of the order stays");
    assert_eq!(shop.available().await, "140.00");
    node.verify();
}

async fn payment_is_credited_after_a_key_rotation(engine: Engine) {
    credited_despite(engine, "chave", "71cdf9ba-c695-4e3c-b010-abb521a3f1be").await;
}

async fn payment_is_credited_despite_an_unusable_code(engine: Engine) {
    credited_despite(engine, "pixCopiaECola", "").await;
}

async fn refused_records_do_not_affect_other_orders(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, _) = with_money(engine, &psp, &upstream).await;
    upstream.alter_answers(|method, path, _, body| {
        if method == "GET" && path.contains("/v2/cob/") {
            body["valor"] = json!({"original": "x"});
        }
    });
    let mut odd = Vec::new();
    for _ in 0..10 {
        odd.push(id(&shop.charge("10").await));
    }
    let merchant = node.shop();
    for charge in &odd {
        assert_eq!(shop.fetch(charge).await["status"], "pending");
        merchant.create(r#"{"amount":10}"#).await.expect(201);
    }
    assert!(psp.requests("cob_read").await >= 10, "each of them was read");
    shop.pay_out("10", "ana@example.com").await.expect(201);
    assert_eq!(merchant.all_charges().await.len(), 10);
    node.verify();
}

async fn unmatched_callback_is_credited_after_a_retry(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let (node, shop, _) = with_money(engine, &psp, &upstream).await;
    let sent = async |amount| {
        let made = id(&shop.pay_out(amount, "ana@example.com").await.expect(201));
        shop.until_payout(&made, "completed").await;
        made.trim_start_matches("pyt_").to_owned()
    };
    let (hidden, contradicted) = (sent("10").await, sent("20").await);
    let names = [hidden.clone(), contradicted.clone()];
    upstream.alter_answers(move |_, path, _, body| {
        if path.ends_with(&names[0]) {
            body["devolucoes"] = json!([]);
        } else if path.ends_with(&names[1]) {
            body["valor"] = "21.00".into();
        }
    });
    psp.return_sent(&hidden, &json!({})).await.expect(200);
    psp.return_sent(&contradicted, &json!({})).await.expect(200);

    let unmatched = async || node.cli(&["callback", "list"])["data"].as_array().unwrap().clone();
    let listed = eventually("a callback is unmatched", || async { unmatched().await.pop() }).await;
    assert_eq!((&listed["acquirer"], &listed["status"]), (&json!("main"), &json!("unmatched")));
    assert!(listed["names"][0].as_str().is_some_and(|name| name.starts_with(&format!("sent {contradicted} "))));
    eventually("both are counted", || async {
        let metrics = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
        let metrics = String::from_utf8(metrics.body).unwrap();
        let has = |line: &str| metrics.lines().any(|found| found == line);
        (has("cais_callbacks_open 1") && has(r#"cais_callbacks_unmatched{acquirer="main"} 1"#)).then_some(())
    })
    .await;
    assert_eq!(shop.available().await, "70.00");

    upstream.stop_altering();
    let callback = listed["id"].as_str().unwrap();
    let retried = node.cli(&["callback", "retry", callback, "--operator", "ana"]);
    assert_eq!((&retried["id"], &retried["status"]), (&listed["id"], &json!("waiting")));
    shop.until_available("100.00").await;
    assert!(unmatched().await.is_empty());
    let audit = node.cli(&["audit", "list", "--by", "ana"]);
    let row = &audit["data"][0];
    assert_eq!((&row["action"], &row["subject"]), (&json!("callback.retry"), &listed["id"]));
    assert_eq!((&row["before"]["status"], &row["after"]["status"]), (&json!("unmatched"), &json!("waiting")));
    shop.check_statement().await;
    node.verify();
}
