//! Error codes that may be retried.

use crate::support::{Engine, on_both, shared, unique};

on_both! { refusals_are_final }

async fn refusals_are_final(engine: Engine) {
    let shop = shared(engine).await.shop();
    let (key, external) = (unique("key"), unique("order"));
    shop.create_with(&key, format!(r#"{{"amount":10,"external_id":"{external}"}}"#)).await.expect(201);
    for (reply, status, code) in [
        (shop.create_with(&key, r#"{"amount":11}"#).await, 409, "IDEMPOTENCY_CONFLICT"),
        (shop.create(format!(r#"{{"amount":11,"external_id":"{external}"}}"#)).await, 409, "EXTERNAL_ID_CONFLICT"),
        (shop.create(r#"{"amount":50000.01}"#).await, 422, "transaction_limit_exceeded"),
        (shop.create(r#"{"amount":1}"#).await, 400, "VALIDATION_ERROR"),
        (shop.get("/nothing").await, 404, "not_found"),
        (shop.get("/cards").await, 501, "not_implemented"),
    ] {
        reply.refused(status, code);
        let error = &reply.json()["error"];
        assert_eq!(error["retryable"], false, "{code}");
        assert_eq!(error.get("retry_after"), None, "{code}");
    }
}
