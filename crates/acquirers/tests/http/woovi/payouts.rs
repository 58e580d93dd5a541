//! Tests payouts in two steps: creation, approval, look-up.

use std::time::Duration;

use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_ports::{Acquirer as _, AcquirerError, UpstreamPayout};
use serde_json::{Value, json};

use super::answers::{asked, payment, refused, woovi};
use crate::answers::{
    BUDGET, NAME, PIX, RECIPIENT, changed, html, instruction_id, json_reply, kind, payout_order, progress, reason,
};
use crate::losses::losses;
use crate::server::{Act, Server, closed_port};

const EXISTS: &str = "Já existe um pagamento com o correlationID fornecido";
const NO_MONEY: &str = "Você não possui saldo o suficiente para realizar esse pagamento";

/// Sends the order to a server with these answers to creation, approval and look-up.
async fn send(create: Act, approve: Act, get: Act) -> (Result<UpstreamPayout, AcquirerError>, String) {
    let server = Server::start(move |seen, _| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/api/v1/payment") => create.clone(),
        ("POST", "/api/v1/payment/approve") => approve.clone(),
        _ => get.clone(),
    })
    .await;
    let result = woovi(&server.url()).send_payout(&payout_order(), BUDGET).await;
    let word = |line: String| match line.as_str() {
        "POST /payment" => "create",
        "POST /payment/approve" => "approve",
        _ => "look",
    };
    (result, asked(&server).into_iter().map(word).collect::<Vec<_>>().join(" "))
}

fn ok(status: &str) -> Act {
    json_reply(200, &payment(status))
}

fn absent() -> Act {
    refused(400, "Payment not found")
}

