//! The money of infractions: record, charge, blocks and events change together, and each dispute is resolved once.

use cais_domain::block::Block;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{DisputeReport, Disputed, Infraction, InfractionStatus, InfractionStep};
use cais_domain::ledger::Bucket;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_ports::{ChangeSet, CommitError, EventFilter};

use super::Harness;
use super::harness::{after_s, commit_concurrently, count_accepted, hold, merchant, walk_deliveries, walk_events};
use crate::builders::{
    a_payment, a_payout, a_postback, a_return_id, an_endpoint, dispute_report, fresh, new_refund, pending_charge,
    steps, subscribed,
};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// The block opens with its infraction, and ends when the infraction is won, cancelled or lost. Events report both steps.
pub async fn infraction_is_opened_and_resolved(h: &mut Harness) {
    for (settle, balances, status, event) in [
        (WIN, [940, 0, 0, 0], InfractionStatus::Won, EventType::InfractionWon),
        (CANCEL, [940, 0, 0, 0], InfractionStatus::Cancelled, EventType::InfractionCancelled),
        (LOSE, [540, 0, 0, 0], InfractionStatus::Lost, EventType::InfractionLost),
    ] {
        let case = Case::paid(h).await;
        let opened = case.open(h, &dispute_report(400)).await;
        let charge = case.charge(h).await;
        assert_eq!((opened.state.status(), opened.limit), (InfractionStatus::Open, Money::from_centavos(400)));
        assert_eq!((charge.open_infractions, h.balances(charge.account).await), (1, [540, 0, 400, 0]));
        let block = h.store.find_block(charge.account, opened.id).await.unwrap();
        let expected = Block {
            account: charge.account,
            infraction: opened.id,
            end_to_end_id: opened.end_to_end_id.clone(),
            limit: opened.limit,
            held: opened.limit,
        };
        assert_eq!(block, Some(expected));

        let change = case.settle(h, opened.id, settle).await;
        h.commit_ok(change.clone()).await;
        assert_eq!(h.commit(change).await, Err(CommitError::Stale), "resolved once");
        let settled = case.infraction(h, opened.id).await;
        assert_eq!((settled.state.status(), h.balances(charge.account).await), (status, balances));
        assert_eq!(h.store.find_block(charge.account, opened.id).await.unwrap(), None);
        let charge = case.charge(h).await;
        let lost = if status == InfractionStatus::Lost { 400 } else { 0 };
        assert_eq!((charge.open_infractions, charge.refunds.done.centavos()), (0, lost));
        assert_eq!(kinds(h, &charge).await, [EventType::ChargePaid, EventType::InfractionOpened, event]);
    }
}

/// A refund and a lost infraction together return the whole charge, so its state becomes `Refunded`. The endpoint that the charge names
/// gets the event `ChargeRefunded`, but not the events of the infraction.
pub async fn charge_that_was_lost_whole_is_refunded(h: &mut Harness) {
    let account = h.account().await.id;
    let deaf = Endpoint { subscription: subscribed(&[EventType::RefundFailed]), ..an_endpoint(account, 0) };
    let named = h.stored_endpoint(deaf).await;
    let mut charge = pending_charge(account);
    charge.terms.postback = Some(a_postback(&named));
    h.fund(account, 60).await;
    let case = Case::of(h, h.paid_charge(charge, 0).await).await;
    let requested = new_refund(Some(300));
    h.commit_ok(steps::open_refund(&case.charge(h).await, &requested, after_s(2))).await;
    let refund = h.read_refund(account, requested.id).await;
    h.commit_ok(steps::complete_refund(&refund, &case.charge(h).await, a_return_id(), after_s(3))).await;

    let opened = case.open(h, &dispute_report(5_000)).await;
    assert_eq!(opened.limit, Money::from_centavos(700), "the rest of the Pix");
    assert_eq!(h.balances(account).await, [0, 0, 700, 0]);
    let committed = h.commit_ok(case.settle(h, opened.id, LOSE).await).await;
    assert_eq!(committed.sequences.len(), 2);
    let charge = case.charge(h).await;
    assert_eq!((charge.state.status(), charge.refunds.done.centavos()), (ChargeStatus::Refunded, 1_000));
    assert_eq!(h.balances(account).await, [0; 4]);
    let last: Vec<EventType> = kinds(h, &charge).await.into_iter().rev().take(2).collect();
    assert_eq!(last, [EventType::ChargeRefunded, EventType::InfractionLost]);
    let delivered = walk_deliveries(&*h.store, account, named.id).await;
    let delivered: Vec<EventType> = delivered.iter().map(|delivery| delivery.kind).collect();
    assert_eq!(delivered, [EventType::ChargeRefunded, EventType::ChargePaid]);
}

