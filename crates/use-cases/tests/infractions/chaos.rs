//! Payments, payouts, refunds and disputes run in any order and concurrently. The sums of money are always right, and
//! each operation ends.

use std::collections::BTreeSet;
use std::time::Duration;

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::{Infraction, InfractionState, InfractionStatus};
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_ports::{CallbackState, UpstreamInfractionStatus, UpstreamProgress};
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::infractions::resolve::{Decision, ResolveError};
use cais_use_cases::{payouts, refunds, releases};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use proptest::prelude::*;

use crate::bed::{PAST_LAG, TestBed};

#[derive(Debug, Clone)]
enum Act {
    Pay(i64),
    PayAgain(usize, i64),
    Dispute(usize, i64),
    Amend(usize, i64),
    Settle(usize, UpstreamInfractionStatus),
    Reopen(usize),
    ReopenUnseen(usize),
    CallBack(usize),
    Poll,
    PayOut(i64),
    Refund(usize, i64),
    EndAll(bool),
    Defend(OrderReply),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let outcome = prop_oneof![
        2 => Just(UpstreamInfractionStatus::Accepted),
        1 => Just(UpstreamInfractionStatus::Rejected),
        1 => Just(UpstreamInfractionStatus::Cancelled),
    ];
    let taking = prop_oneof![
        Just(OrderReply::Accepts),
        Just(OrderReply::LosesReplies),
        Just(OrderReply::Silent),
        Just(OrderReply::Down)
    ];
    prop_oneof![
        3 => (200_i64..2_000).prop_map(Act::Pay),
        1 => (0_usize..4, 1_i64..500).prop_map(|(charge, amount)| Act::PayAgain(charge, amount)),
        4 => (0_usize..6, 1_i64..2_500).prop_map(|(pix, amount)| Act::Dispute(pix, amount)),
        1 => (0_usize..4, 1_i64..2_500).prop_map(|(number, amount)| Act::Amend(number, amount)),
        3 => (0_usize..4, outcome).prop_map(|(number, outcome)| Act::Settle(number, outcome)),
        1 => (0_usize..4).prop_map(Act::Reopen),
        2 => (0_usize..4).prop_map(Act::ReopenUnseen),
        1 => (0_usize..4).prop_map(Act::CallBack),
        3 => Just(Act::Poll),
        3 => (1_i64..1_500).prop_map(Act::PayOut),
        3 => (0_usize..4, 1_i64..1_500).prop_map(|(charge, amount)| Act::Refund(charge, amount)),
        1 => any::<bool>().prop_map(Act::EndAll),
        2 => taking.prop_map(Act::Defend),
        2 => (1_u64..400).prop_map(Act::Wait),
    ]
}

/// The actions that the test has made at the acquirer.
#[derive(Default)]
struct Done {
    charges: Vec<cais_domain::charge::Charge>,
    pix: Vec<EndToEndId>,
    disputes: Vec<String>,
}

/// Executes an action at the acquirer. Returns the action of this service that follows, so that several can run
/// concurrently.
async fn begin<'a>(bed: &'a TestBed, done: &mut Done, number: usize, act: Act) -> Option<BoxFuture<'a, ()>> {
    match act {
        Act::Pay(amount) => {
            let charge = bed.pending(amount).await;
            done.pix.push(bed.psp.pay(&charge.txid, amount));
            done.charges.push(charge.clone());
            Some(async move { drop(bed.read(&charge).await) }.boxed())
        }
        Act::PayAgain(charge, amount) => {
            let charge = done.charges.get(charge)?.clone();
            done.pix.push(bed.psp.pay(&charge.txid, amount));
            None
        }
        Act::Dispute(pix, amount) => {
            let pix = done.pix.get(pix)?;
            done.disputes.push(bed.psp.dispute(pix, amount));
            None
        }
        Act::Amend(dispute, amount) => {
            let amount = Money::from_centavos(amount);
            bed.psp.change(done.disputes.get(dispute)?, |row| {
                if row.resolved_at.is_none() {
                    row.amount = amount;
                }
            });
            None
        }
        Act::Settle(dispute, outcome) => {
            let id = done.disputes.get(dispute)?;
            let ended = bed.psp.infractions().iter().any(|row| row.id == *id && row.resolved_at.is_some());
            if !ended {
                settle(bed, id, outcome);
            }
            None
        }
        Act::Reopen(dispute) => {
            let id = done.disputes.get(dispute)?;
            // If an infraction ends and is reopened between two polls, this looks like no change.
            let known = bed.all().into_iter().rfind(|infraction| infraction.upstream_id == *id);
            if known.is_some_and(|infraction| !infraction.state.status().is_open()) {
                bed.psp.reopen(id);
                bed.clock.advance(PAST_LAG);
                bed.poll().await;
            }
            None
        }
        Act::ReopenUnseen(dispute) => {
            reopen_unseen(bed, done.disputes.get(dispute)?);
            None
        }
        Act::CallBack(dispute) => {
            let id = done.disputes.get(dispute)?.clone();
            Some(
                async move {
                    let _: CallbackState = bed.receive_callback(&id).await;
                }
                .boxed(),
            )
        }
        Act::Poll => Some(
            async move {
                let _: usize = bed.poll().await;
            }
            .boxed(),
        ),
        Act::PayOut(amount) => {
            let key = format!("{number:09}");
            Some(async move { drop(bed.pay_out(&key, amount).await) }.boxed())
        }
        Act::Refund(charge, amount) => {
            let (key, charge) = (format!("{number:09}"), done.charges.get(charge)?.id);
            Some(async move { drop(bed.refund(&key, charge, amount).await) }.boxed())
        }
        Act::EndAll(well) => {
            let at = None;
            let failed = UpstreamProgress::Failed { reason: None };
            bed.psp.settle_open(&if well { UpstreamProgress::Done { at } } else { failed });
            None
        }
        Act::Defend(taking) => {
            bed.psp.set_for(OrderKind::Defense, taking);
            if bed.all().is_empty() {
                return None;
            }
            Some(async move { drop(bed.defend("Entregue.").await) }.boxed())
        }
        Act::Wait(seconds) => {
            bed.clock.advance(Duration::from_secs(seconds));
            Some(
                async move {
                    refunds::poll::run_once(&bed.ports).await.unwrap();
                    payouts::poll::run_once(&bed.ports).await.unwrap();
                    releases::run_once(&bed.ports).await.unwrap();
                    bed.resume().await;
                }
                .boxed(),
            )
        }
    }
}

