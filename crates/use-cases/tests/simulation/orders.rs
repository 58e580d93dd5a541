//! The orders that take money out of the account: in the store, and at the acquirers.

use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::RefundStatus;
use cais_ports::{UpstreamPayment, UpstreamProgress, UpstreamWithdrawalStatus};
use cais_testkit::FakePsp;
use cais_testkit::psp::OrderKind;

use crate::bed::TestBed;

/// The outcome of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Open,
    Done,
    Failed,
    Abandoned,
}

/// An order in the store.
#[derive(Debug)]
pub struct MoneyOrder {
    pub kind: OrderKind,
    /// The public id of the order's resource.
    pub id: String,
    /// The public id of the resource that a callback about the order contains.
    pub called_back: String,
    /// The identifier by which an acquirer executes the order once.
    pub name: String,
    pub outcome: Outcome,
    pub is_visible: bool,
    /// The centavos in transit while the outcome is open.
    pub held: i64,
    /// The centavos of `held` that are a fee.
    pub fee: i64,
}

/// The kinds of orders that take money out, each with its events of success and failure. All checks apply to each of
/// them.
pub const MONEY_KINDS: [(OrderKind, [EventType; 2]); 3] = [
    (OrderKind::Payout, [EventType::PayoutCompleted, EventType::PayoutFailed]),
    (OrderKind::Refund, [EventType::RefundCompleted, EventType::RefundFailed]),
    (OrderKind::Withdrawal, [EventType::CryptoWithdrawalCompleted, EventType::CryptoWithdrawalFailed]),
];

impl TestBed {
    /// Returns every order in the store.
    pub fn money_orders(&self) -> Vec<MoneyOrder> {
        let payouts = self.store.payouts().into_iter().map(|payout| MoneyOrder {
            kind: OrderKind::Payout,
            id: payout.id.to_string(),
            called_back: payout.id.to_string(),
            name: payout.instruction_id().to_string(),
            outcome: match payout.state.status() {
                PayoutStatus::Pending | PayoutStatus::Processing => Outcome::Open,
                PayoutStatus::Completed | PayoutStatus::Reversed => Outcome::Done,
                PayoutStatus::Failed => Outcome::Failed,
                PayoutStatus::Abandoned => Outcome::Abandoned,
            },
            is_visible: payout.is_visible(),
            held: payout.terms.gross().unwrap().centavos(),
            fee: payout.terms.fee.centavos(),
        });
        let refunds = self.store.refunds().into_iter().map(|refund| MoneyOrder {
            kind: OrderKind::Refund,
            id: refund.id.to_string(),
            called_back: refund.charge.to_string(),
            name: refund.id.suffix(),
            outcome: match refund.state.status() {
                RefundStatus::Pending | RefundStatus::Processing => Outcome::Open,
                RefundStatus::Completed => Outcome::Done,
                RefundStatus::Failed => Outcome::Failed,
                RefundStatus::Abandoned => Outcome::Abandoned,
            },
            is_visible: refund.is_visible(),
            held: refund.amount.centavos(),
            fee: 0,
        });
        let withdrawals = self.store.crypto_withdrawals().into_iter().map(|withdrawal| MoneyOrder {
            kind: OrderKind::Withdrawal,
            id: withdrawal.id.to_string(),
            called_back: withdrawal.id.to_string(),
            name: withdrawal.id.to_string(),
            outcome: match withdrawal.state.status() {
                WithdrawalStatus::Pending | WithdrawalStatus::Processing => Outcome::Open,
                WithdrawalStatus::Completed => Outcome::Done,
                WithdrawalStatus::Failed => Outcome::Failed,
                WithdrawalStatus::Abandoned => Outcome::Abandoned,
            },
            is_visible: withdrawal.is_visible(),
            held: withdrawal.gross().unwrap().centavos(),
            fee: withdrawal.price.fee.centavos(),
        });
        payouts.chain(refunds).chain(withdrawals).collect()
    }

    /// Returns the identifier and progress of every order of this kind that reached an acquirer.
    pub fn arrived(&self, kind: OrderKind) -> Vec<(String, UpstreamProgress)> {
        let psps = self.psps.iter();
        match kind {
            OrderKind::Payout => {
                let payouts = psps.flat_map(FakePsp::payouts);
                payouts.map(|payout| (payout.instruction_id.to_string(), payout.progress)).collect()
            }
            OrderKind::Refund => {
                let returns = psps.flat_map(payments).flat_map(|payment| payment.returns);
                returns.map(|back| (back.name, back.progress)).collect()
            }
            // Every batch counts. So a second batch is found even if it is never verified.
            OrderKind::Withdrawal => {
                let batches = self.processor.batches().into_iter();
                batches.map(|batch| (batch.order.unwrap().to_string(), progress(batch.status))).collect()
            }
            OrderKind::Charge | OrderKind::Defense | OrderKind::Deposit => Vec::new(),
        }
    }

    /// Counts the orders of this kind that the acquirers executed. Orders from before the run are not counted.
    pub fn executed(&self, kind: OrderKind) -> usize {
        let psps = self.psps.iter();
        match kind {
            // Two charges were opened and paid before the run.
            OrderKind::Charge => psps.map(|psp| psp.charges().len()).sum::<usize>() - 2,
            OrderKind::Payout | OrderKind::Refund | OrderKind::Withdrawal => {
                self.arrived(kind).iter().filter(|(_, progress)| is_done(progress)).count()
            }
            // An address that no payer has seen has no effect.
            OrderKind::Deposit => self.deposits().len(),
            OrderKind::Defense => psps.flat_map(FakePsp::infractions).filter(|one| one.defense.is_some()).count(),
        }
    }
}

/// Returns every payment of the acquirer's charges.
pub fn payments(psp: &FakePsp) -> Vec<UpstreamPayment> {
    psp.charges().into_iter().flat_map(|charge| charge.payments).collect()
}

const fn progress(status: UpstreamWithdrawalStatus) -> UpstreamProgress {
    match status {
        UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Processing => UpstreamProgress::Processing,
        UpstreamWithdrawalStatus::Finished => UpstreamProgress::Done { at: None },
        UpstreamWithdrawalStatus::Failed | UpstreamWithdrawalStatus::Rejected => {
            UpstreamProgress::Failed { reason: None }
        }
    }
}

pub fn is_done(progress: &UpstreamProgress) -> bool {
    matches!(progress, UpstreamProgress::Done { .. })
}
