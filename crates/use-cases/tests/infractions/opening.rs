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

use crate::bed::TestBed;

#[tokio::test]
async fn dispute_blocks_at_once_and_publishes_events() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    bed.paid(300).await;
    let id = bed.psp.dispute(&pix, 700);
    assert_eq!(bed.poll().await, 1);
    assert_eq!(bed.money(), [600, 0, 700]);
    assert_eq!(bed.event_types(), [EventType::InfractionOpened]);
    let infraction = bed.last();
    assert_eq!((infraction.charge, infraction.end_to_end_id, infraction.upstream_id), (charge.id, pix, id));
    assert_eq!(infraction.reason.as_deref(), Some("Não reconheço"));
    let event = bed.store.events(bed.account.id).pop().unwrap().event;
    assert_eq!((event.resource, event.postback), (infraction.id.to_string(), None));
    assert_eq!(bed.charge(charge.id).open_infractions, 1);
    bed.check().await;
}

#[tokio::test]
async fn repeated_report_changes_nothing() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    let before = (bed.all(), bed.store.commits());
    assert_eq!(bed.poll().await, 0);
    bed.receive_callback(&id).await;
    assert_eq!(bed.all(), before.0);
    assert_eq!(bed.event_types(), [EventType::InfractionOpened]);
    bed.check().await;
}

#[tokio::test]
async fn later_credits_top_up_oldest_shortfall_first() {
    let bed = TestBed::new().await;
    let (_, one) = bed.paid(1_000).await;
    let (_, two) = bed.paid(500).await;
    bed.set_available(100).await;
    bed.psp.dispute(&one, 1_000);
    bed.poll().await;
    bed.psp.dispute(&two, 500);
    bed.poll().await;
    assert_eq!(bed.money(), [0, 0, 100]);
    bed.paid(1_100).await;
    assert_eq!(bed.money(), [0, 0, 1_200]);
    let held: Vec<i64> = bed.store.blocks().iter().map(|block| block.held.centavos()).collect();
    assert_eq!(held, [1_000, 200]);
    bed.paid(1_000).await;
    assert_eq!(bed.money(), [700, 0, 1_500]);
    bed.check().await;
}

#[tokio::test]
async fn pending_money_is_seized_after_available_and_released_once() {
    let bed = TestBed::with(Account { release_delay_s: 600, ..an_account() }).await;
    let (_, pix) = bed.paid(1_000).await;
    bed.clock.advance(Duration::from_secs(601));
    releases::run_once(&bed.ports).await.unwrap();
    bed.set_available(300).await;
    bed.paid(900).await;
    bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    assert_eq!(bed.money(), [0, 200, 1_000]);
    bed.check().await;
    bed.clock.advance(Duration::from_secs(601));
    releases::run_once(&bed.ports).await.unwrap();
    assert_eq!(bed.money(), [200, 0, 1_000]);
    bed.check().await;
}

#[tokio::test]
async fn report_before_payment_credits_payment_first() {
    let bed = TestBed::new().await;
    let charge = bed.pending(1_000).await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    bed.psp.dispute(&pix, 1_000);
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Pending);
    assert_eq!(bed.poll().await, 1);
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Paid);
    assert_eq!((bed.money(), bed.statuses()), ([0, 0, 1_000], vec![InfractionStatus::Open]));
    bed.check().await;
}

#[tokio::test]
async fn dispute_of_refunded_charge_blocks_the_rest_and_ends() {
    let bed = TestBed::new().await;
    for (refunded, held) in [(1_000, 0), (400, 600)] {
        let (charge, pix) = bed.paid(1_000).await;
        bed.refund(&format!("refund-{refunded}"), charge.id, refunded).await.unwrap();
        bed.psp.settle_open(&UpstreamProgress::Done { at: None });
        bed.clock.advance(Duration::from_secs(2));
        assert_eq!(refunds::poll::run_once(&bed.ports).await.unwrap().done, 1);
        let id = bed.psp.dispute(&pix, 1_000);
        bed.poll().await;
        assert_eq!(bed.money()[2], held);
        bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        bed.poll().await;
        assert_eq!((bed.last().state.status(), bed.money()[2]), (InfractionStatus::Lost, 0));
        let charge = bed.charge(charge.id);
        assert_eq!((charge.state.status(), charge.refunds.done.centavos()), (ChargeStatus::Refunded, 1_000));
        bed.check().await;
    }
}

#[tokio::test]
async fn open_dispute_stops_refunds_and_blocks_failed_ones() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    bed.refund("before", charge.id, 400).await.unwrap();
    bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    assert_eq!(bed.money(), [0, 0, 600]);
    assert_eq!(
        bed.refund("during", charge.id, 100).await,
        Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen))
    );
    bed.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    bed.clock.advance(Duration::from_secs(2));
    refunds::poll::run_once(&bed.ports).await.unwrap();
    assert_eq!(
        (bed.money(), bed.last().limit.centavos()),
        ([0, 0, 1_000], 1_000),
        "the money is blocked without a gap"
    );
    assert_eq!(bed.poll().await, 0);
    bed.check().await;
}

