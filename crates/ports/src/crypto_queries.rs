//! Queries of crypto quotes, deposits and withdrawals.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{Currency, Deposit, ProcessorId, Quote, Withdrawal};
use cais_domain::ids::{AccountId, CryptoDepositId, CryptoQuoteId, CryptoWithdrawalId};
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// Quotes.
#[async_trait]
pub trait CryptoQuoteQueries: RecordQueries {
    /// Returns a quote of the account, used or not.
    async fn find_crypto_quote(&self, account: AccountId, id: CryptoQuoteId) -> Result<Option<Quote>, QueryError> {
        self.find_record(RecordKey::CryptoQuote { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns the newest quote of a currency, of any account. The next rate is compared with the rate of this quote.
    async fn find_newest_crypto_quote(&self, currency: Currency) -> Result<Option<Quote>, QueryError>;
}

/// Deposits and the payments to their addresses.
#[async_trait]
pub trait CryptoDepositQueries: RecordQueries {
    /// Returns a deposit of the account, in any state.
    async fn find_crypto_deposit(
        &self,
        account: AccountId,
        id: CryptoDepositId,
    ) -> Result<Option<Deposit>, QueryError> {
        self.find_record(RecordKey::CryptoDeposit { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns the deposit, of any account, that has reserved `payment` as a [`crate::ReservationKey::CryptoPayment`].
    /// `payment` is the processor's id of a payment, or the deposit's own id.
    async fn find_crypto_deposit_of_payment(
        &self,
        processor: &AcquirerName,
        payment: &ProcessorId,
    ) -> Result<Option<Deposit>, QueryError>;
    /// Lists the visible deposits of the account. The newest come first.
    async fn list_crypto_deposits(
        &self,
        account: AccountId,
        page: PageRequest<CryptoDepositId>,
    ) -> Result<Page<Deposit>, QueryError>;
    /// Lists deposits of all accounts that are due at `now`, according to [`crate::Due`] with
    /// [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_crypto_deposits(&self, now: Timestamp, limit: u32) -> Result<Vec<Deposit>, QueryError>;
    /// Lists at most `limit` stored payments of a deposit, in the order of their ids.
    async fn list_deposit_payments(
        &self,
        account: AccountId,
        deposit: CryptoDepositId,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError>;
    /// Lists at most `limit` payments of all accounts that wait for an operator. The longest waiting come first.
    async fn list_payments_for_review(&self, limit: u32) -> Result<Vec<DepositPayment>, QueryError>;
}

/// Withdrawals.
#[async_trait]
pub trait CryptoWithdrawalQueries: RecordQueries {
    /// Returns a withdrawal of the account, in any state.
    async fn find_crypto_withdrawal(
        &self,
        account: AccountId,
        id: CryptoWithdrawalId,
    ) -> Result<Option<Withdrawal>, QueryError> {
        self.find_record(RecordKey::CryptoWithdrawal { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns the withdrawal with this id, of any account.
    async fn find_crypto_withdrawal_of_any(&self, id: CryptoWithdrawalId) -> Result<Option<Withdrawal>, QueryError>;
    /// Returns the withdrawal in this batch of the processor, of any account.
    async fn find_crypto_withdrawal_of_batch(
        &self,
        processor: &AcquirerName,
        batch: &ProcessorId,
    ) -> Result<Option<Withdrawal>, QueryError>;
    /// Lists the visible withdrawals of the account. The newest come first.
    async fn list_crypto_withdrawals(
        &self,
        account: AccountId,
        page: PageRequest<CryptoWithdrawalId>,
    ) -> Result<Page<Withdrawal>, QueryError>;
    /// Lists withdrawals of all accounts that are due at `now`, according to [`crate::Due`] with
    /// [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_crypto_withdrawals(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, QueryError>;
    /// Lists at most `limit` withdrawals of all accounts that wait for an operator. The longest waiting come first.
    async fn list_withdrawals_for_review(&self, limit: u32) -> Result<Vec<Withdrawal>, QueryError>;
}
