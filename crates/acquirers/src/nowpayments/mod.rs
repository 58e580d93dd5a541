//! NOWPayments: deposits, withdrawals, estimates and balances of coins.
//!
//! Deposits need only the API key. Withdrawals and lists also need the login. Each withdrawal needs a one-time code.

mod api;
mod callback;
mod config;
mod deposit;
mod list;
mod login;
mod read;
mod refusal;
mod rows;
mod signature;
mod totp;
mod wire;
mod withdrawal;

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    AcquirerError, CodeOutcome, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder,
    ListRequest, UpstreamDeposit, UpstreamPage, UpstreamWithdrawal,
};
use jiff::Timestamp;

use crate::deadline::Deadline;
use crate::http::{FindError, Secret};
use api::Api;
pub use config::{NowPaymentsConfig, NowPaymentsConfigError};
use totp::OneTimeCodes;

/// An account at NOWPayments, reached over HTTP.
#[derive(Debug)]
pub struct NowPayments {
    api: Api,
    codes: OneTimeCodes,
    ipn_secret: Secret,
    callback_url: Option<String>,
}

impl NowPayments {
    /// Creates the client, and sends no request.
    ///
    /// # Errors
    /// [`NowPaymentsConfigError`] for the invalid part of the configuration.
    pub fn new(config: &NowPaymentsConfig) -> Result<Self, NowPaymentsConfigError> {
        if config.ipn_secret.expose().trim().is_empty() {
            return Err(NowPaymentsConfigError::IpnSecret);
        }
        Ok(Self {
            api: Api::new(config)?,
            codes: OneTimeCodes::new(config.totp_secret.expose()).ok_or(NowPaymentsConfigError::TotpSecret)?,
            ipn_secret: config.ipn_secret.clone(),
            callback_url: config.callback_url.clone(),
        })
    }
}

#[async_trait]
impl CryptoProcessor for NowPayments {
    fn name(&self) -> &AcquirerName {
        self.api.name()
    }

    async fn minimum(&self, side: Side, currency: Currency, budget: Duration) -> Result<CryptoAmount, AcquirerError> {
        read::minimum(&self.api, side, currency, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn usdt_per_coin(&self, side: Side, currency: Currency, budget: Duration) -> Result<Rate, AcquirerError> {
        read::usdt_per_coin(&self.api, side, currency, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn accepts_address(&self, address: &Address, budget: Duration) -> Result<bool, AcquirerError> {
        read::accepts_address(&self.api, address, Deadline::after(budget)).await
    }

    async fn create_deposit(
        &self,
        order: &CryptoDepositOrder,
        budget: Duration,
    ) -> Result<UpstreamDeposit, AcquirerError> {
        deposit::create(&self.api, order, self.callback_url.as_deref(), Deadline::after(budget)).await
    }

    async fn get_deposit(&self, id: &ProcessorId, budget: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        deposit::get(&self.api, id, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn find_deposit(
        &self,
        id: CryptoDepositId,
        budget: Duration,
    ) -> Result<Option<UpstreamDeposit>, AcquirerError> {
        list::find(&self.api, id, Deadline::after(budget)).await
    }

    async fn list_deposits(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        list::page(&self.api, request, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        withdrawal::create(&self.api, order, self.callback_url.as_deref(), Deadline::after(budget)).await
    }

    async fn verify_withdrawal(
        &self,
        batch: &ProcessorId,
        at: Timestamp,
        budget: Duration,
    ) -> Result<CodeOutcome, AcquirerError> {
        let Some(code) = self.codes.take(at) else { return Ok(CodeOutcome::UsedBefore) };
        withdrawal::verify(&self.api, batch, &code, Deadline::after(budget)).await?;
        Ok(CodeOutcome::Accepted)
    }

    async fn get_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        batch: &ProcessorId,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        withdrawal::get(&self.api, id, batch, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        budget: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
        withdrawal::find(&self.api, id, Deadline::after(budget)).await
    }

    async fn list_withdrawals(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError> {
        withdrawal::page(&self.api, request, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn balances(&self, budget: Duration) -> Result<Vec<CryptoAmount>, AcquirerError> {
        read::balances(&self.api, Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError> {
        callback::read(self.api.name(), self.ipn_secret.expose(), signature, body)
    }
}
