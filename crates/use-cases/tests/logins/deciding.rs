//! An operator decides records in review with a new code. Code, decision and audit row are stored together.

use std::time::Duration;

use cais_domain::ids::ConfirmationId;
use cais_domain::infraction::{Infraction, InfractionStatus, parse_defense_text};
use cais_domain::merchant::account_change::AccountChange;
use cais_domain::money::Money;
use cais_domain::review_decision::{InfractionDecision, ReviewDecision};
use cais_ports::{
    AccountQueries as _, AuditFilter, AuditQueries as _, PageRequest, PendingAction, UpstreamInfractionStatus,
};
use cais_testkit::Crash;
use cais_use_cases::infractions::defend::defend;
use cais_use_cases::infractions::poll;
use cais_use_cases::infractions::resolve::ResolveError;
use cais_use_cases::logins::begin::begin;
use cais_use_cases::logins::confirm::{Confirmed, confirm};
use cais_use_cases::logins::{DecisionError, LoginError, Visitor};

use crate::bed::{EMAIL, TestBed, browser, name};

const OPERATOR: &str = "ops@cais.example";

/// Returns the newest infraction.
fn last(bed: &TestBed) -> Infraction {
    bed.store.infractions().pop().unwrap()
}

/// Disputes R$ 6.00 of a Pix of R$ 10.00. R$ 2.00 is returned, and the dispute is rejected.
async fn in_review(bed: &TestBed) -> (Visitor, cais_testkit::TestBed) {
    let (visitor, base) = bed.shop(EMAIL).await;
    let (_, pix) = base.paid(1_000).await;
    let id = base.psp.dispute(&pix, 600);
    assert_eq!(poll::run_once(&base.ports).await.unwrap().done, 1);
    base.psp.complete_infraction_return(&pix, 200);
    base.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(poll::run_once(&base.ports).await.unwrap().done, 1);
    assert!(last(bed).needs_review());
    (visitor, base)
}

fn on(infraction: &Infraction, decision: InfractionDecision) -> PendingAction {
    let decision = ReviewDecision::Infraction { id: infraction.id, seen: infraction.version, decision };
    PendingAction::Decide { decision, note: name("asked \"them\"") }
}

const fn lost(centavos: i64) -> InfractionDecision {
    InfractionDecision::Lost(Some(Money::from_centavos(centavos)))
}

async fn begun(bed: &TestBed, operator: &Visitor, action: PendingAction) -> ConfirmationId {
    begin(&bed.logins, operator, action).await.unwrap()
}

async fn with(bed: &TestBed, visitor: &Visitor, id: ConfirmationId, ahead: i64) -> Result<Confirmed, LoginError> {
    confirm(&bed.logins, &browser(), visitor, id, &bed.code(&visitor.user, ahead)).await
}

async fn audited(bed: &TestBed) -> Vec<String> {
    let account = Some(last(bed).account);
    let filter = AuditFilter { operator: Some(OPERATOR.to_owned()), account, action: None };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 9, starting_after: None }).await.unwrap().rows;
    assert!(rows.iter().all(|row| row.operator.source == "dashboard" && row.operator.host == "192.0.2.7"));
    rows.into_iter().map(|row| row.action).collect()
}

#[tokio::test]
async fn decision_is_stored_with_its_code_and_audit_row() {
    let bed = TestBed::new();
    let (_, base) = in_review(&bed).await;
    let operator = bed.operator(OPERATOR).await;
    let before = last(&bed);
    let id = begun(&bed, &operator, on(&before, lost(200))).await;
    let wrong = confirm(&bed.logins, &browser(), &operator, id, "000000").await.unwrap_err();
    assert_eq!((wrong, last(&bed)), (LoginError::Refused, before.clone()), "not without a code");
    bed.store.crash_at(1, Crash::Before);
    assert!(matches!(with(&bed, &operator, id, 0).await, Err(LoginError::Store(_))));
    assert_eq!((last(&bed), audited(&bed).await.len()), (before, 0), "an interrupted commit leaves nothing");
    let available = base.available();
    assert!(matches!(with(&bed, &operator, id, 0).await, Ok(Confirmed::InfractionResolved(_))));
    assert_eq!(last(&bed).state.status(), InfractionStatus::Lost);
    assert_eq!(base.available(), available + 400, "the rest of R$ 6.00");
    assert_eq!(audited(&bed).await, ["infraction.resolve"]);
    assert_eq!(with(&bed, &operator, id, 1).await.unwrap_err(), LoginError::Over, "once");
    assert_eq!(base.available(), available + 400);
}

