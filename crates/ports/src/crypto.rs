//! The crypto processor: the company that receives coins for us, holds them, and sends them.

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

/// The resource that a callback names. Its status and its amounts are read from the processor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CryptoCallback {
    /// A payment to an address of ours.
    Deposit {
        /// The payment.
        id: ProcessorId,
        /// The first payment to the same address, if this one is a later payment.
        parent: Option<ProcessorId>,
        /// Our deposit, if named.
        order: Option<CryptoDepositId>,
    },
    /// A withdrawal.
    Withdrawal {
        /// The batch of the withdrawal.
        batch: ProcessorId,
        /// Our withdrawal, if named.
        order: Option<CryptoWithdrawalId>,
    },
}

/// A crypto processor.
///
/// The processor does not detect repeats by our identifiers: a second order makes a second deposit or withdrawal. After
/// [`AcquirerError::OutcomeUnknown`], look the order up by our identifier before you send it again.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CryptoProcessor: Send + Sync {
    /// Returns the configured name.
    fn name(&self) -> &AcquirerName;

    /// Returns the smallest deposit or withdrawal that the processor accepts now, rounded up to the decimals of the side.
    async fn minimum(&self, side: Side, currency: Currency, budget: Duration) -> Result<CryptoAmount, AcquirerError>;

    /// Returns the USDT that the processor now estimates for one coin. USDT itself is 1, without a request.
    async fn usdt_per_coin(&self, currency: Currency, budget: Duration) -> Result<Rate, AcquirerError>;

    /// Returns whether the processor can send to `address`.
    async fn accepts_address(&self, address: &Address, budget: Duration) -> Result<bool, AcquirerError>;

    /// Creates a deposit, with a new address at each call. An address that no payer sees expires without effect.
    async fn create_deposit(
        &self,
        order: &CryptoDepositOrder,
        budget: Duration,
    ) -> Result<UpstreamDeposit, AcquirerError>;

    /// Reads a deposit. A missing deposit is `OutcomeUnknown`, because the processor assigned its id.
    async fn get_deposit(&self, id: &ProcessorId, budget: Duration) -> Result<UpstreamDeposit, AcquirerError>;

    /// Finds the first deposit created by our identifier, as [`Self::find_withdrawal`] does.
    async fn find_deposit(
        &self,
        id: CryptoDepositId,
        budget: Duration,
    ) -> Result<Option<UpstreamDeposit>, AcquirerError>;

    /// Lists deposits created in a period, newest first, also those of other systems on the same account.
    async fn list_deposits(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError>;

    /// Sends an order for a withdrawal once. The coins are sent after [`Self::verify_withdrawal`].
    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError>;

    /// Confirms a created withdrawal with a one-time code of the instant `at`.
    ///
    /// The code of one instant confirms one withdrawal, so a second call within its life is `Unavailable`. A refused
    /// code is `Unavailable` too: the next call has another code. A withdrawal that is never verified is rejected.
    async fn verify_withdrawal(
        &self,
        batch: &ProcessorId,
        at: Timestamp,
        budget: Duration,
    ) -> Result<(), AcquirerError>;

    /// Reads our withdrawal in its batch. A missing batch is `OutcomeUnknown`, because the processor assigned its id. A
    /// batch that shows another identifier of ours is `OutcomeUnknown` too.
    async fn get_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        batch: &ProcessorId,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError>;

    /// Finds a withdrawal by our identifier; `None` if the processor does not have it. The request may still be in
    /// flight, so the withdrawal may appear later.
    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        budget: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError>;

    /// Lists withdrawals created in a period, newest first, also those of other systems on the same account.
    async fn list_withdrawals(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError>;

    /// Returns the balance that can be sent, once per supported currency, rounded down to the smallest unit.
    async fn balances(&self, budget: Duration) -> Result<Vec<CryptoAmount>, AcquirerError>;

    /// Verifies a callback and returns the resource that it names; `None` for a signed body that names none.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] for a wrong signature, and for an unreadable or too large body.
    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError>;
}
