//! Every change by an operator writes a row of the audit log in the same commit.

use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::api_key::Scopes;
use cais_domain::money::Money;
use cais_ports::{AuditFilter, AuditRow, PageRequest};
use cais_testkit::hooked::once;
use cais_use_cases::accounts::{
    acquirers, approve, crypto_spread, features, fees, limits, reject, release_delay, resume, suspend,
};
use cais_use_cases::keys::create::{CreateKey, create};
use cais_use_cases::keys::revoke::revoke;
use cais_use_cases::{acquirer_drain, audit};

use futures_util::FutureExt as _;

use crate::bed::{EMAIL, TestBed, email, name, operator};

async fn rows(bed: &TestBed) -> Vec<AuditRow> {
    let page = PageRequest { limit: 200, starting_after: None };
    let mut rows = audit::list(&bed.ports, AuditFilter::default(), page).await.unwrap().rows;
    rows.reverse();
    rows
}

#[tokio::test]
async fn operator_command_writes_one_audit_row() {
    let bed = TestBed::new();
    let (ports, by, who) = (&bed.ports, &operator(), &email(EMAIL));
    let account = bed.create(EMAIL, false).await.unwrap();
    reject::reject(ports, by, who).await.unwrap();
    approve::approve(ports, by, who).await.unwrap();
    suspend::suspend(ports, by, who).await.unwrap();
    resume::resume(ports, by, who).await.unwrap();
    let split = cais_domain::merchant::account::Features::parse("split").unwrap();
    features::set(ports, by, who, split, cais_domain::merchant::account::Features::default()).await.unwrap();
    let rule = FeeRule::try_new(Money::from_centavos(50), cais_domain::rate::Percentage::zero(), None, None).unwrap();
    fees::set(ports, by, who, Operation::PixIn, &rule).await.unwrap();
    limits::set(ports, by, who, Some(Money::from_centavos(100)), None).await.unwrap();
    release_delay::set(ports, by, who, 60).await.unwrap();
    let spread = cais_domain::crypto::rate::parse_spread("1.5").unwrap();
    crypto_spread::set(ports, by, who, Some(spread)).await.unwrap();
    let backup = cais_domain::acquirer_name::AcquirerName::parse("backup").unwrap();
    acquirers::set(ports, by, who, &[backup]).await.unwrap();
    let command = CreateKey {
        email: email(EMAIL),
        name: name("till"),
        scopes: Scopes::all(),
        expires_in_days: None,
        allowed_addresses: Vec::new(),
    };
    let key = create(ports, by, command).await.unwrap();
    revoke(ports, by, &key.record.prefix).await.unwrap();

    let rows = rows(&bed).await;
    let actions: Vec<&str> = rows.iter().map(|row| row.action.as_str()).collect();
    let expected = "account.create account.reject account.approve account.suspend account.resume account.features \
        account.fees account.limits account.release_delay account.crypto_spread account.acquirers key.create key.revoke";
    assert_eq!(actions, expected.split_whitespace().collect::<Vec<_>>());
    for row in &rows {
        assert_eq!((&row.operator, row.account), (by, Some(account.id)), "{row:?}");
        assert_eq!(row.before.is_none(), row.action.ends_with(".create"), "{row:?}");
        assert!(!format!("{row:?}").contains(key.token.secret.expose()), "no secret is written");
    }
    let suspended = rows.get(3).unwrap();
    assert!(suspended.before.as_deref().unwrap().contains(r#""status":"active""#), "{suspended:?}");
    assert!(suspended.after.as_deref().unwrap().contains(r#""status":"suspended""#), "{suspended:?}");
}

#[tokio::test]
async fn command_without_effect_writes_no_audit_row() {
    let bed = TestBed::with_account().await;
    approve::approve(&bed.ports, &operator(), &email(EMAIL)).await.unwrap();
    assert_eq!(rows(&bed).await.len(), 1, "only the opening has a row");
}

#[tokio::test]
async fn repeated_change_after_race_records_replaced_state() {
    let bed = TestBed::with_account().await;
    suspend::suspend(&bed.raced(1), &operator(), &email(EMAIL)).await.unwrap();
    let rows = rows(&bed).await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.last().unwrap().before.as_deref().unwrap().contains("split"), "{rows:?}");
}

#[tokio::test]
async fn drain_and_its_end_write_one_audit_row_each() {
    let bed = TestBed::new();
    let (ports, by) = (&bed.ports, &operator());
    let main = cais_domain::acquirer_name::AcquirerName::parse("main").unwrap();
    assert_eq!(acquirer_drain::end(ports, by, &main).await.unwrap().version, 0, "nothing to end");
    let began = acquirer_drain::begin(ports, by, &main).await.unwrap();
    assert_eq!(acquirer_drain::begin(ports, by, &main).await.unwrap(), began);
    assert_eq!(acquirer_drain::drained(ports).await.unwrap(), std::slice::from_ref(&main));
    acquirer_drain::end(ports, by, &main).await.unwrap();
    assert_eq!(acquirer_drain::drained(ports).await.unwrap(), []);
    acquirer_drain::begin(ports, by, &main).await.unwrap();
    let rows = rows(&bed).await;
    let actions: Vec<&str> = rows.iter().map(|row| row.action.as_str()).collect();
    assert_eq!(actions, ["acquirer.drain", "acquirer.undrain", "acquirer.drain"]);
    let first = rows.first().unwrap();
    assert_eq!((first.subject.as_str(), first.account), ("main", None));
    assert_eq!(first.before.as_deref(), Some(r#"{"acquirer":"main","drained_since":null}"#));
    let after: serde_json::Value = serde_json::from_str(first.after.as_deref().unwrap()).unwrap();
    assert!(after.get("drained_since").is_some_and(serde_json::Value::is_string), "{after}");
}

#[tokio::test]
async fn concurrent_first_drains_write_one_audit_row() {
    let bed = TestBed::new();
    let main = cais_domain::acquirer_name::AcquirerName::parse("main").unwrap();
    let (other, name) = (bed.ports.clone(), main.clone());
    let raced = bed.before_commits(once(move || {
        acquirer_drain::begin(&other, &operator(), &name).now_or_never().unwrap().unwrap();
    }));
    let began = acquirer_drain::begin(&raced.ports, &operator(), &main).await.unwrap();
    assert_eq!((began.version, rows(&bed).await.len()), (1, 1));
}
