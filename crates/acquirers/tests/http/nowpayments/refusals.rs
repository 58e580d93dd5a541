//! Tests refused withdrawals: a refusal is certain only by its code and status, and after a look-up by our identifier.

use cais_ports::{AcquirerError, CryptoProcessor as _, UpstreamWithdrawal};
use serde_json::json;

use super::answers::{other_row, processor, refusal, withdrawal_order, withdrawal_row};
use crate::answers::{BUDGET, changed, html, json_reply, kind, reason};
use crate::server::{Act, Server};

/// Returns the result of an order, and the methods of the requests. `post` answers the order and `list` its look-up;
/// the second page of the list is empty.
async fn create(post: Act, list: Act) -> (Result<UpstreamWithdrawal, AcquirerError>, String) {
    let server = Server::start(move |seen, _| match seen.method.as_str() {
        "POST" => post.clone(),
        _ if seen.path.contains("page=0") => list.clone(),
        _ => json_reply(200, &json!({"payouts": []})),
    })
    .await;
    let result = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await;
    (result, server.methods())
}

fn nothing() -> Act {
    json_reply(200, &json!({"payouts": [other_row()]}))
}

#[tokio::test]
async fn withdrawal_is_refused_only_by_a_listed_code() {
    for (status, code, wanted) in [
        (400, "BAD_CREATE_WITHDRAWAL_REQUEST", "refused"),
        (400, "INVALID_REQUEST_PARAMS", "refused"),
        (400, "CURRENCY_UNAVAILABLE", "refused"),
        (422, "BAD_REQUEST", "refused"),
        (400, "SOMETHING_NEW", "unknown"),
        (404, "NOT_FOUND", "unknown"),
        (404, "BAD_REQUEST", "unknown"),
        (409, "BAD_CREATE_WITHDRAWAL_REQUEST", "unknown"),
        (401, "AUTH_REQUIRED", "unavailable"),
        (403, "ENDPOINT_NOT_ALLOWED", "unavailable"),
        (429, "TOO_MANY", "unavailable"),
        (500, "INTERNAL", "unknown"),
    ] {
        let (result, _) = create(refusal(status, code), nothing()).await;
        assert_eq!(kind(&result), wanted, "{status} {code}: {}", reason(&result));
    }
    // The text of a refusal is shown to the merchant.
    let (result, methods) = create(refusal(400, "BAD_CREATE_WITHDRAWAL_REQUEST"), nothing()).await;
    assert_eq!(result, Err(AcquirerError::Refused("Not accepted".to_owned())));
    assert_eq!(methods, "POST GET GET");
}

#[tokio::test]
async fn missing_balance_at_the_processor_may_pass() {
    let refusal = json!({
        "status": false, "statusCode": 400, "code": "BAD_CREATE_WITHDRAWAL_REQUEST", "message": "Insufficient balance",
        "current_values": {"usdtbsc": {"requested": 50.5, "actualBalance": 3}}
    });
    let (result, _) = create(json_reply(400, &refusal), nothing()).await;
    assert_eq!(kind(&result), "unavailable", "{}", reason(&result));
}

/// A taken identifier has the same code as other refusals, so the look-up determines the outcome.
#[tokio::test]
async fn refused_withdrawal_that_exists_is_found() {
    let taken = || refusal(400, "BAD_CREATE_WITHDRAWAL_REQUEST");
    let row = |field: &str, value| {
        json_reply(200, &json!({"payouts": [other_row(), changed(withdrawal_row(), field, Some(value))]}))
    };
    for (list, wanted) in [
        (row("/status", json!("PROCESSING")), "ok"),
        (row("/amount", json!("49")), "unknown"),
        (row("/address", json!("0x8894e0a0c962cb723c1976a4421c95949be2d4e4")), "unknown"),
        (html(500), "unknown"),
        (refusal(429, "TOO_MANY"), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        let (result, methods) = create(taken(), list).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert_eq!(methods, "POST GET");
    }
}