#[tokio::test]
async fn failed_full_refund_is_blocked_at_once_for_open_disputes() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    let extra = bed.psp.pay(&charge.txid, 250);
    bed.refund("before", charge.id, 1_000).await.unwrap();
    for (disputed, centavos) in [(&extra, 250), (&pix, 700), (&pix, 700)] {
        bed.psp.dispute(disputed, centavos);
        bed.poll().await;
    }
    let limits = |bed: &TestBed| bed.all().iter().map(|one| one.limit.centavos()).collect::<Vec<_>>();
    assert_eq!((bed.money(), limits(&bed)), ([0, 0, 250], vec![250, 0, 0]));
    bed.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    bed.clock.advance(Duration::from_secs(2));
    // During the decision, one of the infractions is defended. So the commit fails with `Stale`, and the decision is
    // repeated.
    let other = bed.clone();
    let id = bed.psp.infractions()[1].id.clone();
    let beside = bed.before_commits(once(move || {
        other.psp.receive_defense(&id, "Entregue.");
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
    }));
    let events_before = bed.store.events(bed.account.id).len();
    assert_eq!(refunds::poll::run_once(&beside.ports).await.unwrap().done, 1);
    assert_eq!((bed.money(), limits(&bed)), ([0, 0, 1_250], vec![250, 700, 300]));
    assert_eq!(bed.store.events(bed.account.id).len(), events_before + 2, "reviewed and failed, each once");
    bed.check().await;
}

#[tokio::test]
async fn failed_refund_of_undisputed_pix_is_available() {
    let bed = TestBed::new().await;
    let (charge, _) = bed.paid(1_000).await;
    bed.refund("before", charge.id, 1_000).await.unwrap();
    let extra = bed.psp.pay(&charge.txid, 250);
    bed.psp.dispute(&extra, 250);
    bed.poll().await;
    bed.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    bed.clock.advance(Duration::from_secs(2));
    assert_eq!(refunds::poll::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.money(), [1_000, 0, 250]);
    bed.check().await;
}

#[tokio::test]
async fn payment_beyond_charge_amount_can_be_disputed() {
    let bed = TestBed::new().await;
    let (charge, _) = bed.paid(1_000).await;
    let extra = bed.psp.pay(&charge.txid, 250);
    let id = bed.psp.dispute(&extra, 250);
    bed.poll().await;
    assert_eq!(bed.money(), [1_000, 0, 250], "the payment was credited and blocked");
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    assert_eq!(bed.money(), [1_000, 0, 0]);
    let charge = bed.charge(charge.id);
    assert_eq!((charge.refunds.done, charge.open_infractions), (Money::ZERO, 0), "the charge itself is whole");
    bed.check().await;
}

#[tokio::test]
async fn refund_of_extra_payment_in_flight_limits_its_dispute() {
    let bed = TestBed::new().await;
    let (charge, _) = bed.paid(1_000).await;
    let extra = bed.psp.pay(&charge.txid, 250);
    bed.psp.dispute(&extra, 1);
    bed.poll().await;
    let first = bed.last();
    bed.psp.settle(&first.upstream_id, UpstreamInfractionStatus::Rejected);
    bed.poll().await;
    assert_eq!(bed.money(), [1_250, 0, 0]);
    let of = (charge.id, Some(extra.clone()));
    bed.refund_payment("before", of.clone(), 100).await.unwrap();
    bed.psp.dispute(&extra, 250);
    bed.poll().await;
    assert_eq!(bed.money(), [1_000, 0, 150], "money of a refund cannot be blocked");
    assert_eq!(
        bed.refund_payment("during", of.clone(), 50).await,
        Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen))
    );
    bed.psp.settle_open(&UpstreamProgress::Failed { reason: None });
    bed.clock.advance(Duration::from_secs(2));
    refunds::poll::run_once(&bed.ports).await.unwrap();
    assert_eq!(
        (bed.money(), bed.last().limit.centavos()),
        ([1_000, 0, 250], 250),
        "the money is blocked without a gap"
    );
    let id = bed.last().upstream_id;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    let none = Money::ZERO;
    assert_eq!(
        bed.refund_payment("after", of, 1).await,
        Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: none }))
    );
    bed.check().await;
}

#[tokio::test]
async fn two_disputes_on_one_pix_share_its_amount() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    bed.paid(5_000).await;
    let first = bed.psp.dispute(&pix, 700);
    bed.poll().await;
    let second = bed.psp.dispute(&pix, 700);
    bed.poll().await;
    assert_eq!(bed.money(), [5_000, 0, 1_000]);
    bed.psp.settle(&first, UpstreamInfractionStatus::Rejected);
    bed.poll().await;
    assert_eq!(bed.money(), [5_300, 0, 700]);
    bed.psp.settle(&second, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    assert_eq!(bed.money(), [5_300, 0, 0]);
    assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 700);
    assert_eq!(bed.statuses(), [InfractionStatus::Won, InfractionStatus::Lost]);
    bed.check().await;
}

#[tokio::test]
async fn changed_amount_and_deadline_are_applied() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.change(&id, |row| {
        row.amount = Money::from_centavos(400);
        row.reason = Some("Golpe\n do\u{1} falso \u{0}motoboy".to_owned());
        row.deadline_at = row.deadline_at.map(|at| at + Duration::from_hours(1));
    });
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.money(), bed.last().limit.centavos()), ([600, 0, 400], 400));
    assert_eq!(bed.last().reason.as_deref(), Some("Golpe\n do  falso  motoboy"));
    assert_eq!(bed.poll().await, 0, "an applied row changes nothing again");
    bed.check().await;
}

#[tokio::test]
async fn instants_are_truncated_so_repeated_reports_are_equal() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at + Duration::from_nanos(1)));
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    let deadline = bed.last().deadline_at.unwrap();
    bed.poll().await;
    let ended = bed.last().state.resolved_at().unwrap();
    assert_eq!([deadline, ended].map(|at| at.as_nanosecond() % 1_000), [0, 0]);
}
