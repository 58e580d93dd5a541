//! Crypto quotes, deposits, payments and withdrawals, read from the store in memory.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::{DepositPayment, PaymentState};
use cais_domain::crypto::{Currency, Deposit, ProcessorId, Quote, Withdrawal};
use cais_domain::ids::{AccountId, CryptoDepositId, CryptoWithdrawalId};
use cais_domain::pause::MAX_PAUSE;
use cais_ports::{
    CryptoDepositQueries, CryptoQuoteQueries, CryptoWithdrawalQueries, Due, Page, PageRequest, QueryError,
    ReservationKey,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::{count, cut, oldest_due};

#[async_trait]
impl CryptoQuoteQueries for MemoryStore {
    async fn find_newest_crypto_quote(&self, currency: Currency) -> Result<Option<Quote>, QueryError> {
        let state = self.read()?;
        let of_currency = state.tables.crypto_quotes.values().filter(|quote| quote.terms.currency == currency);
        Ok(of_currency.max_by_key(|quote| quote.id).cloned())
    }
}

#[async_trait]
impl CryptoDepositQueries for MemoryStore {
    async fn find_crypto_deposit_of_payment(
        &self,
        processor: &AcquirerName,
        payment: &ProcessorId,
    ) -> Result<Option<Deposit>, QueryError> {
        let state = self.read()?;
        let owner = state.snapshot.keys.owners.get(&ReservationKey::crypto_payment(processor, payment)).cloned();
        let deposits = state.tables.crypto_deposits.values();
        Ok(owner.and_then(|owner| deposits.clone().find(|deposit| deposit.id.to_string() == owner).cloned()))
    }

    async fn list_crypto_deposits(
        &self,
        account: AccountId,
        page: PageRequest<CryptoDepositId>,
    ) -> Result<Page<Deposit>, QueryError> {
        let state = self.read()?;
        let own = state.tables.crypto_deposits.values().filter(|deposit| deposit.account == account);
        Ok(cut(own.filter(|deposit| deposit.is_visible()).cloned(), page, |deposit| deposit.id))
    }

    async fn list_due_crypto_deposits(&self, now: Timestamp, limit: u32) -> Result<Vec<Deposit>, QueryError> {
        let due = |deposit: &Deposit| deposit.due_at.filter(|at| Due::new(now, MAX_PAUSE).is(*at));
        Ok(oldest_due(self.read()?.tables.crypto_deposits.values(), due, limit))
    }

    async fn list_deposit_payments(
        &self,
        account: AccountId,
        deposit: CryptoDepositId,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError> {
        let state = self.read()?;
        let own = |payment: &&DepositPayment| payment.account == account && payment.deposit == deposit;
        let mut payments: Vec<_> = state.tables.crypto_payments.values().filter(own).cloned().collect();
        payments.sort_by(|one, other| one.id.cmp(&other.id));
        payments.truncate(count(limit));
        Ok(payments)
    }

    async fn list_payments_for_review(&self, limit: u32) -> Result<Vec<DepositPayment>, QueryError> {
        let waits = |payment: &DepositPayment| match payment.state {
            PaymentState::Review(_) => Some(payment.created_at),
            PaymentState::Credited | PaymentState::Dismissed(_) => None,
        };
        Ok(oldest_due(self.read()?.tables.crypto_payments.values(), waits, limit))
    }
}

#[async_trait]
impl CryptoWithdrawalQueries for MemoryStore {
    async fn find_crypto_withdrawal_of_any(&self, id: CryptoWithdrawalId) -> Result<Option<Withdrawal>, QueryError> {
        Ok(self.read()?.tables.crypto_withdrawals.values().find(|withdrawal| withdrawal.id == id).cloned())
    }

    async fn find_crypto_withdrawal_of_batch(
        &self,
        processor: &AcquirerName,
        batch: &ProcessorId,
    ) -> Result<Option<Withdrawal>, QueryError> {
        let in_batch = |withdrawal: &&Withdrawal| {
            let stored = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref());
            stored == Some(batch) && withdrawal.processor == *processor
        };
        Ok(self.read()?.tables.crypto_withdrawals.values().find(in_batch).cloned())
    }

    async fn list_crypto_withdrawals(
        &self,
        account: AccountId,
        page: PageRequest<CryptoWithdrawalId>,
    ) -> Result<Page<Withdrawal>, QueryError> {
        let state = self.read()?;
        let own = state.tables.crypto_withdrawals.values().filter(|withdrawal| withdrawal.account == account);
        Ok(cut(own.filter(|withdrawal| withdrawal.is_visible()).cloned(), page, |withdrawal| withdrawal.id))
    }

    async fn list_due_crypto_withdrawals(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, QueryError> {
        let due = |withdrawal: &Withdrawal| withdrawal.due_at.filter(|at| Due::new(now, MAX_PAUSE).is(*at));
        Ok(oldest_due(self.read()?.tables.crypto_withdrawals.values(), due, limit))
    }

    async fn list_withdrawals_for_review(&self, limit: u32) -> Result<Vec<Withdrawal>, QueryError> {
        let waits = |withdrawal: &Withdrawal| withdrawal.state.review_since();
        Ok(oldest_due(self.read()?.tables.crypto_withdrawals.values(), waits, limit))
    }
}
