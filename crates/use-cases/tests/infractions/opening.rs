//! A dispute is opened: the available money is blocked at once, whatever happened to the Pix before.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_domain::infraction::InfractionStatus;
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_ports::{UpstreamInfractionStatus, UpstreamProgress};
use cais_testkit::builders::an_account;
use cais_testkit::hooked::once;
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};
use cais_use_cases::{refunds, releases};

use crate::world::World;

#[tokio::test]
async fn dispute_blocks_at_once_and_publishes_events() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    world.paid(300).await;
    let id = world.psp.dispute(&pix, 700);
    assert_eq!(world.poll().await, 1);
    assert_eq!(world.money(), [600, 0, 700]);
    assert_eq!(world.event_types(), [EventType::InfractionOpened]);
    let infraction = world.last();
    assert_eq!((infraction.charge, infraction.end_to_end_id, infraction.upstream_id), (charge.id, pix, id));
    assert_eq!(infraction.reason.as_deref(), Some("Não reconheço"));
    let event = world.store.events(world.account.id).pop().unwrap().event;
    assert_eq!((event.resource, event.postback), (infraction.id.to_string(), None));
    assert_eq!(world.charge(charge.id).open_infractions, 1);
    world.check().await;
}

#[tokio::test]
async fn repeated_report_changes_nothing() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    let before = (world.all(), world.store.commits());
    assert_eq!(world.poll().await, 0);
    world.call_back(&id).await;
    assert_eq!(world.all(), before.0);
    assert_eq!(world.event_types(), [EventType::InfractionOpened]);
    world.check().await;
}

#[tokio::test]
async fn later_credits_top_up_oldest_shortfall_first() {
    let world = World::new().await;
    let (_, one) = world.paid(1_000).await;
    let (_, two) = world.paid(500).await;
    world.spend_all_but(100).await;
    world.psp.dispute(&one, 1_000);
    world.poll().await;
    world.psp.dispute(&two, 500);
    world.poll().await;
    assert_eq!(world.money(), [0, 0, 100]);
    world.paid(1_100).await;
    assert_eq!(world.money(), [0, 0, 1_200]);
    let held: Vec<i64> = world.store.blocks().iter().map(|block| block.held.centavos()).collect();
    assert_eq!(held, [1_000, 200]);
    world.paid(1_000).await;
    assert_eq!(world.money(), [700, 0, 1_500]);
    world.check().await;
}

#[tokio::test]
async fn pending_money_is_seized_after_available_and_released_once() {
    let world = World::with(Account { release_delay_s: 600, ..an_account() }).await;
    let (_, pix) = world.paid(1_000).await;
    world.clock.advance(Duration::from_secs(601));
    releases::run_once(&world.ports).await.unwrap();
    world.spend_all_but(300).await;
    world.paid(900).await;
    world.psp.dispute(&pix, 1_000);
    world.poll().await;
    assert_eq!(world.money(), [0, 200, 1_000]);
    world.check().await;
    world.clock.advance(Duration::from_secs(601));
    releases::run_once(&world.ports).await.unwrap();
    assert_eq!(world.money(), [200, 0, 1_000]);
    world.check().await;
}

#[tokio::test]
async fn report_before_payment_credits_payment_first() {
    let world = World::new().await;
    let charge = world.pending(1_000).await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    world.psp.dispute(&pix, 1_000);
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Pending);
    assert_eq!(world.poll().await, 1);
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Paid);
    assert_eq!((world.money(), world.statuses()), ([0, 0, 1_000], vec![InfractionStatus::Open]));
    world.check().await;
}

#[tokio::test]
async fn dispute_of_refunded_charge_blocks_the_rest_and_ends() {
    let world = World::new().await;
    for (refunded, held) in [(1_000, 0), (400, 600)] {
        let (charge, pix) = world.paid(1_000).await;
        world.refund(&format!("refund-{refunded}"), charge.id, refunded).await.unwrap();
        world.psp.settle_open(&UpstreamProgress::Done { at: None });
        world.clock.advance(Duration::from_secs(2));
        assert_eq!(refunds::poll::run_once(&world.ports).await.unwrap().done, 1);
        let id = world.psp.dispute(&pix, 1_000);
        world.poll().await;
        assert_eq!(world.money()[2], held);
        world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        world.poll().await;
        assert_eq!((world.last().state.status(), world.money()[2]), (InfractionStatus::Lost, 0));
        let charge = world.charge(charge.id);
        assert_eq!((charge.state.status(), charge.refunds.done.centavos()), (ChargeStatus::Refunded, 1_000));
        world.check().await;
    }
}

#[tokio::test]
async fn open_dispute_stops_refunds_and_blocks_failed_ones() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    world.refund("before", charge.id, 400).await.unwrap();
    world.psp.dispute(&pix, 1_000);
    world.poll().await;
    assert_eq!(world.money(), [0, 0, 600]);
    assert_eq!(
        world.refund("during", charge.id, 100).await,
        Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen))
    );
    world.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    world.clock.advance(Duration::from_secs(2));
    refunds::poll::run_once(&world.ports).await.unwrap();
    assert_eq!(
        (world.money(), world.last().limit.centavos()),
        ([0, 0, 1_000], 1_000),
        "the money is blocked without a gap"
    );
    assert_eq!(world.poll().await, 0);
    world.check().await;
}

