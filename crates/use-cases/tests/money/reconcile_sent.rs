//! Compares sent Pix with stored payouts, in both directions.

use std::time::Duration;

use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Clock as _, ReturnedPart, Store as _, UpstreamPayout, UpstreamProgress};
use cais_testkit::builders::{a_payout, a_recipient, a_return_id, an_end_to_end_id, fresh, start, steps};
use cais_testkit::psp::{Listing, Looking};
use cais_use_cases::reconcile::DifferenceKind;

use crate::reconcile_received::{compare, kinds};
use crate::world::{LONG, World};

pub const DONE: UpstreamProgress = UpstreamProgress::Done { at: None };

/// Returns the only payout.
pub fn only(world: &World) -> Payout {
    let payouts = world.store.payouts();
    assert_eq!(payouts.len(), 1);
    payouts[0].clone()
}

/// Creates a payout of R$ 10.00 with this status and the matching balances.
pub async fn paid_out(status: PayoutStatus) -> World {
    let world = World::new().await;
    world.give(2_000).await;
    let payout = a_payout(world.account.id);
    world.store.commit(steps::open_payout(&payout)).await.unwrap();
    let at = start();
    match status {
        PayoutStatus::Pending => {}
        PayoutStatus::Abandoned => drop(world.store.commit(steps::abandon_payout(&only(&world), at)).await.unwrap()),
        PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => {
            world.store.commit(steps::send_payout(&only(&world), at)).await.unwrap();
        }
    }
    match status {
        PayoutStatus::Completed | PayoutStatus::Reversed => {
            let complete = steps::complete_payout(&only(&world), an_end_to_end_id(), at);
            world.store.commit(complete).await.unwrap();
        }
        PayoutStatus::Failed => drop(world.store.commit(steps::fail_payout(&only(&world), at)).await.unwrap()),
        PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Processing => {}
    }
    if status == PayoutStatus::Reversed {
        let back = steps::take_back(&only(&world), 1_000, a_return_id(), at);
        world.store.commit(back).await.unwrap();
    }
    assert_eq!(only(&world).state.status(), status);
    world.clock.advance(LONG);
    world
}

pub fn upstream(instruction_id: InstructionId, centavos: i64, progress: UpstreamProgress) -> UpstreamPayout {
    let end_to_end_id = Some(an_end_to_end_id());
    let amount = Money::from_centavos(centavos);
    UpstreamPayout {
        instruction_id,
        end_to_end_id,
        amount,
        recipient: a_recipient(),
        progress,
        awaits_approval: false,
        returned: Vec::new(),
    }
}

pub fn part(world: &World, centavos: i64) -> ReturnedPart {
    ReturnedPart { return_id: a_return_id(), amount: Money::from_centavos(centavos), at: world.clock.now() }
}

#[tokio::test]
async fn matching_payout_is_no_difference() {
    let failed = UpstreamProgress::Failed { reason: None };
    for (status, progress) in [
        (PayoutStatus::Pending, UpstreamProgress::Processing),
        (PayoutStatus::Processing, UpstreamProgress::Processing),
        (PayoutStatus::Completed, DONE),
        (PayoutStatus::Failed, failed.clone()),
        (PayoutStatus::Abandoned, failed),
    ] {
        let world = paid_out(status).await;
        world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, progress));
        let report = compare(&world, true).await;
        assert_eq!((report.differences, report.sent), (vec![], 1), "{status:?}");
    }
}

#[tokio::test]
async fn missed_payout_outcome_is_applied() {
    for status in [PayoutStatus::Pending, PayoutStatus::Processing] {
        let world = paid_out(status).await;
        world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, DONE));
        assert_eq!(kinds(&compare(&world, false).await), [(DifferenceKind::PayoutOutcome, false)]);
        assert_eq!(only(&world).state.status(), status);
        assert_eq!(kinds(&compare(&world, true).await), [(DifferenceKind::PayoutOutcome, true)]);
        assert_eq!((only(&world).state.status(), world.in_transit()), (PayoutStatus::Completed, 0));
        world.check().await;
    }
}

#[tokio::test]
async fn missed_payout_return_is_credited() {
    let world = paid_out(PayoutStatus::Completed).await;
    let before = world.available();
    let returned = vec![part(&world, 400)];
    world.psp.hold_payout(UpstreamPayout { returned, ..upstream(only(&world).instruction_id(), 1_000, DONE) });
    let report = compare(&world, false).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutOutcome, false)]);
    assert_eq!(report.differences[0].theirs.as_deref(), Some("completed, 4.00 returned"));
    assert_eq!(kinds(&compare(&world, true).await), [(DifferenceKind::PayoutOutcome, true)]);
    assert_eq!(world.available(), before + 400);
    assert_eq!(compare(&world, true).await.differences, []);
    world.check().await;
}

