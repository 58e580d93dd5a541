//! The crypto processor: the company that receives, holds and sends coins for us.

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use jiff::Timestamp;

use crate::acquirer::{AcquirerError, ListRequest, UpstreamPage};
pub use deposit::{CryptoDepositOrder, UpstreamDeposit, UpstreamDepositStatus};
pub use withdrawal::{CryptoWithdrawalOrder, UpstreamWithdrawal, UpstreamWithdrawalStatus};

mod deposit;
mod withdrawal;

/// The resource in a callback. A callback is only a signal, so the service reads the status and the amounts from the
/// processor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CryptoCallback {
    /// A payment to an address of this service.
    Deposit {
        /// The processor's id of the payment.
        id: ProcessorId,
        /// The id of the first payment to the same address, if this is a later payment.
        parent: Option<ProcessorId>,
        /// The id of our deposit, if the callback contains it.
        order: Option<CryptoDepositId>,
    },
    /// A withdrawal.
    Withdrawal {
        /// The processor's batch of the withdrawal.
        batch: ProcessorId,
        /// The id of our withdrawal, if the callback contains it.
        order: Option<CryptoWithdrawalId>,
    },
}

/// The result of [`CryptoProcessor::verify_withdrawal`] without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeOutcome {
    /// The processor accepted the code.
    Accepted,
    /// No request was sent: each code is valid once, and the code of this instant was used before.
    UsedBefore,
}

/// A crypto processor. Each call ends within its `budget`.
///
/// Our identifier does not prevent duplicates: if an order is sent twice, the processor may create a second deposit or
/// withdrawal. After [`AcquirerError::OutcomeUnknown`], look the order up by our identifier before you send it again.
#[async_trait]
pub trait CryptoProcessor: Send + Sync {
    /// Returns the configured name.
    fn name(&self) -> &AcquirerName;

    /// Returns the current minimum of a deposit or withdrawal at the processor, rounded up to [`Side::decimals`].
    async fn minimum(&self, side: Side, currency: Currency, budget: Duration) -> Result<CryptoAmount, AcquirerError>;

    /// Returns the processor's current estimate of the USDT for one coin. For a deposit, this is the estimate of a sale
    /// of coins. For a withdrawal, this is the estimate of a purchase. For USDT the result is 1, without a request.
    async fn usdt_per_coin(&self, side: Side, currency: Currency, budget: Duration) -> Result<Rate, AcquirerError>;

    /// Returns whether the processor can send to `address`.
    async fn accepts_address(&self, address: &Address, budget: Duration) -> Result<bool, AcquirerError>;

    /// Creates a deposit. Each call creates a new address. An address that no payer has seen expires without effect.
    async fn create_deposit(
        &self,
        order: &CryptoDepositOrder,
        budget: Duration,
    ) -> Result<UpstreamDeposit, AcquirerError>;

    /// Reads a deposit by the id that the processor assigned. The deposit exists, so an answer without it is the error
    /// `OutcomeUnknown`.
    async fn get_deposit(&self, id: &ProcessorId, budget: Duration) -> Result<UpstreamDeposit, AcquirerError>;

    /// Finds the first deposit that was created with our identifier. Returns `None` if the processor does not have the
    /// deposit. This proves nothing: the order may still be in transit, and the deposit may appear later.
    async fn find_deposit(
        &self,
        id: CryptoDepositId,
        budget: Duration,
    ) -> Result<Option<UpstreamDeposit>, AcquirerError>;

    /// Lists the deposits that were created in a period. The newest come first. Deposits of other systems on the same
    /// account are included.
    async fn list_deposits(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError>;

    /// Orders a withdrawal, in at most one request. The processor sends the coins only after
    /// [`Self::verify_withdrawal`].
    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError>;

    /// Confirms a created withdrawal with a one-time code of the instant `at`.
    ///
    /// If the processor refuses the code, the error is `Unavailable`, because the next call has another code. The
    /// processor rejects a withdrawal that is never verified.
    async fn verify_withdrawal(
        &self,
        batch: &ProcessorId,
        at: Timestamp,
        budget: Duration,
    ) -> Result<CodeOutcome, AcquirerError>;

    /// Reads our withdrawal in its batch, by the batch id that the processor assigned. The batch exists, so an answer
    /// without it is the error `OutcomeUnknown`. If the batch contains another withdrawal of ours, the error is
    /// `OutcomeUnknown` too.
    async fn get_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        batch: &ProcessorId,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError>;

    /// Finds a withdrawal by our identifier. Returns `None` if the processor does not have it. This proves nothing: the
    /// order may still be in transit, and the withdrawal may appear later.
    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        budget: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError>;

    /// Lists the withdrawals that were created in a period. The newest come first. Withdrawals of other systems on the
    /// same account are included.
    async fn list_withdrawals(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError>;

    /// Returns the balance that can be sent, once for each supported currency, rounded down to the smallest unit.
    async fn balances(&self, budget: Duration) -> Result<Vec<CryptoAmount>, AcquirerError>;

    /// Verifies a callback and returns its resource. Returns `None` if the signed body names neither a payment nor a
    /// batch.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] if the signature is wrong, or if the body cannot be read or is too large.
    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError>;
}