/// The blocked money is returned to the payer, and the shortfall ends.
pub async fn lost_infraction_closes_its_shortfall(h: &mut Harness) {
    let case = Case::paid(h).await;
    let account = case.account();
    h.commit_ok(steps::transfer(hold(account, 640))).await;
    let opened = case.open(h, &dispute_report(1_000)).await;
    assert_eq!(h.balances(account).await, [0, 0, 300, 640]);
    let early = case.settle(h, opened.id, LOSE).await;
    h.fund(account, 50).await;
    assert_eq!(h.commit(early).await, Err(CommitError::Stale), "more is held than was read");
    h.commit_ok(case.settle(h, opened.id, LOSE).await).await;
    assert_eq!(h.balances(account).await, [0, 0, 0, 640]);
    h.fund(account, 500).await;
    assert_eq!(h.balances(account).await, [500, 0, 0, 640]);
    let charge = case.charge(h).await;
    assert_eq!((charge.refunds.done.centavos(), charge.state.status()), (350, ChargeStatus::Paid));
}

/// Blocks and returns together never exceed the amount of the Pix. When an infraction ends without a loss, the limits of the later ones
/// rise.
pub async fn several_infractions_share_a_pix(h: &mut Harness) {
    let case = Case::paid(h).await;
    let account = case.account();
    h.fund(account, 10_000).await;
    let [one, two, three] = [
        case.open(h, &dispute_report(700)).await,
        case.open(h, &dispute_report(700)).await,
        case.open(h, &dispute_report(1)).await,
    ];
    assert_eq!([&one, &two, &three].map(|one| one.limit.centavos()), [700, 300, 0]);
    assert_eq!(h.balances(account).await, [10_940 - 1_000, 0, 1_000, 0]);
    assert_eq!(case.charge(h).await.open_infractions, 3);
    h.commit_ok(case.settle(h, one.id, CANCEL).await).await;
    let two = case.infraction(h, two.id).await;
    let three = case.infraction(h, three.id).await;
    assert_eq!([&two, &three].map(|one| one.limit.centavos()), [700, 1]);
    assert_eq!(h.balances(account).await, [10_940 - 701, 0, 701, 0]);
    h.commit_ok(case.settle(h, two.id, LOSE).await).await;
    h.commit_ok(case.settle(h, three.id, LOSE).await).await;
    let reopened = case.open(h, &dispute_report(700)).await;
    assert_eq!(reopened.limit, Money::from_centavos(299));
    h.commit_ok(case.settle(h, reopened.id, LOSE).await).await;
    let none_left = case.open(h, &dispute_report(700)).await;
    assert_eq!(none_left.limit, Money::ZERO);
    h.commit_ok(case.settle(h, none_left.id, WIN).await).await;
    let charge = case.charge(h).await;
    assert_eq!((charge.state.status(), charge.open_infractions), (ChargeStatus::Refunded, 0));
    assert_eq!(h.balances(account).await, [10_940 - 1_000, 0, 0, 0]);
}

/// Repeated callbacks have no further effect.
pub async fn repeated_callbacks_open_an_infraction_once(h: &mut Harness) {
    let case = Case::paid(h).await;
    let new = dispute_report(400);
    let infractions = case.infractions(h).await;
    let charge = case.charge(h).await;
    let disputed = Disputed { payment: &case.payment, charge: &charge, infractions: &infractions };
    let callback = || DisputeReport { id: fresh(), ..new.clone() };
    let changes = (0..CALLERS).map(|_| steps::open_infraction(&callback(), disputed, after_s(5))).collect();
    let outcomes = commit_concurrently(&h.store, changes).await;
    assert_eq!(count_accepted(&outcomes, |refused| matches!(refused, CommitError::Taken { .. })), 1);
    let infractions = case.infractions(h).await;
    assert_eq!((infractions.len(), h.balances(case.account()).await), (1, [540, 0, 400, 0]));
    let owner = h.store.find_owner(&steps::infraction_key(&new)).await.unwrap();
    assert_eq!(owner, infractions.first().map(|infraction| infraction.id.to_string()));
    assert_eq!(case.charge(h).await.open_infractions, 1);
}

