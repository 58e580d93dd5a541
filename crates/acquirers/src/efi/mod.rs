//! Efí's Pix API: the Central Bank's API Pix (see [`bacen`](crate::bacen)), sent Pix, and infractions (MED).

mod balance;
mod callbacks;
mod contract;
mod defense;
pub(crate) mod infraction;
mod payout;
mod read;
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
    UpstreamPayout, UpstreamReturn,
};
use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue};

use crate::bacen::api::CallbackHeader;
use crate::bacen::grant::GrantForm;
use crate::bacen::{BacenAcquirer, BacenConfig, BacenConfigError};
use crate::balance::AccountBalance;
use crate::deadline::Deadline;

/// The header of the request that registers a callback address without mutual TLS. At such an address, TLS does not prove the sender of a
/// callback; the secret in the path does.
const SKIP_MTLS: CallbackHeader = (HeaderName::from_static("x-skip-mtls-checking"), HeaderValue::from_static("true"));

/// Efí, reached over HTTP.
#[derive(Debug)]
pub struct EfiAcquirer {
    bacen: BacenAcquirer,
    /// True if our callback address accepts only clients with Efí's certificate.
    callbacks_use_mtls: bool,
    /// The time limit for a read of the balance.
    balance_timeout: Duration,
}

impl EfiAcquirer {
    /// Creates the client, and sends no request. The configured Pix key receives payments and sends payouts.
    ///
    /// # Errors
    /// [`BacenConfigError`] for the invalid part of the configuration.
    pub fn new(config: &BacenConfig) -> Result<Self, BacenConfigError> {
        Ok(Self {
            bacen: BacenAcquirer::with_grant(config, GrantForm::Json)?,
            callbacks_use_mtls: false,
            balance_timeout: config.timeouts.token,
        })
    }

    /// Declares whether our callback address requires Efí's client certificate. If so, Efí verifies at the registration that the address
    /// refuses clients without the certificate.
    #[must_use]
    pub fn with_callback_mtls(self, callbacks_use_mtls: bool) -> Self {
        Self { callbacks_use_mtls, ..self }
    }

    fn callback_header(&self) -> Option<CallbackHeader> {
        (!self.callbacks_use_mtls).then_some(SKIP_MTLS)
    }

    /// Requests an access token and discards it. Returns the institution's clock if the answer has a `Date`.
    ///
    /// # Errors
    /// [`AcquirerError::Unavailable`] with the reason.
    pub async fn check_access(&self) -> Result<Option<Timestamp>, AcquirerError> {
        self.bacen.check_access().await
    }

    /// Reads the balance of the account, which needs the scope `gn.balance.read`.
    ///
    /// # Errors
    /// [`AcquirerError`] with the reason.
    pub async fn balance(&self) -> Result<AccountBalance, AcquirerError> {
        balance::read(self.bacen.api(), Deadline::after(self.balance_timeout)).await
    }
}

#[async_trait]
impl Acquirer for EfiAcquirer {
    fn name(&self) -> &AcquirerName {
        self.bacen.name()
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        self.bacen.create_charge(order, budget).await
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        self.bacen.find_charge(txid, budget).await
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        self.bacen.cancel_charge(txid, budget).await
    }

    fn sends_payouts(&self) -> bool {
        true
    }

    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError> {
        payout::send(self.bacen.api(), order, Deadline::after(budget)).await
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        payout::find(self.bacen.api(), instruction_id, Deadline::after(budget)).await
    }

    async fn find_payout_return(&self, _: &ReturnId, _: Duration) -> Result<Option<ReturnedPart>, AcquirerError> {
        Ok(None)
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        self.bacen.send_refund(order, budget).await
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        self.bacen.find_refund(end_to_end_id, id, budget).await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        self.bacen.list_received(request, budget).await
    }

    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        payout::page(self.bacen.api(), request, Deadline::after(budget)).await
    }

    async fn list_payout_returns(
        &self,
        _: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<ReturnedPart>, AcquirerError> {
        Ok(UpstreamPage::new(Vec::new(), None))
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        self.bacen.find_received(end_to_end_id, budget).await
    }

    fn reports_infractions(&self) -> bool {
        true
    }

    fn lists_returns(&self) -> bool {
        true
    }

    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        infraction::page(self.bacen.api(), request, Deadline::after(budget)).await
    }

    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError> {
        defense::send(self.bacen.api(), order, Deadline::after(budget)).await
    }

    fn verify_callback(&self, body: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError> {
        self.bacen.verify_callback(body, signatures)
    }

    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        callbacks::read(body)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        self.bacen.api().register_callback(url, self.callback_header(), Deadline::after(budget)).await
    }
}
