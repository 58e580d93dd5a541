//! The format of an `Idempotency-Key`.

use crate::support::{Engine, Reply, on_both, shared, unique};

on_both! { forms key_before_body refusal_is_not_stored }

const BODY: &str = r#"{"amount":10}"#;

async fn forms(engine: Engine) {
    let shop = shared(engine).await.shop();
    let edge = |length: usize| format!("{:x<length$}", unique(""));
    // Shorter than a unique word, but the account is new.
    for key in ["8letters".to_owned(), edge(255), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~".to_owned()] {
        shop.create_with(&key, BODY).await.expect(201);
    }
    let nonsense = vec![
        "7letter".to_owned(),
        edge(256),
        "with a blank".to_owned(),
        "chave-ção-1".to_owned(),
        "tab\tinside".to_owned(),
    ];
    for key in nonsense {
        shop.create_with(&key, BODY).await.refused(400, "invalid_idempotency_key");
    }
    let request = shop.json(reqwest::Method::POST, "/charges", BODY);
    let latin = reqwest::header::HeaderValue::from_bytes(b"chave-\xe7\xe3o-1").unwrap();
    Reply::of(request.header("idempotency-key", latin)).await.refused(400, "invalid_idempotency_key");
    let without = shop.json(reqwest::Method::POST, "/charges", BODY);
    Reply::of(without).await.refused(400, "idempotency_key_required");
}

async fn key_before_body(engine: Engine) {
    let shop = shared(engine).await.shop();
    let without = shop.json(reqwest::Method::POST, "/charges", "{");
    Reply::of(without).await.refused(400, "idempotency_key_required");
    shop.create_with("short", "{").await.refused(400, "invalid_idempotency_key");
    shop.create_with("long-enough", "{").await.refused(400, "VALIDATION_ERROR");
}

async fn refusal_is_not_stored(engine: Engine) {
    let shop = shared(engine).await.shop();
    let key = unique("key");
    for (body, status) in [("{", 400), (r#"{"amount":1}"#, 400), (r#"{"amount":50000.01}"#, 422)] {
        let reply = shop.create_with(&key, body).await;
        assert_eq!((reply.status, reply.header("idempotent-replayed")), (status, None));
    }
    shop.create_with(&key, BODY).await.expect(201);
}
