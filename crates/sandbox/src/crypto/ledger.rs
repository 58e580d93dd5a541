//! The processor's received and sent coins with counts, so that a test can prove that no withdrawal happened twice.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    amount::Amount,
    state::{
        CryptoBooks,
        payment::{Payment, PaymentStatus},
        payout::{Batch, Withdrawal, WithdrawalStatus},
    },
};

/// A payment with a deposit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CryptoDepositItem {
    /// `payment_id`.
    pub payment_id: String,
    /// The payment whose address received this deposit; `None` if the client created this payment.
    pub parent_payment_id: Option<String>,
    /// `order_id`.
    pub order_id: Option<String>,
    /// The status.
    pub status: PaymentStatus,
    /// The coin that arrived.
    pub currency: String,
    /// The amount that arrived.
    pub actually_paid: Amount,
    /// The amount credited to the balance.
    pub outcome_amount: Option<Amount>,
    /// The coin of the balance that is credited.
    pub outcome_currency: String,
}

/// A withdrawal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CryptoWithdrawalItem {
    /// `id`.
    pub id: String,
    /// `batch_withdrawal_id`.
    pub batch_id: String,
    /// `unique_external_id`.
    pub unique_external_id: Option<String>,
    /// The number of withdrawals with this `unique_external_id`. A count above one means that the client created the withdrawal more than
    /// once.
    pub count: usize,
    /// The number of codes that the client tried for the verification of the withdrawal's batch.
    pub verifications: u32,
    /// The status.
    pub status: WithdrawalStatus,
    /// The coin.
    pub currency: String,
    /// The address.
    pub address: String,
    /// The amount.
    pub amount: Amount,
    /// The network fee, debited on top of the amount.
    pub fee: Amount,
}

/// Numbers of notifications by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IpnCounts {
    /// Notifications that are still to be delivered.
    pub owed: usize,
    /// Notifications that were answered 2xx.
    pub delivered: u64,
    /// Notifications that were abandoned after the last attempt, or dropped because too many waited.
    pub abandoned: u64,
}

/// The processor's part of `GET /sandbox/ledger`.
#[derive(Clone, Debug, Serialize)]
pub struct CryptoLedger {
    /// The number of payments, also those without a deposit.
    pub payments: usize,
    /// Payments with a deposit.
    pub deposits: Vec<CryptoDepositItem>,
    /// Withdrawals.
    pub withdrawals: Vec<CryptoWithdrawalItem>,
    /// Balances by coin.
    pub balances: BTreeMap<String, Amount>,
    /// The numbers of notifications.
    pub ipns: IpnCounts,
}

/// Builds the ledger.
#[must_use]
pub fn of(books: &CryptoBooks) -> CryptoLedger {
    let arrived = books.payments().values().filter(|payment| payment.actually_paid.is_positive());
    let rows = || books.batches().values().flat_map(|batch| batch.withdrawals.iter().map(move |one| (batch, one)));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for id in rows().filter_map(|(_, withdrawal)| withdrawal.external_id.as_deref()) {
        *counts.entry(id).or_default() += 1;
    }
    let totals = books.ipn_totals();
    CryptoLedger {
        payments: books.payments().len(),
        deposits: arrived.map(deposit).collect(),
        withdrawals: rows().map(|(batch, one)| withdrawal(batch, one, &counts)).collect(),
        balances: books.balances().iter().map(|(coin, balance)| (coin.to_string(), balance.clone())).collect(),
        ipns: IpnCounts { owed: books.owed_ipns().len(), delivered: totals.delivered, abandoned: totals.abandoned },
    }
}

fn deposit(payment: &Payment) -> CryptoDepositItem {
    CryptoDepositItem {
        payment_id: payment.id.to_string(),
        parent_payment_id: payment.parent.map(|id| id.to_string()),
        order_id: payment.terms.order_id.as_deref().map(str::to_owned),
        status: payment.status,
        currency: payment.terms.pay_currency.to_string(),
        actually_paid: payment.actually_paid.clone(),
        outcome_amount: payment.outcome.as_ref().map(|(amount, _)| amount.clone()),
        outcome_currency: payment.terms.outcome_currency.to_string(),
    }
}

fn withdrawal(batch: &Batch, withdrawal: &Withdrawal, counts: &BTreeMap<&str, usize>) -> CryptoWithdrawalItem {
    let external_id = withdrawal.external_id.as_deref();
    CryptoWithdrawalItem {
        id: withdrawal.id.to_string(),
        batch_id: batch.id.to_string(),
        unique_external_id: external_id.map(str::to_owned),
        count: external_id.and_then(|id| counts.get(id)).copied().unwrap_or(1),
        verifications: batch.verifications,
        status: withdrawal.status,
        currency: withdrawal.currency.to_string(),
        address: withdrawal.address.to_string(),
        amount: withdrawal.amount.clone(),
        fee: withdrawal.fee.clone(),
    }
}
