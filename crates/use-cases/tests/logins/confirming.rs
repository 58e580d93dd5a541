//! A new code that is bound to the action creates or revokes a key.

use std::time::Duration;

use cais_domain::ids::ConfirmationId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::account_change::AccountChange;
use cais_domain::merchant::api_key::Scopes;
use cais_ports::{AccountQueries as _, AuditFilter, AuditQueries as _, KeyQueries as _, PageRequest, PendingAction};
use cais_testkit::{CapturedLogs, Crash};
use cais_use_cases::accounts::suspend::suspend;
use cais_use_cases::logins::begin::begin;
use cais_use_cases::logins::confirm::{Confirmed, confirm};
use cais_use_cases::logins::{LoginError, Visitor, code, enrol};

use crate::bed::{EMAIL, PASSWORD, TestBed, browser, email, name, operator};

fn creation() -> PendingAction {
    PendingAction::CreateKey {
        name: name("till"),
        scopes: Scopes::parse("charges:read").unwrap(),
        expires_in_days: Some(30),
        allowed_addresses: vec!["203.0.113.0/24".to_owned()],
    }
}

async fn begun(bed: &TestBed, visitor: &Visitor, action: PendingAction) -> ConfirmationId {
    begin(&bed.logins, visitor, action).await.unwrap()
}

async fn keys(bed: &TestBed, visitor: &Visitor) -> usize {
    bed.store.list_keys(visitor.session.account.unwrap()).await.unwrap().len()
}

async fn with(bed: &TestBed, visitor: &Visitor, id: ConfirmationId, code: &str) -> Result<Confirmed, LoginError> {
    confirm(&bed.logins, &browser(), visitor, id, code).await
}

#[tokio::test]
async fn key_is_created_and_revoked_with_fresh_codes() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    assert_eq!(keys(&bed, &visitor).await, 0);
    let Confirmed::Created(created) = with(&bed, &visitor, id, &bed.code(&visitor.user, 0)).await.unwrap() else {
        panic!("not created")
    };
    let prefix = created.record.prefix.clone();
    let (stored, account) = bed.store.find_key(&prefix).await.unwrap().unwrap();
    assert_eq!((stored, Some(account.id)), (created.record.clone(), visitor.session.account));
    assert_eq!(created.record.allowed_addresses, ["203.0.113.0/24"]);
    bed.clock.advance(Duration::from_secs(30));
    let id = begun(&bed, &visitor, PendingAction::RevokeKey { prefix: prefix.clone() }).await;
    let revoked = with(&bed, &visitor, id, &bed.code(&visitor.user, 0)).await.unwrap();
    assert!(matches!(revoked, Confirmed::Revoked(revoked) if revoked == prefix));
    assert!(bed.store.find_key(&prefix).await.unwrap().unwrap().0.revoked_at.is_some());
    let filter = AuditFilter { operator: Some(EMAIL.to_owned()), ..AuditFilter::default() };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 2, starting_after: None }).await.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.action.as_str()).collect::<Vec<_>>(), ["key.revoke", "key.create"]);
}

#[tokio::test]
async fn confirmation_and_code_work_once() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let (first, second) = (begun(&bed, &visitor, creation()).await, begun(&bed, &visitor, creation()).await);
    let code = bed.code(&visitor.user, 0);
    with(&bed, &visitor, first, &code).await.unwrap();
    assert_eq!(with(&bed, &visitor, second, &code).await.unwrap_err(), LoginError::Refused, "a used code");
    let next = bed.code(&visitor.user, 1);
    assert_eq!(with(&bed, &visitor, first, &next).await.unwrap_err(), LoginError::Over, "a used confirmation");
    assert_eq!(keys(&bed, &visitor).await, 1);
    with(&bed, &visitor, second, &next).await.unwrap();
}

#[tokio::test]
async fn code_of_the_login_confirms_nothing() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    let enrolment = bed.code(&visitor.user, -1);
    assert_eq!(with(&bed, &visitor, id, &enrolment).await.unwrap_err(), LoginError::Refused);
    assert_eq!(keys(&bed, &visitor).await, 0);
}

#[tokio::test]
async fn fifth_wrong_code_ends_the_confirmation() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(with(&bed, &visitor, id, "999999").await.unwrap_err());
    }
    assert_eq!(seen.iter().filter(|error| **error == LoginError::Refused).count(), 4);
    assert_eq!(seen.last(), Some(&LoginError::LastCode));
    let right = bed.code(&visitor.user, 0);
    assert_eq!(with(&bed, &visitor, id, &right).await.unwrap_err(), LoginError::Over);
    assert_eq!(keys(&bed, &visitor).await, 0);
}

