//! Sign-up opens an account with pending KYC. Its answer does not show which e-mails are in use.

use cais_domain::login::password::PasswordError;
use cais_domain::merchant::account::{Features, Kyc};
use cais_ports::{AccountQueries as _, AuditFilter, AuditQueries as _, PageRequest, Role, Totp};
use cais_testkit::Crash;
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::sign_up::SignUpError;

use crate::bed::{EMAIL, PASSWORD, TestBed};

#[tokio::test]
async fn sign_up_opens_a_pending_account_with_its_user() {
    let bed = TestBed::new();
    bed.sign_up("Ana@Shop.example", PASSWORD).await.unwrap();
    let account = bed.store.find_account_by_email(EMAIL).await.unwrap().unwrap();
    assert_eq!((account.kyc, account.features), (Kyc::Pending, Features::default()));
    let user = bed.user(EMAIL).await;
    assert_eq!((user.role, user.totp, user.invitation), (Role::Merchant(account.id), Totp::Missing, None));
    let page = PageRequest { limit: 10, starting_after: None };
    let audit = bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    let row = audit.first().unwrap();
    assert_eq!((row.action.as_str(), row.operator.source.as_str()), ("account.create", "dashboard"));
    assert_eq!((row.operator.name.as_str(), row.operator.host.as_str()), (EMAIL, "192.0.2.7"));
}

#[tokio::test]
async fn sign_up_with_used_email_answers_the_same() {
    let bed = TestBed::new();
    bed.sign_up(EMAIL, PASSWORD).await.unwrap();
    let (user, hashed) = (bed.user(EMAIL).await, bed.passwords.hashed());
    bed.sign_up(EMAIL, "another long password").await.unwrap();
    assert_eq!(bed.passwords.hashed(), hashed + 1, "the same work");
    assert_eq!(bed.user(EMAIL).await, user);
    assert_eq!(bed.log_in(EMAIL, "another long password").await.unwrap_err(), LoginError::Refused);
}

#[tokio::test]
async fn weak_password_or_failed_store_opens_nothing() {
    let bed = TestBed::new();
    let refused = bed.sign_up(EMAIL, "short").await.unwrap_err();
    assert_eq!(refused, SignUpError::WeakPassword(PasswordError::TooShort));
    bed.store.crash_at(1, Crash::Before);
    let refused = bed.sign_up(EMAIL, PASSWORD).await.unwrap_err();
    assert!(matches!(refused, SignUpError::Login(LoginError::Store(_))), "{refused:?}");
    assert_eq!(bed.store.find_account_by_email(EMAIL).await.unwrap(), None);
}

#[tokio::test]
async fn sign_ups_of_one_email_are_limited() {
    let bed = TestBed::new();
    let mut last = Ok(());
    for _ in 0..11 {
        last = bed.sign_up(EMAIL, PASSWORD).await;
    }
    assert_eq!(last, Err(SignUpError::Login(LoginError::Throttled)));
}
