//! Tests the creation of crypto deposits and withdrawals over HTTP, without a processor.

use cais_domain::merchant::account::{Account, AccountStatus, Feature};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_ports::{
    ChangeSet, Clock as _, IdempotencyChange, IdempotencyRef, NewIdempotencyRecord, REQUEST_LEASE, Store as _,
};
use cais_strict_json::{Issues, read};
use cais_testkit::builders::an_account;

use super::*;
use crate::fingerprint::fingerprint;

/// The paths, a body for each, and the id of a resource in creation.
const CREATIONS: [(&str, &str, &str); 2] = [
    ("/v1/crypto/deposits", r#"{"amount":250,"currency":"trx"}"#, "cdp_01h455vb4pex5vsknk084sn02q"),
    (
        "/v1/crypto/withdrawals",
        r#"{"amount":250,"currency":"btc","address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}"#,
        "cwd_01h455vb4pex5vsknk084sn02q",
    ),
];

/// Returns a service without a processor, and an account with both crypto features.
async fn without_processor(status: AccountStatus) -> TestBed {
    let account = an_account();
    let features = account.features.with(Feature::CryptoIn).with(Feature::CryptoOut);
    TestBed::with(Account { features, status, ..account }, true).await
}

#[actix_web::test]
async fn creation_without_processor_is_feature_disabled() {
    let bed = without_processor(AccountStatus::Active).await;
    for (path, body, _) in CREATIONS {
        let above_limit = body.replace("250", "900000");
        for body in [body, &above_limit] {
            let seen = post(&bed, path, "key-number-1", body).await;
            assert_eq!(seen.error(), (403, "feature_disabled".to_owned()), "{path}");
        }
    }
}

#[actix_web::test]
async fn key_in_progress_without_processor_is_retryable() {
    let bed = without_processor(AccountStatus::Active).await;
    for (path, body, id) in CREATIONS {
        let issues = Issues::default();
        let key = format!("key-of-{id}");
        let now = bed.clock.now();
        let record = NewIdempotencyRecord {
            name: IdempotencyRef { account: bed.account.id, key: IdempotencyKey::parse(&key).unwrap() },
            fingerprint: fingerprint("POST", path, &read(body.as_bytes(), &issues)),
            resource: id.to_owned(),
            lease_until: now.saturating_add(REQUEST_LEASE).unwrap(),
            answer: None,
        };
        let taken = ChangeSet { idempotency: Some(IdempotencyChange::Take(record)), ..ChangeSet::new(now) };
        bed.store.commit(taken).await.unwrap();
        let seen = post(&bed, path, &key, body).await;
        assert_eq!(seen.error(), (409, "idempotency_key_in_progress".to_owned()), "{path}");
        assert_eq!(seen.at("/error/retryable"), true, "{path}");
        let other = post(&bed, path, &key, &body.replace("250", "260")).await;
        assert_eq!(other.error(), (409, "IDEMPOTENCY_CONFLICT".to_owned()), "{path}");
    }
}

#[actix_web::test]
async fn suspended_account_without_processor_is_suspended() {
    let bed = without_processor(AccountStatus::Suspended).await;
    for (path, body, _) in CREATIONS {
        let seen = post(&bed, path, "key-number-1", body).await;
        assert_eq!(seen.error(), (403, "account_suspended".to_owned()), "{path}");
    }
}