/// A user can begin any number of confirmations, so the wrong codes of all confirmations are limited together.
#[tokio::test]
async fn wrong_codes_of_all_confirmations_are_limited() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let id = begun(&bed, &visitor, creation()).await;
        for _ in 0..4 {
            seen.push(with(&bed, &visitor, id, "999999").await.unwrap_err());
        }
    }
    assert_eq!(seen.iter().filter(|error| **error == LoginError::Refused).count(), 10);
    assert!(seen.ends_with(&[LoginError::Throttled, LoginError::Throttled]));
    let id = begun(&bed, &visitor, creation()).await;
    let right = bed.code(&visitor.user, 0);
    assert_eq!(with(&bed, &visitor, id, &right).await.unwrap_err(), LoginError::Throttled);
    bed.clock.advance(Duration::from_mins(5));
    let right = bed.code(&visitor.user, 0);
    with(&bed, &visitor, id, &right).await.unwrap();
}

#[tokio::test]
async fn suspended_account_creates_no_key() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    suspend(&bed.logins.ports, &operator(), &email(EMAIL)).await.unwrap();
    let code = bed.code(&visitor.user, 0);
    assert_eq!(with(&bed, &visitor, id, &code).await.unwrap_err(), LoginError::Over);
    assert_eq!(keys(&bed, &visitor).await, 0);
}

#[tokio::test]
async fn half_login_begins_no_action() {
    let bed = TestBed::new();
    bed.visitor(EMAIL).await;
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    assert_eq!(begin(&bed.logins, &half, creation()).await.unwrap_err(), LoginError::Over);
}

#[tokio::test]
async fn confirmation_is_over_after_ten_minutes() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    bed.clock.advance(Duration::from_mins(10));
    let code = bed.code(&visitor.user, 0);
    assert_eq!(with(&bed, &visitor, id, &code).await.unwrap_err(), LoginError::Over);
}

#[tokio::test]
async fn confirmation_is_bound_to_its_user_and_session() {
    let bed = TestBed::new();
    let (ana, bia) = (bed.visitor(EMAIL).await, bed.visitor("bia@shop.example").await);
    let id = begun(&bed, &ana, creation()).await;
    let code = bed.code(&bia.user, 0);
    assert_eq!(with(&bed, &bia, id, &code).await.unwrap_err(), LoginError::Over, "another user");
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let code = bed.code(&ana.user, 0);
    let other = cais_use_cases::logins::code::enter(&bed.logins, &browser(), &half, &code).await.unwrap();
    let other = bed.found(&other).await.unwrap();
    let next = bed.code(&ana.user, 1);
    assert_eq!(with(&bed, &other, id, &next).await.unwrap_err(), LoginError::Over, "another session");
    assert_eq!(with(&bed, &half, id, &next).await.unwrap_err(), LoginError::Over, "an ended session");
}

#[tokio::test]
async fn key_of_another_account_cannot_be_revoked() {
    let bed = TestBed::new();
    let (ana, bia) = (bed.visitor(EMAIL).await, bed.visitor("bia@shop.example").await);
    let id = begun(&bed, &ana, creation()).await;
    let Confirmed::Created(created) = with(&bed, &ana, id, &bed.code(&ana.user, 0)).await.unwrap() else {
        panic!("not created")
    };
    let prefix = created.record.prefix;
    let refused = begin(&bed.logins, &bia, PendingAction::RevokeKey { prefix: prefix.clone() }).await.unwrap_err();
    assert_eq!(refused, LoginError::Over);
    assert_eq!(bed.store.find_key(&prefix).await.unwrap().unwrap().0.revoked_at, None);
}

#[tokio::test]
async fn interrupted_confirmation_leaves_nothing() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    let code = bed.code(&visitor.user, 0);
    bed.store.crash_at(1, Crash::Before);
    let failed = with(&bed, &visitor, id, &code).await.unwrap_err();
    assert!(matches!(failed, LoginError::Store(_)), "{failed:?}");
    assert_eq!(keys(&bed, &visitor).await, 0);
    with(&bed, &visitor, id, &code).await.unwrap();
}

#[tokio::test]
async fn operator_changes_an_account_with_a_code() {
    let bed = TestBed::new();
    let merchant = bed.visitor(EMAIL).await;
    let account = merchant.session.account.unwrap();
    let operator = bed.operator("ops@cais.example").await;
    for change in [AccountChange::Approve, AccountChange::ReleaseDelay(60), AccountChange::Suspend] {
        let before = bed.store.find_account(account).await.unwrap().unwrap();
        let action = PendingAction::ChangeAccount { account, seen: before.version, change: change.clone() };
        let id = begun(&bed, &operator, action).await;
        assert_eq!(with(&bed, &operator, id, "000000").await.unwrap_err(), LoginError::Refused);
        assert_eq!(bed.store.find_account(account).await.unwrap().unwrap(), before, "not without a code");
        with(&bed, &operator, id, &bed.code(&operator.user, 0)).await.unwrap();
        let after = bed.store.find_account(account).await.unwrap().unwrap();
        assert_eq!(after, Account { version: before.version + 1, ..change.apply(before) });
        bed.clock.advance(Duration::from_secs(30));
    }
    let filter = AuditFilter { operator: Some("ops@cais.example".to_owned()), account: Some(account), action: None };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 5, starting_after: None }).await.unwrap().rows;
    let actions: Vec<&str> = rows.iter().map(|row| row.action.as_str()).collect();
    assert_eq!(actions, ["account.suspend", "account.release_delay", "account.approve"]);
    assert!(rows.iter().all(|row| row.operator.source == "dashboard" && row.operator.host == "192.0.2.7"));
    assert!(rows.iter().all(|row| row.before.is_some() && row.after.is_some()));
}

