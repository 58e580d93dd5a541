//! Woovi (`OpenPix`): charges, refunds, payouts in two steps, disputes, and signed callbacks.
//!
//! The API identifies our records by a `correlationID`: the txid of a charge, the instruction id of a payout, and the id of a
//! refund. Amounts are whole centavos. `docs/OPERATIONS.md` lists the behavior that Woovi does not document.

mod api;
mod balance;
mod callbacks;
mod charge;
mod config;
mod dispute;
mod dispute_status;
mod list;
mod payment;
mod payout;
mod payout_return;
mod refund;
mod refusal;
mod signature;
mod transaction;
mod webhook;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, CallbackSignatures, ChargeOrder, DefenseOrder, DefenseReceipt, ListRequest,
    PayoutOrder, ReceivedPix, RefundOrder, ReturnedPart, UpstreamCharge, UpstreamInfraction, UpstreamPage,
    UpstreamPayout, UpstreamReturn, alerts,
};
use jiff::Timestamp;

use crate::bacen::Timeouts;
use crate::balance::AccountBalance;
use crate::deadline::Deadline;
use api::Api;
pub use config::{WooviConfig, WooviConfigError};
use signature::CallbackKeys;

/// The client of an account at Woovi, over HTTP.
#[derive(Debug)]
pub struct WooviAcquirer {
    api: Api,
    callback_keys: CallbackKeys,
    timeouts: Timeouts,
}

impl WooviAcquirer {
    /// Creates the client, and sends no request.
    ///
    /// # Errors
    /// [`WooviConfigError`] for the invalid part of the configuration.
    pub fn new(config: &WooviConfig) -> Result<Self, WooviConfigError> {
        let callback_keys =
            CallbackKeys::new(config.webhook_public_key.as_deref(), config.webhook_hmac_secret.as_ref())?;
        Ok(Self { api: Api::new(config)?, callback_keys, timeouts: config.timeouts })
    }

    /// Reads the balance of the account. Also returns the time of Woovi's clock, if the answer has the header `Date`.
    ///
    /// # Errors
    /// [`AcquirerError`] with the reason.
    pub async fn balance(&self) -> Result<(AccountBalance, Option<Timestamp>), AcquirerError> {
        balance::read(&self.api, Deadline::after(self.timeouts.token)).await
    }
}

#[async_trait]
impl Acquirer for WooviAcquirer {
    fn name(&self) -> &AcquirerName {
        self.api.name()
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        charge::create(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        charge::find(&self.api, txid, Deadline::after(budget)).await
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        charge::cancel(&self.api, txid, Deadline::after(budget)).await
    }

    fn sends_payouts(&self) -> bool {
        true
    }

    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError> {
        payout::send(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        payout::find(&self.api, instruction_id, Deadline::after(budget)).await
    }

    async fn find_payout_return(
        &self,
        return_id: &ReturnId,
        budget: Duration,
    ) -> Result<Option<ReturnedPart>, AcquirerError> {
        payout_return::find(&self.api, return_id, Deadline::after(budget)).await
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        refund::send(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_refund(
        &self,
        _: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        refund::find(&self.api, id, Deadline::after(budget)).await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        transaction::page(&self.api, request, Deadline::after(budget)).await
    }

    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        payout::page(&self.api, request, Deadline::after(budget)).await
    }

    async fn list_payout_returns(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReturnedPart>, AcquirerError> {
        payout_return::page(&self.api, request, Deadline::after(budget)).await
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        transaction::find(&self.api, end_to_end_id, Deadline::after(budget)).await
    }

    fn reports_infractions(&self) -> bool {
        true
    }

    fn lists_returns(&self) -> bool {
        false
    }

    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        dispute::page(&self.api, request, Deadline::after(budget)).await
    }

    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError> {
        dispute::defend(&self.api, order, Deadline::after(budget)).await
    }

    fn verify_callback(&self, body: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError> {
        if self.callback_keys.verify(body, signatures) {
            return Ok(());
        }
        tracing::error!(
            alert = alerts::CALLBACK_SIGNATURE_INVALID, acquirer = %self.api.name(),
            "signature of a callback is missing or wrong; the callback is rejected"
        );
        Err(AcquirerError::Refused("the signature of the callback is missing or wrong".to_owned()))
    }

    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        callbacks::read(self.api.name(), body)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        webhook::register(&self.api, url, Deadline::after(budget)).await
    }
}