/// Of several concurrent disputes, one is opened at a time. Each dispute blocks at most the part of the Pix that the earlier ones leave.
pub async fn disputes_of_one_pix_are_opened_one_after_the_other(h: &mut Harness) {
    let case = Case::paid(h).await;
    h.fund(case.account(), 5_000).await;
    let mut waiting: Vec<DisputeReport> = (0..8).map(|_| dispute_report(300)).collect();
    while !waiting.is_empty() {
        let (charge, infractions) = (case.charge(h).await, case.infractions(h).await);
        let disputed = Disputed { payment: &case.payment, charge: &charge, infractions: &infractions };
        let changes = waiting.iter().map(|new| steps::open_infraction(new, disputed, after_s(5))).collect();
        let outcomes = commit_concurrently(&h.store, changes).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        let mut outcomes = outcomes.into_iter();
        waiting.retain(|_| outcomes.next().unwrap().is_err());
    }
    let infractions = case.infractions(h).await;
    let limits: Vec<i64> = infractions.iter().map(|infraction| infraction.limit.centavos()).collect();
    assert_eq!((limits.iter().sum::<i64>(), limits.len()), (1_000, 8));
    assert_eq!(limits, [300, 300, 300, 100, 0, 0, 0, 0], "the oldest first");
    assert_eq!(h.balances(case.account()).await, [5_940 - 1_000, 0, 1_000, 0]);
    for (infraction, limit) in infractions.iter().zip(limits) {
        let block = h.store.find_block(case.account(), infraction.id).await.unwrap().unwrap();
        assert_eq!((block.held, block.limit), (Money::from_centavos(limit), Money::from_centavos(limit)));
    }
}

/// The first outcome resolves the infraction. Every later outcome is refused.
pub async fn infraction_with_racing_outcomes_has_one(h: &mut Harness) {
    for _ in 0..4 {
        let case = Case::paid(h).await;
        let opened = case.open(h, &dispute_report(400)).await;
        let mut changes = Vec::new();
        for settle in [WIN, LOSE, CANCEL] {
            let change = case.settle(h, opened.id, settle).await;
            changes.extend(vec![change; CALLERS / 3]);
        }
        let outcomes = commit_concurrently(&h.store, changes).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        let settled = case.infraction(h, opened.id).await;
        let back = if settled.state.status() == InfractionStatus::Lost { 400 } else { 0 };
        assert_eq!(h.balances(case.account()).await, [940 - back, 0, 0, 0]);
        assert_eq!(case.charge(h).await.refunds.done.centavos(), back);
        assert_eq!(kinds(h, &case.charge(h).await).await.len(), 3);
    }
}

/// A refund and a dispute of the same Pix compete: the charge never allows both for the same centavo.
pub async fn dispute_races_with_refunds(h: &mut Harness) {
    for round in 0..6 {
        let case = Case::paid(h).await;
        h.fund(case.account(), 1_000).await;
        let (charge, infractions) = (case.charge(h).await, case.infractions(h).await);
        let disputed = Disputed { payment: &case.payment, charge: &charge, infractions: &infractions };
        let refund = || steps::open_refund(&charge, &new_refund(Some(800)), after_s(5));
        let mut changes: Vec<ChangeSet> = (0..8).map(|_| refund()).collect();
        changes.insert(round, steps::open_infraction(&dispute_report(700), disputed, after_s(5)));
        let outcomes = commit_concurrently(&h.store, changes).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        if outcomes.get(round).unwrap().is_ok() {
            assert_eq!(h.balances(case.account()).await, [1_240, 0, 700, 0]);
        } else {
            let opened = case.open(h, &dispute_report(700)).await;
            assert_eq!(opened.limit, Money::from_centavos(200));
            assert_eq!(h.balances(case.account()).await, [940, 0, 200, 800]);
        }
    }
}

