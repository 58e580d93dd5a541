//! Compares sent Pix with stored payouts, in both directions.

use std::time::Duration;

use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Clock as _, ReturnedPart, Store as _, UpstreamPayout, UpstreamProgress};
use cais_testkit::builders::{a_payout, a_recipient, a_return_id, an_end_to_end_id, fresh, start, steps};
use cais_testkit::psp::{ListReply, LookupReply};
use cais_use_cases::reconcile::DifferenceKind;

use crate::bed::{LONG, TestBed};
use crate::reconcile_received::{compare, kinds};

pub const DONE: UpstreamProgress = UpstreamProgress::Done { at: None };

/// Returns the only payout.
pub fn only(bed: &TestBed) -> Payout {
    let payouts = bed.store.payouts();
    assert_eq!(payouts.len(), 1);
    payouts[0].clone()
}

/// Creates a payout of R$ 10.00 with this status and the matching balances.
pub async fn paid_out(status: PayoutStatus) -> TestBed {
    let bed = TestBed::new().await;
    bed.adjust_available(2_000).await;
    let payout = a_payout(bed.account.id);
    bed.store.commit(steps::open_payout(&payout)).await.unwrap();
    let at = start();
    match status {
        PayoutStatus::Pending => {}
        PayoutStatus::Abandoned => drop(bed.store.commit(steps::abandon_payout(&only(&bed), at)).await.unwrap()),
        PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => {
            bed.store.commit(steps::send_payout(&only(&bed), at)).await.unwrap();
        }
    }
    match status {
        PayoutStatus::Completed | PayoutStatus::Reversed => {
            let complete = steps::complete_payout(&only(&bed), an_end_to_end_id(), at);
            bed.store.commit(complete).await.unwrap();
        }
        PayoutStatus::Failed => drop(bed.store.commit(steps::fail_payout(&only(&bed), at)).await.unwrap()),
        PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Processing => {}
    }
    if status == PayoutStatus::Reversed {
        let back = steps::credit_return(&only(&bed), 1_000, a_return_id(), at);
        bed.store.commit(back).await.unwrap();
    }
    assert_eq!(only(&bed).state.status(), status);
    bed.clock.advance(LONG);
    bed
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

pub fn part(bed: &TestBed, centavos: i64) -> ReturnedPart {
    ReturnedPart { return_id: a_return_id(), amount: Money::from_centavos(centavos), at: bed.clock.now() }
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
        let bed = paid_out(status).await;
        bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, progress));
        let report = compare(&bed, true).await;
        assert_eq!((report.differences, report.sent), (vec![], 1), "{status:?}");
    }
}

#[tokio::test]
async fn missed_payout_outcome_is_applied() {
    for status in [PayoutStatus::Pending, PayoutStatus::Processing] {
        let bed = paid_out(status).await;
        bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, DONE));
        assert_eq!(kinds(&compare(&bed, false).await), [(DifferenceKind::PayoutOutcome, false)]);
        assert_eq!(only(&bed).state.status(), status);
        assert_eq!(kinds(&compare(&bed, true).await), [(DifferenceKind::PayoutOutcome, true)]);
        assert_eq!((only(&bed).state.status(), bed.in_transit()), (PayoutStatus::Completed, 0));
        bed.check().await;
    }
}

#[tokio::test]
async fn missed_payout_return_is_credited() {
    let bed = paid_out(PayoutStatus::Completed).await;
    let before = bed.available();
    let returned = vec![part(&bed, 400)];
    bed.psp.store_payout(UpstreamPayout { returned, ..upstream(only(&bed).instruction_id(), 1_000, DONE) });
    let report = compare(&bed, false).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutOutcome, false)]);
    assert_eq!(report.differences[0].theirs.as_deref(), Some("completed, 4.00 returned"));
    assert_eq!(kinds(&compare(&bed, true).await), [(DifferenceKind::PayoutOutcome, true)]);
    assert_eq!(bed.available(), before + 400);
    assert_eq!(compare(&bed, true).await.differences, []);
    bed.check().await;
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
        let bed = paid_out(status).await;
        let before = (only(&bed), bed.available());
        bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, progress.clone()));
        let report = compare(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::PayoutOutcome, false)], "{status:?} {progress:?}");
        assert_eq!((only(&bed), bed.available()), before);
        bed.check().await;
    }
}

