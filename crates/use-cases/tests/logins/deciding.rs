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

use crate::world::{EMAIL, World, browser, name};

const OPERATOR: &str = "ops@cais.example";

/// Returns the newest infraction.
fn last(world: &World) -> Infraction {
    world.store.infractions().pop().unwrap()
}

/// Disputes R$ 6.00 of a Pix of R$ 10.00. R$ 2.00 is returned, and the dispute is rejected.
async fn in_review(world: &World) -> (Visitor, cais_testkit::World) {
    let (visitor, base) = world.shop(EMAIL).await;
    let (_, pix) = base.paid(1_000).await;
    let id = base.psp.dispute(&pix, 600);
    assert_eq!(poll::run_once(&base.ports).await.unwrap().done, 1);
    base.psp.take_back(&pix, 200);
    base.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(poll::run_once(&base.ports).await.unwrap().done, 1);
    assert!(last(world).needs_review());
    (visitor, base)
}

fn on(infraction: &Infraction, decision: InfractionDecision) -> PendingAction {
    let decision = ReviewDecision::Infraction { id: infraction.id, seen: infraction.version, decision };
    PendingAction::Decide { decision, note: name("asked \"them\"") }
}

const fn lost(centavos: i64) -> InfractionDecision {
    InfractionDecision::Lost(Some(Money::from_centavos(centavos)))
}

async fn begun(world: &World, operator: &Visitor, action: PendingAction) -> ConfirmationId {
    begin(&world.logins, operator, action).await.unwrap()
}

async fn with(world: &World, visitor: &Visitor, id: ConfirmationId, ahead: i64) -> Result<Confirmed, LoginError> {
    confirm(&world.logins, &browser(), visitor, id, &world.code(&visitor.user, ahead)).await
}

async fn audited(world: &World) -> Vec<String> {
    let account = Some(last(world).account);
    let filter = AuditFilter { operator: Some(OPERATOR.to_owned()), account, action: None };
    let rows = world.store.list_audit(filter, PageRequest { limit: 9, starting_after: None }).await.unwrap().rows;
    assert!(rows.iter().all(|row| row.operator.source == "dashboard" && row.operator.host == "192.0.2.7"));
    rows.into_iter().map(|row| row.action).collect()
}

#[tokio::test]
async fn decision_is_stored_with_its_code_and_audit_row() {
    let world = World::new();
    let (_, base) = in_review(&world).await;
    let operator = world.operator(OPERATOR).await;
    let before = last(&world);
    let id = begun(&world, &operator, on(&before, lost(200))).await;
    let wrong = confirm(&world.logins, &browser(), &operator, id, "000000").await.unwrap_err();
    assert_eq!((wrong, last(&world)), (LoginError::Refused, before.clone()), "not without a code");
    world.store.crash_at(1, Crash::Before);
    assert!(matches!(with(&world, &operator, id, 0).await, Err(LoginError::Store(_))));
    assert_eq!((last(&world), audited(&world).await.len()), (before, 0), "an interrupted commit leaves nothing");
    let available = base.available();
    assert!(matches!(with(&world, &operator, id, 0).await, Ok(Confirmed::InfractionResolved(_))));
    assert_eq!(last(&world).state.status(), InfractionStatus::Lost);
    assert_eq!(base.available(), available + 400, "the rest of R$ 6.00");
    assert_eq!(audited(&world).await, ["infraction.resolve"]);
    assert_eq!(with(&world, &operator, id, 1).await.unwrap_err(), LoginError::Over, "once");
    assert_eq!(base.available(), available + 400);
}

#[tokio::test]
async fn refused_decision_changes_nothing_and_keeps_its_code() {
    let world = World::new();
    let (merchant, _) = in_review(&world).await;
    let operator = world.operator(OPERATOR).await;
    let first = begun(&world, &operator, on(&last(&world), InfractionDecision::Won)).await;
    let second = begun(&world, &operator, on(&last(&world), lost(100))).await;
    with(&world, &operator, first, 0).await.unwrap();
    let decided = last(&world);
    let refused = ResolveError::NotMarked(InfractionStatus::Won);
    let refused = LoginError::Decision(DecisionError::Infraction(refused));
    assert_eq!(with(&world, &operator, second, 1).await.unwrap_err(), refused);
    assert_eq!((last(&world), audited(&world).await.len()), (decided, 1));
    let account = merchant.session.account.unwrap();
    let seen = world.store.find_account(account).await.unwrap().unwrap().version;
    let suspend = PendingAction::ChangeAccount { account, seen, change: AccountChange::Suspend };
    let other = begun(&world, &operator, suspend).await;
    with(&world, &operator, other, 1).await.unwrap();
}

#[tokio::test]
async fn decision_on_an_older_infraction_is_refused() {
    let world = World::new();
    in_review(&world).await;
    let operator = world.operator(OPERATOR).await;
    let before = last(&world);
    let older = Infraction { version: before.version - 1, ..before.clone() };
    let id = begun(&world, &operator, on(&older, InfractionDecision::Won)).await;
    let refused = LoginError::Decision(DecisionError::Infraction(ResolveError::Changed));
    assert_eq!(with(&world, &operator, id, 0).await.unwrap_err(), refused);
    assert_eq!(last(&world), before);
}

#[tokio::test]
async fn lost_decision_takes_blocks_of_older_disputes() {
    let world = World::new();
    let (_, base) = world.shop(EMAIL).await;
    let (_, pix) = base.paid(1_000).await;
    base.psp.dispute(&pix, 1_000);
    let younger = base.psp.dispute(&pix, 600);
    poll::run_once(&base.ports).await.unwrap();
    let text = parse_defense_text("Entregue.").unwrap();
    defend(&base.ports, &base.account, last(&world).id, text, None).await.unwrap();
    world.clock.advance(Duration::from_mins(5));
    base.psp.reopen_now(&younger);
    poll::run_once(&base.ports).await.unwrap();
    assert!(last(&world).needs_review() && last(&world).limit.is_zero());
    let operator = world.operator(OPERATOR).await;
    let id = begun(&world, &operator, on(&last(&world), lost(500))).await;
    with(&world, &operator, id, 0).await.unwrap();
    assert_eq!(last(&world).state.status(), InfractionStatus::Lost);
    assert_eq!(audited(&world).await, ["infraction.resolve", "infraction.take_precedence"]);
}

#[tokio::test]
async fn decision_of_a_merchant_is_refused() {
    let world = World::new();
    let (merchant, _) = in_review(&world).await;
    let action = on(&last(&world), InfractionDecision::Won);
    assert_eq!(begin(&world.logins, &merchant, action).await.unwrap_err(), LoginError::Over);
}