#[tokio::test]
async fn refused_decision_changes_nothing_and_keeps_its_code() {
    let bed = TestBed::new();
    let (merchant, _) = in_review(&bed).await;
    let operator = bed.operator(OPERATOR).await;
    let first = begun(&bed, &operator, on(&last(&bed), InfractionDecision::Won)).await;
    let second = begun(&bed, &operator, on(&last(&bed), lost(100))).await;
    with(&bed, &operator, first, 0).await.unwrap();
    let decided = last(&bed);
    let refused = ResolveError::NotMarked(InfractionStatus::Won);
    let refused = LoginError::Decision(DecisionError::Infraction(refused));
    assert_eq!(with(&bed, &operator, second, 1).await.unwrap_err(), refused);
    assert_eq!((last(&bed), audited(&bed).await.len()), (decided, 1));
    let account = merchant.session.account.unwrap();
    let seen = bed.store.find_account(account).await.unwrap().unwrap().version;
    let suspend = PendingAction::ChangeAccount { account, seen, change: AccountChange::Suspend };
    let other = begun(&bed, &operator, suspend).await;
    with(&bed, &operator, other, 1).await.unwrap();
}

#[tokio::test]
async fn decision_on_an_older_infraction_is_refused() {
    let bed = TestBed::new();
    in_review(&bed).await;
    let operator = bed.operator(OPERATOR).await;
    let before = last(&bed);
    let older = Infraction { version: before.version - 1, ..before.clone() };
    let id = begun(&bed, &operator, on(&older, InfractionDecision::Won)).await;
    let refused = LoginError::Decision(DecisionError::Infraction(ResolveError::Changed));
    assert_eq!(with(&bed, &operator, id, 0).await.unwrap_err(), refused);
    assert_eq!(last(&bed), before);
}

#[tokio::test]
async fn lost_decision_takes_blocks_of_older_disputes() {
    let bed = TestBed::new();
    let (_, base) = bed.shop(EMAIL).await;
    let (_, pix) = base.paid(1_000).await;
    base.psp.dispute(&pix, 1_000);
    let younger = base.psp.dispute(&pix, 600);
    poll::run_once(&base.ports).await.unwrap();
    let text = parse_defense_text("Entregue.").unwrap();
    defend(&base.ports, &base.account, last(&bed).id, text, None).await.unwrap();
    bed.clock.advance(Duration::from_mins(5));
    base.psp.reopen_now(&younger);
    poll::run_once(&base.ports).await.unwrap();
    assert!(last(&bed).needs_review() && last(&bed).limit.is_zero());
    let operator = bed.operator(OPERATOR).await;
    let id = begun(&bed, &operator, on(&last(&bed), lost(500))).await;
    with(&bed, &operator, id, 0).await.unwrap();
    assert_eq!(last(&bed).state.status(), InfractionStatus::Lost);
    assert_eq!(audited(&bed).await, ["infraction.resolve", "infraction.take_precedence"]);
}

#[tokio::test]
async fn decision_of_a_merchant_is_refused() {
    let bed = TestBed::new();
    let (merchant, _) = in_review(&bed).await;
    let action = on(&last(&bed), InfractionDecision::Won);
    assert_eq!(begin(&bed.logins, &merchant, action).await.unwrap_err(), LoginError::Over);
}