/// Reopens an infraction that has ended or is under review, before the next poll. If the infraction is resolved here,
/// the acquirer also accepts the reopened dispute.
fn reopen_unseen(bed: &TestBed, id: &str) {
    let known = bed.all().into_iter().rfind(|infraction| infraction.upstream_id == id);
    let is_lost = match known.map(|known| known.state.status()) {
        Some(InfractionStatus::UnderReview) => false,
        Some(InfractionStatus::Won | InfractionStatus::Cancelled | InfractionStatus::Lost) => true,
        Some(InfractionStatus::Open) | None => return,
    };
    // The new instant is later than the last start and end, and later than a defense that is in flight.
    bed.clock.advance(PAST_LAG);
    bed.psp.reopen_now(id);
    if is_lost {
        settle(bed, id, UpstreamInfractionStatus::Accepted);
    }
}

/// Resolves an infraction at the acquirer. If the Pix is not credited here, the dispute is rejected instead of
/// accepted, because a returned Pix would never be credited.
fn settle(bed: &TestBed, id: &str, outcome: UpstreamInfractionStatus) {
    let all = bed.psp.infractions();
    let pix = &all.iter().find(|row| row.id == id).unwrap().end_to_end_id;
    let is_credited = bed.store.payments().iter().any(|credited| credited.payment.end_to_end_id == *pix);
    match outcome {
        UpstreamInfractionStatus::Accepted if is_credited => bed.psp.accept(id),
        UpstreamInfractionStatus::Accepted => bed.psp.settle(id, UpstreamInfractionStatus::Rejected),
        UpstreamInfractionStatus::Open
        | UpstreamInfractionStatus::Defended
        | UpstreamInfractionStatus::Undecided
        | UpstreamInfractionStatus::Rejected
        | UpstreamInfractionStatus::Cancelled => bed.psp.settle(id, outcome),
    }
}

/// Decides every marked infraction by the acquirer's amounts for its Pix. Returns each Pix whose returns exceed its
/// disputes. For those, operators use `cais reconcile`.
async fn decide_all(bed: &TestBed) -> BTreeSet<EndToEndId> {
    let mut beyond = BTreeSet::new();
    for infraction in bed.all().into_iter().filter(Infraction::needs_review) {
        let pix = infraction.end_to_end_id;
        let unexplained = bed.psp.lost(&pix) - lost_amount(bed, &pix);
        let decision =
            if unexplained > 0 { Decision::Lost(Some(Money::from_centavos(unexplained))) } else { Decision::Cancelled };
        match bed.decide_one(infraction.id, decision).await {
            Err(ResolveError::TooMuch { contested, .. }) => {
                assert!(contested < Money::from_centavos(unexplained));
                bed.decide_one(infraction.id, Decision::Lost(Some(contested))).await.unwrap();
                beyond.insert(pix);
            }
            other => drop(other.unwrap()),
        }
    }
    beyond
}

/// Returns the amount of a Pix that lost infractions explain, in centavos.
fn lost_amount(bed: &TestBed, pix: &EndToEndId) -> i64 {
    let all = bed.all().into_iter().filter(|one| one.end_to_end_id == *pix);
    all.filter(|one| one.state.status() == InfractionStatus::Lost).map(|one| one.limit.centavos()).sum()
}