#[tokio::test]
async fn payout_with_other_amount_is_reported_and_unchanged() {
    let bed = paid_out(PayoutStatus::Processing).await;
    bed.psp.store_payout(upstream(only(&bed).instruction_id(), 999, DONE));
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutAmount, false)]);
    assert_eq!(only(&bed).state.status(), PayoutStatus::Processing);
}

#[tokio::test]
async fn sent_pix_without_payout_is_reported() {
    let bed = TestBed::new().await;
    let unknown = |name: &str| upstream(InstructionId::parse(name).unwrap(), 100, DONE);
    bed.psp.store_payout(unknown("byhand1"));
    bed.psp.store_payout(unknown(&fresh::<cais_domain::ids::kind::Payout>().suffix()));
    let failed = UpstreamPayout { progress: UpstreamProgress::Failed { reason: None }, ..unknown("byhand2") };
    bed.psp.store_payout(failed);
    let unknown_payout = (DifferenceKind::PayoutUnknown, false);
    assert_eq!(kinds(&compare(&bed, true).await), [unknown_payout, unknown_payout]);
}

#[tokio::test]
async fn payout_sent_by_second_acquirer_is_reported() {
    let bed = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&bed).instruction_id(), 1_000, DONE);
    bed.psp.store_payout(sent.clone());
    bed.second.store_payout(sent);
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PayoutUnknown, false)]);
    assert_eq!((&report.differences[0].acquirer, report.differences[0].resource.is_some()), (&bed.second.name, true));
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
        let bed = paid_out(status).await;
        let before = only(&bed);
        let report = compare(&bed, true).await;
        let expected: &[_] = if missed { &[(DifferenceKind::PayoutNotListed, false)] } else { &[] };
        assert_eq!(kinds(&report), expected, "{status:?}");
        assert_eq!(only(&bed), before, "the payout is neither sent nor failed");
    }
}

#[tokio::test]
async fn unlisted_payout_is_looked_up_before_it_is_reported() {
    let bed = paid_out(PayoutStatus::Processing).await;
    bed.clock.set(start() + jiff::SignedDuration::from_mins(4));
    assert_eq!(compare(&bed, true).await.differences, [], "a list may lag");
    bed.clock.advance(Duration::from_mins(2));
    bed.psp.set_list_replies(ListReply::Empty);
    bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, DONE));
    bed.psp.set_lookup_reply(LookupReply::Silent);
    let report = compare(&bed, true).await;
    assert_eq!((report.differences, report.unread.len()), (vec![], 1));
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    let report = compare(&bed, true).await;
    assert_eq!(
        kinds(&report),
        [(DifferenceKind::PayoutOutcome, true)],
        "the acquirer has the payout, and the Pix arrived"
    );
    assert_eq!(only(&bed).state.status(), PayoutStatus::Completed);
}

#[tokio::test]
async fn acquirer_without_payouts_is_not_read_for_sent_pix() {
    let bed = TestBed::new().await;
    let mut mock = cais_ports::acquirer::MockAcquirer::new();
    mock.expect_sends_payouts().return_const(false);
    mock.expect_list_received().returning(|_, _| Ok(cais_ports::UpstreamPage::new(Vec::new(), None)));
    let acquirer: std::sync::Arc<dyn cais_ports::Acquirer> = std::sync::Arc::new(mock);
    let mut acquirers = cais_ports::acquirers::MockAcquirers::new();
    acquirers.expect_names().return_const(vec![bed.psp.name.clone()]);
    acquirers.expect_named().returning(move |_| Some(acquirer.clone()));
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(acquirers), ..bed.ports.clone() };
    let until = bed.clock.advance(LONG);
    let report = cais_use_cases::reconcile::run(&ports, start(), until, true, &|_| {}).await.unwrap();
    assert_eq!(report, cais_use_cases::reconcile::Report::default());
}
