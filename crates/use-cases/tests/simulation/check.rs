//! The invariants.

use cais_domain::charge::ChargeStatus;
use cais_domain::infraction::InfractionStatus;
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::RefundStatus;
use cais_ports::{Maintenance as _, ResponseKind, UpstreamPayment, UpstreamProgress, UpstreamReturn};
use cais_testkit::FakePsp;
use cais_testkit::psp::OrderKind;

use crate::world::{World, run};

impl World {
    fn in_transit(&self) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, Bucket::InTransit)).centavos()
    }

    /// Returns the names of orders without an outcome, with their amounts in transit.
    pub fn open(&self) -> Vec<(String, i64)> {
        let payouts = self.store.payouts().into_iter();
        let payouts =
            payouts.filter(|one| matches!(one.state.status(), PayoutStatus::Pending | PayoutStatus::Processing));
        let refunds = self.store.refunds().into_iter();
        let refunds =
            refunds.filter(|one| matches!(one.state.status(), RefundStatus::Pending | RefundStatus::Processing));
        let charges = self.store.charges().into_iter().filter(|one| one.state.status() == ChargeStatus::Creating);
        let defenses = self.store.infractions().into_iter().filter(|one| one.due_at.is_some());
        let payouts = payouts.map(|one| (one.id.to_string(), one.terms.gross().unwrap().centavos()));
        let refunds = refunds.map(|one| (one.id.to_string(), one.amount.centavos()));
        let others = charges.map(|one| (one.id.to_string(), 0)).chain(defenses.map(|one| (one.id.to_string(), 0)));
        payouts.chain(refunds).chain(others).collect()
    }

    /// Asserts the invariants of every instant: money in transit belongs to open orders, and the ledger adds up.
    pub fn check_always(&self) {
        let open: i64 = self.open().iter().map(|(_, centavos)| centavos).sum();
        assert_eq!(self.in_transit(), open, "money in transit: {:?}", self.open());
    }

    /// Asserts the invariants after [`World::settle`].
    pub fn check_end(&self) {
        self.check_always();
        assert_eq!(self.open(), [], "every order has an outcome");
        let report = run(self.store.verify_ledger()).unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
        for (number, call) in self.calls.iter().enumerate() {
            let replies = call.replies.borrow();
            assert!(replies.are_final(), "{number}: {replies:?}");
        }
        for psp in &self.psps {
            assert_eq!(psp.blind_repeats(), [""; 0], "an order is repeated only after a look-up");
            let held = self
                .store
                .balance(&LedgerAccount::system(SystemAccount::Settlement(psp.name.clone()), self.account.id));
            assert_eq!(-held.centavos(), funds(psp), "the ledger and the acquirer agree on the money");
        }
        self.check_charges();
        self.check_payouts();
        self.check_refunds();
        self.check_defense();
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

    fn check_payouts(&self) {
        let sent: Vec<_> = self.psps.iter().flat_map(FakePsp::payouts).collect();
        for payout in self.store.payouts() {
            let at = sent.iter().filter(|sent| sent.instruction_id == payout.instruction_id());
            let at: Vec<_> = at.map(|sent| is_done(&sent.progress)).collect();
            let agree = match payout.state.status() {
                PayoutStatus::Completed => at == [true],
                PayoutStatus::Failed => at.is_empty() || at == [false],
                PayoutStatus::Abandoned => at.is_empty(),
                PayoutStatus::Pending | PayoutStatus::Processing | PayoutStatus::Reversed => false,
            };
            assert!(agree, "{} is {:?}, at the acquirers {at:?}", payout.id, payout.state.status());
        }
        let known = |id| self.store.payouts().iter().any(|payout| payout.instruction_id() == id);
        assert!(sent.into_iter().all(|sent| known(sent.instruction_id)), "every payout that left is ours");
        let visible = self.store.payouts().iter().filter(|payout| payout.is_visible()).count();
        assert_eq!(visible, self.answered(OrderKind::Payout), "one payout for each key");
    }

    fn check_refunds(&self) {
        let returns: Vec<_> = self.psps.iter().flat_map(payments).flat_map(|payment| payment.returns).collect();
        for refund in self.store.refunds() {
            let at: Vec<_> = returns.iter().filter(|one| one.refund() == Some(refund.id)).map(returned).collect();
            let agree = match refund.state.status() {
                RefundStatus::Completed => at == [true],
                RefundStatus::Failed => at.is_empty() || at == [false],
                RefundStatus::Abandoned => at.is_empty(),
                RefundStatus::Pending | RefundStatus::Processing => false,
            };
            assert!(agree, "{} is {:?}, at the acquirers {at:?}", refund.id, refund.state.status());
        }
        let known = |one: &UpstreamReturn| self.store.refunds().iter().any(|refund| one.refund() == Some(refund.id));
        assert!(returns.iter().all(known), "every refund that left is ours");
        let visible = self.store.refunds().iter().filter(|refund| refund.is_visible()).count();
        assert_eq!(visible, self.answered(OrderKind::Refund), "one refund for each key");
    }

    fn check_defense(&self) {
        let [ours] = &self.store.infractions()[..] else { panic!("one infraction") };
        let [theirs] = &self.psps[0].infractions()[..] else { panic!("one infraction") };
        let text = ours.defense.as_ref().and_then(|defense| defense.text.as_ref()).map(ToString::to_string);
        let at = theirs.defense.as_ref().and_then(|defense| defense.text.clone());
        assert_eq!(text, at, "the defense of the record is the acquirer's");
        assert_eq!(ours.state.status() == InfractionStatus::UnderReview, at.is_some(), "a defense is submitted");
    }

    /// Counts the calls of this kind whose response contains a resource.
    fn answered(&self, kind: OrderKind) -> usize {
        let of_kind = self.calls.iter().filter(|call| call.operation.kind() == kind);
        of_kind.filter(|call| matches!(call.replies.borrow().answer, Some((ResponseKind::Created, _)))).count()
    }
}

fn payments(psp: &FakePsp) -> Vec<UpstreamPayment> {
    psp.charges().into_iter().flat_map(|charge| charge.payments).collect()
}

fn is_done(progress: &UpstreamProgress) -> bool {
    matches!(progress, UpstreamProgress::Done { .. })
}

fn returned(back: &UpstreamReturn) -> bool {
    is_done(&back.progress)
}

/// Returns the acquirer's balance in centavos: all receipts less all payments.
fn funds(psp: &FakePsp) -> i64 {
    let payments = payments(psp);
    let received: i64 = payments.iter().map(|payment| payment.amount.centavos()).sum();
    let back = payments.iter().flat_map(|payment| &payment.returns).filter(|back| returned(back));
    let back: i64 = back.map(|back| back.amount.centavos()).sum();
    let sent = psp.payouts().into_iter().filter(|payout| is_done(&payout.progress));
    received - back - sent.map(|payout| payout.amount.centavos()).sum::<i64>()
}