/// Many payouts compete with an opening dispute. The block has the money that the payouts leave, up to its limit.
pub async fn payouts_race_with_a_dispute(h: &mut Harness) {
    for place in [0, CALLERS / 2, CALLERS] {
        let case = Case::paid(h).await;
        let account = case.account();
        let payout = || {
            let mut payout = a_payout(account);
            (payout.terms.amount, payout.terms.fee) = (Money::from_centavos(29), Money::from_centavos(1));
            payout
        };
        let mut changes: Vec<ChangeSet> = (0..CALLERS).map(|_| steps::open_payout(&payout())).collect();
        let (charge, infractions) = (case.charge(h).await, case.infractions(h).await);
        let disputed = Disputed { payment: &case.payment, charge: &charge, infractions: &infractions };
        let new = dispute_report(600);
        changes.insert(place, steps::open_infraction(&new, disputed, after_s(5)));
        let outcomes = commit_concurrently(&h.store, changes).await;
        let debited = merchant(account, Bucket::Available);
        let refused =
            |error: &CommitError| matches!(error, CommitError::NotCovered { account, .. } if *account == debited);
        let sent = i64::try_from(count_accepted(&outcomes, refused)).unwrap() - 1;
        let [available, pending, blocked, in_transit] = h.balances(account).await;
        assert_eq!((available + blocked + in_transit, pending, in_transit), (940, 0, 30 * sent));
        assert!(available < 30 && (blocked == 600 || available == 0), "{available}, {blocked}");
        let block = h.store.find_block(account, new.id).await.unwrap().unwrap();
        assert_eq!((block.held.centavos(), block.limit.centavos()), (blocked, 600));
        h.commit_ok(case.settle(h, new.id, WIN).await).await;
        assert_eq!(h.balances(account).await, [available + blocked, 0, 0, in_transit]);
    }
}

type Settle = fn(Infraction, Disputed<'_>, Money) -> InfractionStep;

const WIN: Settle = |infraction, disputed, held| infraction.win(disputed, held, after_s(9)).unwrap();
const CANCEL: Settle = |infraction, disputed, held| infraction.cancel(disputed, held, after_s(9)).unwrap();
const LOSE: Settle = |infraction, disputed, held| infraction.lose(disputed, held, after_s(9)).unwrap();

/// A Pix that can be disputed.
struct Case {
    charge: Charge,
    payment: CreditedPayment,
}

impl Case {
    /// Stores a charge of R$ 10.00 that is paid. After the fee, R$ 9.40 are credited to the account.
    async fn paid(h: &Harness) -> Self {
        let account = h.account().await.id;
        let charge = h.pending_charge(account).await;
        h.commit_ok(steps::confirm_payment(&charge, a_payment(1_000), after_s(1))).await;
        Self::of(h, h.read_charge(&charge).await).await
    }

    async fn of(h: &Harness, charge: Charge) -> Self {
        let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
        let payment = h.store.find_payment(charge.account, &pix).await.unwrap().unwrap();
        Self { charge, payment }
    }

    const fn account(&self) -> AccountId {
        self.charge.account
    }

    async fn charge(&self, h: &Harness) -> Charge {
        h.read_charge(&self.charge).await
    }

    async fn infractions(&self, h: &Harness) -> Vec<Infraction> {
        let pix = &self.payment.payment.end_to_end_id;
        h.store.list_infractions_of_pix(self.account(), pix).await.unwrap()
    }

    async fn infraction(&self, h: &Harness, id: InfractionId) -> Infraction {
        h.store.find_infraction(self.account(), id).await.unwrap().unwrap()
    }

    /// Opens the infraction and returns it as read back.
    async fn open(&self, h: &Harness, new: &DisputeReport) -> Infraction {
        let (charge, infractions) = (self.charge(h).await, self.infractions(h).await);
        let disputed = Disputed { payment: &self.payment, charge: &charge, infractions: &infractions };
        h.commit_ok(steps::open_infraction(new, disputed, after_s(5))).await;
        self.infraction(h, new.id).await
    }

    /// Reads the infraction with its block, and returns the change set that resolves it by `settle`.
    async fn settle(&self, h: &Harness, id: InfractionId, settle: Settle) -> ChangeSet {
        let (charge, infractions) = (self.charge(h).await, self.infractions(h).await);
        let block = h.store.find_block(self.account(), id).await.unwrap().unwrap();
        let disputed = Disputed { payment: &self.payment, charge: &charge, infractions: &infractions };
        let infraction = self.infraction(h, id).await;
        steps::move_infraction(settle(infraction, disputed, block.held), after_s(9))
    }
}

/// Returns the types of the account's events, oldest first.
async fn kinds(h: &Harness, charge: &Charge) -> Vec<EventType> {
    let filter = EventFilter { kind: None, after_sequence: Some(0) };
    walk_events(&*h.store, charge.account, filter, 50).await.iter().map(|event| event.kind).collect()
}
