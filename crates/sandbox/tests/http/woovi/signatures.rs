//! Tests the signatures of webhooks, verified by openssl.

use std::{path::Path, process::Command};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use ring::hmac;
use serde_json::json;

use super::bed::WooviBed;
use crate::receiver::{Received, Receiver};

/// Returns whether openssl verifies the RSA signature of a call over its raw body.
fn is_verified(folder: &Path, key: &str, call: &Received) -> bool {
    let file = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let signature = STANDARD.decode(call.header("x-webhook-signature").unwrap()).unwrap_or_default();
    let (key, signature) = (file("key.pem", key.as_bytes()), file("signature", &signature));
    let body = file("body", call.text.as_bytes());
    let verify = Command::new("openssl")
        .args(["dgst", "-sha256", "-verify"])
        .arg(key)
        .arg("-signature")
        .arg(signature)
        .arg(body)
        .output();
    verify.unwrap().status.success()
}

fn hmac_of(secret: &str, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes());
    STANDARD.encode(hmac::sign(&key, body.as_bytes()))
}

#[tokio::test]
async fn deliveries_are_signed_and_wrong_ones_on_demand() {
    let bed = WooviBed::start().await;
    let receiver = Receiver::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    bed.subscribe(&receiver, "OPENPIX:TRANSACTION_RECEIVED").await;
    bed.paid("a", 100).await;
    let (key, secret) = (&bed.credentials.webhook_public_key, &bed.credentials.hmac_secret);
    for call in receiver.wait_for(2).await {
        assert!(is_verified(folder.path(), key, &call), "{call:?}");
        assert_eq!(call.header("x-openpix-signature").unwrap(), hmac_of(secret, &call.text));
    }
    for (kind, count) in [("wrong", 3), ("malformed", 4), ("missing", 5), ("valid", 6)] {
        let settings = json!({ "webhook_signature": kind });
        assert_eq!(bed.control(Method::PUT, "/woovi/settings", &settings).await.status, 200);
        bed.paid(kind, 100).await;
        let call = receiver.wait_for(count).await[count - 1].clone();
        if kind == "missing" {
            assert_eq!((call.header("x-webhook-signature"), call.header("x-openpix-signature")), (None, None));
            continue;
        }
        assert_eq!(is_verified(folder.path(), key, &call), kind == "valid", "{kind}");
        let is_right = call.header("x-openpix-signature").unwrap() == hmac_of(secret, &call.text);
        assert_eq!(is_right, kind == "valid", "{kind}");
    }
}
