//! The invariants that connect the institution's records, the ledger and the merchant's responses.

use std::collections::BTreeSet;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::infraction::InfractionStatus;
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_ports::{Maintenance as _, ResponseKind, UpstreamWithdrawalStatus};
use cais_testkit::FakePsp;
use cais_testkit::psp::OrderKind;

use crate::bed::{TestBed, run};
use crate::operation::key;
use crate::orders::{MONEY_KINDS, MoneyOrder, Outcome, is_done, payments};

/// The number of smallest units of USDT on Ethereum per centavo, at R$ 0.10 for one USDT.
const UNITS_PER_CENTAVO: i128 = 100_000;

impl TestBed {
    fn in_transit(&self) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, Bucket::InTransit)).centavos()
    }

    /// Returns the ids of orders without an outcome, each with its centavos in transit.
    pub fn open(&self) -> Vec<(String, i64)> {
        let orders = self.money_orders().into_iter().filter(|order| order.outcome == Outcome::Open);
        let orders = orders.map(|order| (order.id, order.held));
        let charges = self.store.charges().into_iter().filter(|one| one.state.status() == ChargeStatus::Creating);
        let defenses = self.store.infractions().into_iter().filter(|one| one.due_at.is_some());
        let others = charges.map(|one| (one.id.to_string(), 0)).chain(defenses.map(|one| (one.id.to_string(), 0)));
        orders.chain(others).collect()
    }

    /// Asserts the invariants that always hold: money in transit belongs to open orders, and every visible resource has
    /// its stored response.
    pub fn check_always(&mut self) {
        let commits = self.store.commits();
        if std::mem::replace(&mut self.checked, commits) == commits {
            return;
        }
        let open: i64 = self.open().iter().map(|(_, centavos)| centavos).sum();
        assert_eq!(self.in_transit(), open, "money in transit: {:?}", self.open());
        assert_eq!(self.unanswered(), [""; 0], "one commit makes a resource visible and stores the response");
    }

    /// Returns the visible resources without a stored response. A callback may make a resource visible before its
    /// response is stored.
    fn unanswered(&self) -> Vec<String> {
        let records = self.store.idempotency_records().into_iter().filter(|record| record.answer.is_none());
        let unanswered: Vec<_> = records.map(|record| record.resource).collect();
        if unanswered.is_empty() {
            return unanswered;
        }
        let moved = |order: &MoneyOrder| self.called_back.contains(&order.called_back);
        let orders = self.money_orders().into_iter().filter(|order| order.is_visible && !moved(order));
        let charges = self.store.charges().into_iter().filter(Charge::is_visible);
        let deposits = self.deposits().into_iter().map(|deposit| deposit.id.to_string());
        let visible = orders.map(|order| order.id).chain(charges.map(|charge| charge.id.to_string())).chain(deposits);
        let visible: BTreeSet<_> = visible.collect();
        unanswered.into_iter().filter(|id| visible.contains(id)).collect()
    }

    /// Asserts the invariants after [`TestBed::settle`].
    pub fn check_end(&mut self) {
        self.check_always();
        assert_eq!(self.open(), [], "every order has an outcome");
        let report = run(self.store.verify_ledger()).unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
        self.check_answers();
        for psp in &self.psps {
            assert_eq!(psp.blind_repeats(), [""; 0], "an order is repeated only after a read that shows its absence");
            let held = self
                .store
                .balance(&LedgerAccount::system(SystemAccount::Settlement(psp.name.clone()), self.account.id));
            assert_eq!(-held.centavos(), funds(psp), "the ledger and the acquirer agree on the money");
        }
        self.check_processor();
        self.check_charges();
        self.check_deposits();
        self.check_money_orders();
        self.check_defense();
    }

    /// Asserts that every call has its response, and that the store still has the same bytes.
    fn check_answers(&self) {
        let records = self.store.idempotency_records();
        for (number, call) in self.calls.iter().enumerate() {
            let replies = call.replies.borrow();
            assert!(replies.are_final(), "{number}: {replies:?}");
            let Some((kind, body)) = replies.answer.as_ref().filter(|_| call.operation.has_key()) else { continue };
            let stored = records.iter().find(|record| record.name.key == key(number)).unwrap().answer.as_ref();
            let stored = stored.map(|stored| (stored.kind, &stored.body));
            assert_eq!(stored, Some((*kind, body)), "{number}: the stored response never changes");
        }
    }

    /// Asserts that each creation was sent once, and that the ledger has the BRL value of the coins that were sent.
    fn check_processor(&self) {
        let requests = self.processor.requests_by_id();
        assert!(requests.values().all(|count| *count <= 1), "a creation is requested once: {requests:?}");
        let account = SystemAccount::Crypto(self.processor.name.clone());
        let worth = self.store.balance(&LedgerAccount::system(account, self.account.id)).centavos();
        let batches = self.processor.batches().into_iter();
        let finished = batches.filter(|batch| batch.status == UpstreamWithdrawalStatus::Finished);
        let sent: u128 = finished.map(|batch| batch.amount.units()).sum();
        let net = i128::try_from(sent).unwrap() - i128::try_from(self.credited_units()).unwrap();
        assert_eq!(i128::from(worth) * UNITS_PER_CENTAVO, net, "ledger and processor agree on the coins");
    }

    fn check_charges(&self) {
        for charge in self.store.charges() {
            let Some(issued) = charge.state.issued() else { continue };
            let psp = self.psps.iter().find(|psp| psp.name == issued.acquirer).unwrap();
            assert!(psp.charges().iter().any(|one| one.txid == charge.txid), "an issued charge is at its acquirer");
        }
        let issued = self.store.charges().iter().filter(|charge| charge.state.issued().is_some()).count();
        // Two charges were opened and paid before the run.
        assert_eq!(issued, 2 + self.answered(OrderKind::Charge), "one charge for each key");
    }

    fn check_money_orders(&self) {
        let orders = self.money_orders();
        for (kind, events) in MONEY_KINDS {
            let orders: Vec<_> = orders.iter().filter(|order| order.kind == kind).collect();
            let arrived = self.arrived(kind);
            for order in &orders {
                let at = arrived.iter().filter(|(name, _)| *name == order.name);
                let at: Vec<_> = at.map(|(_, progress)| is_done(progress)).collect();
                let agrees = match order.outcome {
                    Outcome::Done => at == [true],
                    Outcome::Failed => at.is_empty() || at == [false],
                    Outcome::Abandoned => at.is_empty(),
                    Outcome::Open => false,
                };
                assert!(agrees, "{order:?}, at the acquirers {at:?}");
                let published = events.map(|event| self.published(event, order));
                let expected = [Outcome::Done, Outcome::Failed].map(|outcome| usize::from(outcome == order.outcome));
                assert_eq!(published, expected, "{order:?}: events {events:?}");
            }
            let is_ours = |(name, _): &(String, _)| orders.iter().any(|order| order.name == *name);
            assert!(arrived.iter().all(is_ours), "every order that was sent is in the store");
            let visible = orders.iter().filter(|order| order.is_visible).count();
            assert_eq!(visible, self.answered(kind), "one {kind:?} for each key");
        }
        let earned = self.store.balance(&LedgerAccount::system(SystemAccount::Fees, self.account.id)).centavos();
        let done = orders.iter().filter(|order| order.outcome == Outcome::Done);
        let fees = done.map(|order| order.fee).sum::<i64>() + self.deposit_fees();
        assert_eq!(earned, fees, "a fee for each completed order and each credit of coins");
    }

    fn published(&self, event: cais_domain::event::EventType, order: &MoneyOrder) -> usize {
        let events = self.store.events(self.account.id).into_iter().map(|stored| stored.event);
        events.filter(|one| one.kind == event && one.resource == order.id).count()
    }

    fn check_defense(&self) {
        let [ours] = &self.store.infractions()[..] else { panic!("one infraction") };
        let [theirs] = &self.psps[0].infractions()[..] else { panic!("one infraction") };
        let text = ours.defense.as_ref().and_then(|defense| defense.text.as_ref()).map(ToString::to_string);
        let at = theirs.defense.as_ref().and_then(|defense| defense.text.clone());
        assert_eq!(text, at, "record and acquirer have the same defense");
        assert_eq!(ours.state.status() == InfractionStatus::UnderReview, at.is_some(), "a defense is submitted");
    }

    /// Counts the calls of this kind whose response contains a resource.
    pub fn answered(&self, kind: OrderKind) -> usize {
        let of_kind = self.calls.iter().filter(|call| call.operation.kind() == kind);
        of_kind.filter(|call| matches!(call.replies.borrow().answer, Some((ResponseKind::Created, _)))).count()
    }
}

/// Returns the acquirer's balance in centavos: all received money minus all sent money.
fn funds(psp: &FakePsp) -> i64 {
    let payments = payments(psp);
    let received: i64 = payments.iter().map(|payment| payment.amount.centavos()).sum();
    let back = payments.iter().flat_map(|payment| &payment.returns).filter(|back| is_done(&back.progress));
    let back: i64 = back.map(|back| back.amount.centavos()).sum();
    let sent = psp.payouts().into_iter().filter(|payout| is_done(&payout.progress));
    received - back - sent.map(|payout| payout.amount.centavos()).sum::<i64>()
}