#[tokio::test]
async fn known_payout_outcome_is_never_reversed() {
    let failed = UpstreamProgress::Failed { reason: None };
    for (status, progress) in [
        (PayoutStatus::Completed, failed.clone()),
        (PayoutStatus::Completed, UpstreamProgress::Processing),
        (PayoutStatus::Reversed, failed),
        (PayoutStatus::Reversed, DONE),
        (PayoutStatus::Failed, DONE),
        (PayoutStatus::Failed, UpstreamProgress::Processing),
        (PayoutStatus::Abandoned, DONE),
        (PayoutStatus::Abandoned, UpstreamProgress::Processing),
    ] {
        let world = paid_out(status).await;
        let before = (only(&world), world.available());
        world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, progress.clone()));
        let report = compare(&world, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::PayoutOutcome, false)], "{status:?} {progress:?}");
        assert_eq!((only(&world), world.available()), before);
        world.check().await;
    }
}

#[tokio::test]
async fn payout_with_other_amount_is_reported_and_unchanged() {
    let world = paid_out(PayoutStatus::Processing).await;
    world.psp.hold_payout(upstream(only(&world).instruction_id(), 999, DONE));
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutAmount, false)]);
    assert_eq!(only(&world).state.status(), PayoutStatus::Processing);
}

#[tokio::test]
async fn sent_pix_without_payout_is_reported() {
    let world = World::new().await;
    let unknown = |name: &str| upstream(InstructionId::parse(name).unwrap(), 100, DONE);
    world.psp.hold_payout(unknown("byhand1"));
    world.psp.hold_payout(unknown(&fresh::<cais_domain::ids::kind::Payout>().suffix()));
    let failed = UpstreamPayout { progress: UpstreamProgress::Failed { reason: None }, ..unknown("byhand2") };
    world.psp.hold_payout(failed);
    let unknown_payout = (DifferenceKind::PayoutUnknown, false);
    assert_eq!(kinds(&compare(&world, true).await), [unknown_payout, unknown_payout]);
}

#[tokio::test]
async fn payout_sent_by_second_acquirer_is_reported() {
    let world = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&world).instruction_id(), 1_000, DONE);
    world.psp.hold_payout(sent.clone());
    world.second.hold_payout(sent);
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutUnknown, false)]);
    assert_eq!((&report.differences[0].acquirer, report.differences[0].resource.is_some()), (&world.second.name, true));
}

#[tokio::test]
async fn payout_missing_upstream_is_reported() {
    for (status, missed) in [
        (PayoutStatus::Pending, false),
        (PayoutStatus::Abandoned, false),
        (PayoutStatus::Processing, true),
        (PayoutStatus::Completed, true),
        (PayoutStatus::Failed, false),
        (PayoutStatus::Reversed, true),
    ] {
        let world = paid_out(status).await;
        let before = only(&world);
        let report = compare(&world, true).await;
        let expected: &[_] = if missed { &[(DifferenceKind::PayoutNotListed, false)] } else { &[] };
        assert_eq!(kinds(&report), expected, "{status:?}");
        assert_eq!(only(&world), before, "the payout is neither sent nor failed");
    }
}

#[tokio::test]
async fn unlisted_payout_is_looked_up_before_it_is_reported() {
    let world = paid_out(PayoutStatus::Processing).await;
    world.clock.set(start() + jiff::SignedDuration::from_mins(4));
    assert_eq!(compare(&world, true).await.differences, [], "a list may lag");
    world.clock.advance(Duration::from_mins(2));
    world.psp.set_listing(Listing::Empty);
    world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, DONE));
    world.psp.set_looking(Looking::Silent);
    let report = compare(&world, true).await;
    assert_eq!((report.differences, report.unread.len()), (vec![], 1));
    world.psp.set_looking(Looking::Tells);
    let report = compare(&world, true).await;
    assert_eq!(
        kinds(&report),
        [(DifferenceKind::PayoutOutcome, true)],
        "the acquirer has the payout, and the Pix arrived"
    );
    assert_eq!(only(&world).state.status(), PayoutStatus::Completed);
}

#[tokio::test]
async fn acquirer_without_payouts_is_not_read_for_sent_pix() {
    let world = World::new().await;
    let mut mock = cais_ports::acquirer::MockAcquirer::new();
    mock.expect_sends_payouts().return_const(false);
    mock.expect_list_received().returning(|_, _| Ok(cais_ports::UpstreamPage::new(Vec::new(), None)));
    let acquirer: std::sync::Arc<dyn cais_ports::Acquirer> = std::sync::Arc::new(mock);
    let mut acquirers = cais_ports::acquirers::MockAcquirers::new();
    acquirers.expect_names().return_const(vec![world.psp.name.clone()]);
    acquirers.expect_named().returning(move |_| Some(acquirer.clone()));
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(acquirers), ..world.ports.clone() };
    let until = world.clock.advance(LONG);
    let report = cais_use_cases::reconcile::run(&ports, start(), until, true, &|_| {}).await.unwrap();
    assert_eq!(report, cais_use_cases::reconcile::Report::default());
}