#[tokio::test]
async fn failed_full_refund_is_blocked_at_once_for_open_disputes() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    let extra = world.psp.pay(&charge.txid, 250);
    world.refund("before", charge.id, 1_000).await.unwrap();
    for (disputed, centavos) in [(&extra, 250), (&pix, 700), (&pix, 700)] {
        world.psp.dispute(disputed, centavos);
        world.poll().await;
    }
    let limits = |world: &World| world.all().iter().map(|one| one.limit.centavos()).collect::<Vec<_>>();
    assert_eq!((world.money(), limits(&world)), ([0, 0, 250], vec![250, 0, 0]));
    world.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    world.clock.advance(Duration::from_secs(2));
    // During the decision, one of the infractions is defended. So the commit fails with `Stale`, and the decision is
    // repeated.
    let other = world.clone();
    let id = world.psp.infractions()[1].id.clone();
    let beside = world.before_commits(once(move || {
        other.psp.receive_defense(&id, "Entregue.");
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
    }));
    let events_before = world.store.events(world.account.id).len();
    assert_eq!(refunds::poll::run_once(&beside.ports).await.unwrap().done, 1);
    assert_eq!((world.money(), limits(&world)), ([0, 0, 1_250], vec![250, 700, 300]));
    assert_eq!(world.store.events(world.account.id).len(), events_before + 2, "reviewed and failed, each once");
    world.check().await;
}

#[tokio::test]
async fn failed_refund_of_undisputed_pix_is_available() {
    let world = World::new().await;
    let (charge, _) = world.paid(1_000).await;
    world.refund("before", charge.id, 1_000).await.unwrap();
    let extra = world.psp.pay(&charge.txid, 250);
    world.psp.dispute(&extra, 250);
    world.poll().await;
    world.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(refunds::poll::run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!(world.money(), [1_000, 0, 250]);
    world.check().await;
}

#[tokio::test]
async fn payment_beyond_charge_amount_can_be_disputed() {
    let world = World::new().await;
    let (charge, _) = world.paid(1_000).await;
    let extra = world.psp.pay(&charge.txid, 250);
    let id = world.psp.dispute(&extra, 250);
    world.poll().await;
    assert_eq!(world.money(), [1_000, 0, 250], "the payment was credited and blocked");
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    assert_eq!(world.money(), [1_000, 0, 0]);
    let charge = world.charge(charge.id);
    assert_eq!((charge.refunds.done, charge.open_infractions), (Money::ZERO, 0), "the charge itself is whole");
    world.check().await;
}

#[tokio::test]
async fn refund_of_extra_payment_in_flight_limits_its_dispute() {
    let world = World::new().await;
    let (charge, _) = world.paid(1_000).await;
    let extra = world.psp.pay(&charge.txid, 250);
    world.psp.dispute(&extra, 1);
    world.poll().await;
    let first = world.last();
    world.psp.settle(&first.upstream_id, UpstreamInfractionStatus::Rejected);
    world.poll().await;
    assert_eq!(world.money(), [1_250, 0, 0]);
    let of = (charge.id, Some(extra.clone()));
    world.refund_payment("before", of.clone(), 100).await.unwrap();
    world.psp.dispute(&extra, 250);
    world.poll().await;
    assert_eq!(world.money(), [1_000, 0, 150], "money of a refund cannot be blocked");
    assert_eq!(
        world.refund_payment("during", of.clone(), 50).await,
        Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen))
    );
    world.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    world.clock.advance(Duration::from_secs(2));
    refunds::poll::run_once(&world.ports).await.unwrap();
    assert_eq!(
        (world.money(), world.last().limit.centavos()),
        ([1_000, 0, 250], 250),
        "the money is blocked without a gap"
    );
    let id = world.last().upstream_id;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    let none = Money::ZERO;
    assert_eq!(
        world.refund_payment("after", of, 1).await,
        Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: none }))
    );
    world.check().await;
}

#[tokio::test]
async fn two_disputes_on_one_pix_share_its_amount() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    world.paid(5_000).await;
    let first = world.psp.dispute(&pix, 700);
    world.poll().await;
    let second = world.psp.dispute(&pix, 700);
    world.poll().await;
    assert_eq!(world.money(), [5_000, 0, 1_000]);
    world.psp.settle(&first, UpstreamInfractionStatus::Rejected);
    world.poll().await;
    assert_eq!(world.money(), [5_300, 0, 700]);
    world.psp.settle(&second, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    assert_eq!(world.money(), [5_300, 0, 0]);
    assert_eq!(world.charge(charge.id).refunds.done.centavos(), 700);
    assert_eq!(world.statuses(), [InfractionStatus::Won, InfractionStatus::Lost]);
    world.check().await;
}

#[tokio::test]
async fn changed_amount_and_deadline_are_applied() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.change(&id, |row| {
        row.amount = Money::from_centavos(400);
        row.reason = Some("Golpe\n do\u{1} falso \u{0}motoboy".to_owned());
        row.deadline_at = row.deadline_at.map(|at| at + Duration::from_hours(1));
    });
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.money(), world.last().limit.centavos()), ([600, 0, 400], 400));
    assert_eq!(world.last().reason.as_deref(), Some("Golpe\n do  falso  motoboy"));
    assert_eq!(world.poll().await, 0, "an applied row changes nothing again");
    world.check().await;
}

#[tokio::test]
async fn instants_are_truncated_so_repeated_reports_are_equal() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at + Duration::from_nanos(1)));
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    let deadline = world.last().deadline_at.unwrap();
    world.poll().await;
    let ended = world.last().state.resolved_at().unwrap();
    assert_eq!([deadline, ended].map(|at| at.as_nanosecond() % 1_000), [0, 0]);
}
