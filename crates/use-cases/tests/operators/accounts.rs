//! Operators create, change and list accounts.

use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::{AccountStatus, Features, Kyc};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::{CommitError, PageRequest};
use cais_testkit::Crash;
use cais_use_cases::accounts::create::CreateAccountError;
use cais_use_cases::accounts::{
    ChangeAccountError, approve, features, fees, limits, list, release_delay, resume, suspend,
};
use cais_use_cases::store_error::StoreError;

use crate::bed::{EMAIL, TestBed, email, operator};

#[tokio::test]
async fn account_is_stored_as_returned() {
    let bed = TestBed::new();
    let opened = bed.create("Shop@Example.com", false).await.unwrap();
    assert_eq!((opened.email.as_str(), opened.kyc, opened.features), (EMAIL, Kyc::Pending, Features::default()));
    assert_eq!(bed.stored().await, opened);
    let approved = bed.create("other@example.com", true).await.unwrap();
    assert_eq!((approved.kyc, approved.features), (Kyc::Approved, Features::APPROVED));
}

#[tokio::test]
async fn email_is_unique_case_insensitive() {
    let bed = TestBed::new();
    let first = bed.create(EMAIL, true).await.unwrap();
    let again = bed.create("SHOP@example.com", true).await.unwrap_err();
    assert_eq!(again, CreateAccountError::Exists { email: email(EMAIL), id: first.id.to_string() });
}

#[tokio::test]
async fn account_change_leaves_other_fields_unchanged() {
    let bed = TestBed::new();
    let opened = bed.create(EMAIL, false).await.unwrap();
    let who = email(EMAIL);
    approve::approve(&bed.ports, &operator(), &who).await.unwrap();
    suspend::suspend(&bed.ports, &operator(), &who).await.unwrap();
    assert_eq!(bed.stored().await.status, AccountStatus::Suspended);
    resume::resume(&bed.ports, &operator(), &who).await.unwrap();
    let (enable, disable) = (Features::parse("split,crypto_in").unwrap(), Features::parse("pix_out").unwrap());
    features::set(&bed.ports, &operator(), &who, enable, disable).await.unwrap();
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("0.99").unwrap(), None, None).unwrap();
    fees::set(&bed.ports, &operator(), &who, Operation::PixIn, &rule).await.unwrap();
    limits::set(&bed.ports, &operator(), &who, Some(Money::from_centavos(100)), None).await.unwrap();
    let last = release_delay::set(&bed.ports, &operator(), &who, 60).await.unwrap();

    let stored = bed.stored().await;
    assert_eq!(stored, last);
    assert_eq!((stored.status, stored.kyc), (AccountStatus::Active, Kyc::Approved));
    assert_eq!(stored.features.to_string(), "pix_in,split,crypto_in");
    assert_eq!(stored.fees.get(Operation::PixIn), &rule);
    assert_eq!(stored.fees.get(Operation::PixOut), &FeeRule::free());
    assert_eq!((stored.limits.charge, stored.limits.payout), (Money::from_centavos(100), opened.limits.payout));
    assert_eq!((stored.release_delay_s, stored.id, stored.created_at), (60, opened.id, opened.created_at));
}

#[tokio::test]
async fn repeated_account_change_writes_nothing() {
    let bed = TestBed::with_account().await;
    let commits = bed.store.commits();
    let before = bed.stored().await;
    assert_eq!(approve::approve(&bed.ports, &operator(), &email(EMAIL)).await.unwrap(), before);
    assert_eq!(bed.store.commits(), commits);
}

#[tokio::test]
async fn concurrent_change_is_kept_and_change_is_retried() {
    let bed = TestBed::with_account().await;
    suspend::suspend(&bed.raced(3), &operator(), &email(EMAIL)).await.unwrap();
    let stored = bed.stored().await;
    assert_eq!(
        (stored.status, stored.features.to_string()),
        (AccountStatus::Suspended, "pix_in,pix_out,split".to_owned())
    );
}

#[tokio::test]
async fn endless_concurrent_changes_end_in_refusal() {
    let bed = TestBed::with_account().await;
    let refused = suspend::suspend(&bed.raced(100), &operator(), &email(EMAIL)).await.unwrap_err();
    assert!(matches!(refused, ChangeAccountError::Store(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(bed.stored().await.status, AccountStatus::Active);
}

#[tokio::test]
async fn change_of_unknown_account_or_failed_store_is_refused() {
    let bed = TestBed::new();
    let missing = suspend::suspend(&bed.ports, &operator(), &email(EMAIL)).await.unwrap_err();
    assert_eq!(missing, ChangeAccountError::NotFound(email(EMAIL)));
    bed.store.crash_at(1, Crash::Before);
    let failed = bed.create(EMAIL, true).await.unwrap_err();
    assert!(matches!(failed, CreateAccountError::Store(CommitError::Unavailable(_))), "{failed:?}");
}

#[tokio::test]
async fn account_list_is_newest_first_and_continues() {
    let bed = TestBed::new();
    for number in 0..5 {
        bed.create(&format!("shop{number}@example.com"), true).await.unwrap();
    }
    let first = list::list(&bed.ports, None, PageRequest { limit: 3, starting_after: None }).await.unwrap();
    let names: Vec<&str> = first.rows.iter().map(|account| account.email.as_str()).collect();
    assert_eq!((names, first.has_more), (vec!["shop4@example.com", "shop3@example.com", "shop2@example.com"], true));
    let starting_after = first.rows.last().map(|account| account.id);
    let rest = list::list(&bed.ports, None, PageRequest { limit: 3, starting_after }).await.unwrap();
    assert_eq!((rest.rows.len(), rest.has_more), (2, false));
}