/// Returns the amount that the account lost of a Pix, in centavos.
fn taken_amount(bed: &TestBed, pix: &EndToEndId) -> i64 {
    let all = bed.all().into_iter().filter(|one| one.end_to_end_id == *pix);
    all.map(|one| if let InfractionState::Lost { returned, .. } = one.state { returned.centavos() } else { 0 }).sum()
}

async fn run(release_delay_s: u32, together: usize, acts: Vec<Act>) {
    let bed = TestBed::with(Account { release_delay_s, ..an_account() }).await.contended();
    let mut done = Done::default();
    let mut number = 0;
    for group in acts.chunks(together) {
        let mut running = Vec::new();
        for act in group {
            number += 1;
            running.extend(begin(&bed, &mut done, number, act.clone()).await);
        }
        join_all(running).await;
        bed.check().await;
    }
    finish(&bed).await;
}

/// Ends all operations at the acquirer first, and then here. Open disputes come last.
async fn finish(bed: &TestBed) {
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    bed.psp.settle_open(&UpstreamProgress::Done { at: None });
    let beyond = agree(bed, BTreeSet::new()).await;
    for row in bed.psp.infractions().iter().filter(|row| row.resolved_at.is_none()) {
        bed.psp.settle(&row.id, UpstreamInfractionStatus::Rejected);
    }
    agree(bed, beyond).await;
}

/// Runs every worker and the operator's decisions. Then asserts that the infractions agree with the acquirer's.
/// `beyond` contains the Pix whose returns exceed their disputes; the result also contains new ones.
async fn agree(bed: &TestBed, mut beyond: BTreeSet<EndToEndId>) -> BTreeSet<EndToEndId> {
    // After this time, resolved infractions get no further returns.
    bed.clock.advance(Duration::from_hours(24));
    for _ in 0..8 {
        // The whole list is polled once per hour.
        bed.clock.advance(Duration::from_hours(1));
        refunds::poll::run_once(&bed.ports).await.unwrap();
        payouts::poll::run_once(&bed.ports).await.unwrap();
        bed.poll().await;
        bed.resume().await;
        releases::run_once(&bed.ports).await.unwrap();
        bed.process_later().await;
        bed.check().await;
        beyond.extend(decide_all(bed).await);
        bed.check().await;
    }
    assert_eq!((bed.poll().await, bed.resume().await), (0, 0), "no work is left");
    for row in bed.psp.infractions() {
        let mut all = bed.all().into_iter();
        let infraction = all.rfind(|infraction| infraction.upstream_id == row.id).unwrap();
        // A return that was not seen is compared when the open dispute of its Pix ends. The returned amount stays
        // blocked until then.
        let is_open = |one: Infraction| one.end_to_end_id == row.end_to_end_id && one.state.status().is_open();
        let may_lack = beyond.contains(&row.end_to_end_id) || bed.all().into_iter().any(is_open);
        let (ours, theirs) = (lost_amount(bed, &row.end_to_end_id), bed.psp.lost(&row.end_to_end_id));
        // If the balance was too low, the account lost less. Other infractions of the Pix may still take the
        // difference.
        let taken = taken_amount(bed, &row.end_to_end_id);
        assert!(taken <= theirs, "{taken} {theirs} {infraction:?} {row:?}");
        let agrees = ours == theirs || ours < theirs && may_lack || ours > theirs && taken < ours;
        assert!(agrees, "{ours} {theirs} {infraction:?} {row:?}");
        let expected = match row.status {
            UpstreamInfractionStatus::Open => InfractionStatus::Open,
            UpstreamInfractionStatus::Defended => InfractionStatus::UnderReview,
            // The operator's decisions follow the returned amounts.
            _ if infraction.review.is_some() => infraction.state.status(),
            UpstreamInfractionStatus::Accepted => InfractionStatus::Lost,
            UpstreamInfractionStatus::Rejected => InfractionStatus::Won,
            UpstreamInfractionStatus::Cancelled => InfractionStatus::Cancelled,
            UpstreamInfractionStatus::Undecided => unreachable!("the acquirer of these tests shows defenses"),
        };
        assert_eq!(infraction.state.status(), expected, "{infraction:?} {row:?}");
        assert!(!infraction.needs_review(), "{infraction:?}");
        if infraction.state.status().is_open() {
            assert_eq!(infraction.amount, row.amount);
        }
    }
    beyond
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn random_operations_keep_the_money_balanced_and_end(
        release_delay_s in prop_oneof![Just(0_u32), Just(120_u32)],
        together in 1_usize..5,
        acts in proptest::collection::vec(act(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(release_delay_s, together, acts));
    }
}