#[tokio::test]
async fn account_change_of_a_merchant_is_refused() {
    let bed = TestBed::new();
    let merchant = bed.visitor(EMAIL).await;
    let account = merchant.session.account.unwrap();
    let action = PendingAction::ChangeAccount { account, seen: 1, change: AccountChange::Approve };
    assert_eq!(begin(&bed.logins, &merchant, action.clone()).await.unwrap_err(), LoginError::Over);
    let operator = bed.operator("ops@cais.example").await;
    assert_eq!(begin(&bed.logins, &operator, creation()).await.unwrap_err(), LoginError::Over);
    let id = begun(&bed, &operator, action).await;
    let code = bed.code(&merchant.user, 0);
    assert_eq!(with(&bed, &merchant, id, &code).await.unwrap_err(), LoginError::Over, "another session");
}

#[tokio::test]
async fn change_of_an_older_account_is_refused() {
    let bed = TestBed::new();
    let merchant = bed.visitor(EMAIL).await;
    let account = merchant.session.account.unwrap();
    let operator = bed.operator("ops@cais.example").await;
    let seen = bed.store.find_account(account).await.unwrap().unwrap().version;
    let change = |change| PendingAction::ChangeAccount { account, seen, change };
    let first = begun(&bed, &operator, change(AccountChange::Suspend)).await;
    let second = begun(&bed, &operator, change(AccountChange::ReleaseDelay(60))).await;
    with(&bed, &operator, first, &bed.code(&operator.user, 0)).await.unwrap();
    let stored = bed.store.find_account(account).await.unwrap().unwrap();
    let late = with(&bed, &operator, second, &bed.code(&operator.user, 1)).await.unwrap_err();
    assert_eq!(late, LoginError::Over);
    assert_eq!(bed.store.find_account(account).await.unwrap().unwrap(), stored);
}

#[tokio::test]
async fn new_recovery_codes_end_the_old_ones() {
    let bed = TestBed::new();
    bed.sign_up(EMAIL, PASSWORD).await.unwrap();
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let first = enrol::confirm(&bed.logins, &browser(), &half, &bed.code(&half.user, 0)).await.unwrap();
    let visitor = bed.found(&first.created).await.unwrap();
    bed.clock.advance(Duration::from_secs(30));
    let old = first.recovery_codes.first().unwrap();
    let id = begun(&bed, &visitor, PendingAction::RenewRecoveryCodes).await;
    assert_eq!(with(&bed, &visitor, id, old).await.unwrap_err(), LoginError::Refused, "only the authenticator");
    let renewed = with(&bed, &visitor, id, &bed.code(&visitor.user, 0)).await.unwrap();
    let Confirmed::RecoveryCodesRenewed(codes) = renewed else { panic!("not renewed") };
    let page = PageRequest { limit: 1, starting_after: None };
    let rows = bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    assert_eq!(rows.first().map(|row| row.action.as_str()), Some("user.renew_recovery_codes"));

    let log_in = async |text: &str| {
        let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
        code::enter(&bed.logins, &browser(), &half, text).await.map(|_| ())
    };
    assert_eq!((codes.len(), log_in(old).await), (10, Err(LoginError::Refused)));
    let new = codes.last().unwrap();
    assert_eq!((log_in(new).await, log_in(new).await), (Ok(()), Err(LoginError::Refused)), "each code once");
}

#[tokio::test]
async fn wrong_codes_are_logged_and_the_last_one_warns() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let id = begun(&bed, &visitor, creation()).await;
    let logs = CapturedLogs::start();
    for _ in 0..5 {
        with(&bed, &visitor, id, "999999").await.unwrap_err();
    }
    let field = |line: &serde_json::Value, name| line.get(name).and_then(|text| text.as_str().map(str::to_owned));
    let infos = logs.infos();
    assert_eq!(infos.iter().filter(|line| field(line, "action").as_deref() == Some("key.create")).count(), 4);
    let warned = logs.warnings();
    assert_eq!(warned.len(), 1, "{warned:?}");
    let last = warned.first().unwrap();
    assert_eq!(field(last, "client").as_deref(), Some("192.0.2.7"));
    assert!(field(last, "message").unwrap().contains("has ended"), "{last}");
}