#[tokio::test]
async fn payout_is_created_and_approved() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/api/v1/payment" => ok("CREATED"),
        _ => ok("APPROVED"),
    })
    .await;
    let mut order = payout_order();
    order.description = Some(format!("one\ntwo {}", "é".repeat(200)));
    let sent = woovi(&server.url()).send_payout(&order, BUDGET).await.unwrap();
    assert_eq!((sent.instruction_id.as_str(), sent.amount, sent.awaits_approval), (NAME, order.amount, false));
    assert_eq!(sent.end_to_end_id.as_ref().map(cais_domain::end_to_end_id::EndToEndId::as_str), Some(PIX));
    assert_eq!(progress(&sent.progress), "open");
    assert_eq!(sent.recipient.name.as_deref(), Some("Ana Lima"));
    assert_eq!(sent.recipient.document.as_deref(), Some("***.456.789-**"));
    let seen = server.seen();
    let [create, approve] = seen.as_slice() else { unreachable!("{seen:?}") };
    let body: Value = serde_json::from_str(&create.body).unwrap();
    assert_eq!(
        body,
        json!({
            "type": "PIX_KEY", "correlationID": NAME, "value": 1234, "destinationAlias": RECIPIENT,
            "destinationAliasType": "EMAIL", "comment": format!("one two {}", "é".repeat(132))
        })
    );
    assert_eq!(approve.body, format!(r#"{{"correlationID":"{NAME}"}}"#));
}

#[tokio::test]
async fn every_kind_of_key_has_its_alias_type() {
    let server = Server::start(|_, _| refused(400, "no")).await;
    for (key, kind) in [
        ("12345678909", "CPF"),
        ("12ABC34501DE35", "CNPJ"),
        ("ana@example.com", "EMAIL"),
        ("+5511987654321", "PHONE"),
        ("7d9f0335-8dcc-4054-9bf9-0dbd61d36906", "RANDOM"),
    ] {
        let order = cais_ports::PayoutOrder { pix_key: PixKey::parse(key).unwrap(), ..payout_order() };
        drop(woovi(&server.url()).send_payout(&order, BUDGET).await);
        let body: Value = serde_json::from_str(&server.seen().last().unwrap().body).unwrap();
        assert_eq!((&body["destinationAlias"], &body["destinationAliasType"]), (&json!(key), &json!(kind)));
        assert!(body.get("comment").is_none() && body.get("autoApprove").is_none(), "{body}");
    }
}

#[tokio::test]
async fn order_that_woovi_cannot_express_is_never_sent() {
    let server = Server::start(|_, _| ok("CREATED")).await;
    for centavos in [0, -1, 1_000_000_000_000] {
        let order = cais_ports::PayoutOrder { amount: Money::from_centavos(centavos), ..payout_order() };
        assert_eq!(kind(&woovi(&server.url()).send_payout(&order, BUDGET).await), "refused", "{centavos}");
    }
    let mut order = payout_order();
    order.recipient_document = Some(Document::parse("123.456.789-09").unwrap());
    assert_eq!(kind(&woovi(&server.url()).send_payout(&order, BUDGET).await), "refused");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn status_of_a_payment_is_mapped() {
    let failed =
        changed(payment("FAILED"), "/error", Some(json!({"code": "PAY_PIX_KEY_ERROR", "description": "Falha"})));
    let rejected = changed(failed.clone(), "/transaction/providerRejectedReason", Some(json!("AC03")));
    let bare = changed(failed.clone(), "/error", Some(json!({"code": "REACH_TRANSFER_LIMIT"})));
    for (answer, wanted, awaits) in [
        (payment("CREATED"), "open", true),
        (payment("APPROVED"), "open", false),
        (payment("PROCESSING"), "open", false),
        (payment("SOMETHING_NEW"), "open", false),
        (payment("CONFIRMED"), "done 2026-11-20T15:00:00Z", false),
        (payment("REJECTED"), "failed -", false),
        (payment("DENIED"), "failed -", false),
        (failed, "failed Falha", false),
        (rejected, "failed AC03", false),
        (bare, "failed REACH_TRANSFER_LIMIT", false),
        (changed(payment("APPROVED"), "/transaction", None), "open", false),
        (changed(payment("APPROVED"), "/payment/value", Some(json!("1234"))), "open", false),
        (changed(payment("APPROVED"), "/destination/taxID", Some(json!({"taxID": "12345678909"}))), "open", false),
    ] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let found = woovi(&server.url()).find_payout(&instruction_id(), BUDGET).await.unwrap().unwrap();
        assert_eq!((progress(&found.progress).as_str(), found.awaits_approval), (wanted, awaits), "{found:?}");
        assert_eq!(asked(&server), [format!("GET /payment/{NAME}")]);
    }
}

#[tokio::test]
async fn payment_is_absent_only_if_named_so() {
    for (answer, wanted) in [
        (absent(), "none"),
        (refused(400, "Pagamento não encontrado"), "none"),
        (refused(404, "Payment not found"), "none"),
        (refused(404, "Not Found"), "unknown"),
        (refused(400, "Account of the payment not found"), "unknown"),
        (refused(400, "algo"), "unknown"),
        (html(404), "unknown"),
        (refused(403, "no"), "unavailable"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = woovi(&server.url()).find_payout(&instruction_id(), BUDGET).await;
        let found = if result == Ok(None) { "none" } else { kind(&result) };
        assert_eq!(found, wanted, "{}", reason(&result));
    }
}

/// Creation, approval and look-up, then the outcome and the requests.
#[tokio::test]
async fn each_step_of_a_payout_is_resolved() {
    let no = || refused(400, "Chave Pix inválida");
    for (create, approve, get, wanted, steps) in [
        (ok("CREATED"), ok("APPROVED"), absent(), "open", "create approve"),
        (ok("CREATED"), ok("CONFIRMED"), absent(), "done 2026-11-20T15:00:00Z", "create approve"),
        // With automatic approval of the account no second request is needed.
        (ok("APPROVED"), no(), absent(), "open", "create"),
        // The creation is refused, so no payment exists.
        (no(), ok("APPROVED"), absent(), "refused", "create"),
        (refused(403, "no"), ok("APPROVED"), absent(), "unavailable", "create"),
        (refused(429, "Too many requests"), ok("APPROVED"), absent(), "unavailable", "create"),
        (refused(400, NO_MONEY), ok("APPROVED"), absent(), "unavailable", "create"),
        // The creation is lost or repeated: the payment is found and approved.
        (Act::Cut, ok("APPROVED"), ok("CREATED"), "open", "create look approve"),
        (Act::Cut, ok("APPROVED"), ok("CONFIRMED"), "done 2026-11-20T15:00:00Z", "create look"),
        (refused(400, EXISTS), ok("APPROVED"), ok("CREATED"), "open", "create look approve"),
        (refused(400, EXISTS), ok("APPROVED"), ok("APPROVED"), "open", "create look"),
        (refused(404, "Not Found"), ok("APPROVED"), ok("CREATED"), "open", "create look approve"),
        // The acquirer does not show the payment, which may still exist. The adapter does not create it again.
        (Act::Cut, ok("APPROVED"), absent(), "unknown", "create look"),
        (Act::Cut, ok("APPROVED"), html(500), "unknown", "create look"),
        (refused(400, EXISTS), ok("APPROVED"), absent(), "unknown", "create look"),
        (html(400), ok("APPROVED"), absent(), "unknown", "create look"),
        // The approval is lost or refused: the payment is read.
        (ok("CREATED"), Act::Cut, ok("APPROVED"), "open", "create approve look"),
        (ok("CREATED"), Act::Cut, ok("CONFIRMED"), "done 2026-11-20T15:00:00Z", "create approve look"),
        (ok("CREATED"), Act::Cut, ok("CREATED"), "awaits approval", "create approve look"),
        (ok("CREATED"), Act::Cut, html(500), "awaits approval", "create approve look"),
        (ok("CREATED"), Act::Cut, absent(), "awaits approval", "create approve look"),
        (ok("CREATED"), refused(400, NO_MONEY), ok("CREATED"), "awaits approval", "create approve look"),
        (ok("CREATED"), refused(400, "Payment is already approved"), ok("APPROVED"), "open", "create approve look"),
        (ok("CREATED"), ok("DENIED"), absent(), "failed -", "create approve"),
        (ok("CREATED"), refused(400, "x"), ok("DENIED"), "failed -", "create approve look"),
        (ok("CREATED"), ok("CREATED"), ok("CREATED"), "awaits approval", "create approve look"),
    ] {
        let (result, found) = send(create, approve, get).await;
        let shown = match &result {
            Ok(payout) if payout.awaits_approval => "awaits approval".to_owned(),
            Ok(payout) => progress(&payout.progress),
            Err(_) => kind(&result).to_owned(),
        };
        assert_eq!((shown.as_str(), found.as_str()), (wanted, steps), "{}", reason(&result));
    }
}

#[tokio::test]
async fn payment_with_lost_reply_is_created_once() {
    for (name, loss, budget) in losses(&payment("CREATED")) {
        let server = Server::start(move |seen, _| match seen.path.as_str() {
            "/api/v1/payment" => loss.clone(),
            "/api/v1/payment/approve" => ok("APPROVED"),
            _ => ok("CREATED"),
        })
        .await;
        let budget = budget.max(Duration::from_secs(4)).min(Duration::from_secs(9));
        let result = woovi(&server.url()).send_payout(&payout_order(), budget).await;
        assert_eq!(kind(&result), "ok", "{name}: {}", reason(&result));
        let steps = ["POST /payment".to_owned(), format!("GET /payment/{NAME}"), "POST /payment/approve".to_owned()];
        assert_eq!(asked(&server), steps, "{name}");
    }
}

#[tokio::test]
async fn answer_that_contradicts_order_is_never_approved() {
    let created = |pointer: &str, value| json_reply(200, &changed(payment("CREATED"), pointer, value));
    for (answer, message) in [
        (created("/payment/correlationID", Some(json!("01jd8x2m4pe9ktva0c6rzq5w3n"))), "correlationID differs"),
        (created("/payment/correlationID", None), "correlationID is missing"),
        (created("/payment/value", Some(json!(1235))), "value is not the ordered amount"),
        (created("/payment/value", Some(json!(12.34))), "value is not an amount"),
        (created("/payment/destinationAlias", Some(json!("eva@example.com"))), "is not the ordered recipient"),
        (created("/payment/status", None), "status is missing"),
        (json_reply(200, &changed(payment("CONFIRMED"), "/transaction", None)), "endToEndId is missing"),
        (json_reply(200, &json!({"payment": 7})), "has no payment"),
    ] {
        // The look-up shows the same contradiction.
        let (result, steps) = send(answer.clone(), ok("APPROVED"), answer).await;
        assert_eq!((kind(&result), steps.as_str()), ("unknown", "create look"), "{message}");
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
    }
}

#[tokio::test]
async fn payout_without_connection_is_unavailable() {
    let result = woovi(&closed_port().await).send_payout(&payout_order(), BUDGET).await;
    assert_eq!(kind(&result), "unavailable", "{}", reason(&result));
}
