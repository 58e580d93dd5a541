//! The Central Bank's API Pix (2.9.0), the standard of many institutions. [`Profile`] has the differences of
//! one institution from the standard.

pub(crate) mod api;
pub(crate) mod callbacks;
mod cancel;
mod config;
pub mod contract;
mod create;
pub(crate) mod grant;
pub(crate) mod list;
mod payment;
pub mod profile;
mod read;
mod received;
mod refund;
mod returns;
pub(crate) mod wire;

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

use crate::deadline::Deadline;
use crate::http::FindError;
use api::Api;
pub use config::{BacenConfig, BacenConfigError, Timeouts};
pub use grant::GrantForm;
pub use profile::Profile;
use read::Expected;

/// The reason for refusing payouts: the standard has no request for them.
const SENDS_NOTHING: &str = "this institution sends no Pix";

/// The reason for refusing defenses: the standard has no request for them.
const NO_DEFENSES: &str = "this institution accepts no defenses";

/// An institution that serves the API Pix over HTTP.
#[derive(Debug)]
pub struct BacenAcquirer {
    api: Api,
}

impl BacenAcquirer {
    /// Creates the client, and sends no request.
    ///
    /// # Errors
    /// [`BacenConfigError`] for the invalid part of the configuration.
    pub fn new(config: &BacenConfig) -> Result<Self, BacenConfigError> {
        Self::with_grant(config, config.profile.token_body)
    }

    /// Creates the client with the encoding `grant` of token requests, which replaces the profile's encoding.
    pub(crate) fn with_grant(config: &BacenConfig, grant: GrantForm) -> Result<Self, BacenConfigError> {
        Ok(Self { api: Api::new(config, grant)? })
    }

    /// Requests an access token and discards it. Returns the institution's clock if the answer has a `Date`.
    ///
    /// # Errors
    /// [`AcquirerError::Unavailable`] with the reason.
    pub async fn check_access(&self) -> Result<Option<Timestamp>, AcquirerError> {
        self.api.check_access().await
    }

    /// Returns the API, for requests that an institution has in addition to the standard.
    pub(crate) fn api(&self) -> &Api {
        &self.api
    }
}

#[async_trait]
impl Acquirer for BacenAcquirer {
    fn name(&self) -> &AcquirerName {
        self.api.name()
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        create::create(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        self.api.find(Expected::charge(txid), Deadline::after(budget)).await.map_err(FindError::of_a_read)
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        cancel::cancel(&self.api, txid, Deadline::after(budget)).await
    }

    fn sends_payouts(&self) -> bool {
        false
    }

    async fn send_payout(&self, _: &PayoutOrder, _: Duration) -> Result<UpstreamPayout, AcquirerError> {
        Err(AcquirerError::Refused(SENDS_NOTHING.to_owned()))
    }

    async fn find_payout(&self, _: &InstructionId, _: Duration) -> Result<Option<UpstreamPayout>, AcquirerError> {
        // Why not `None`? A payout of an earlier configuration may exist at the institution, and `None` would permit sending it again.
        Err(AcquirerError::Refused(SENDS_NOTHING.to_owned()))
    }

    async fn find_payout_return(&self, _: &ReturnId, _: Duration) -> Result<Option<ReturnedPart>, AcquirerError> {
        Ok(None)
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        refund::send(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        refund::find(&self.api, end_to_end_id, id, Deadline::after(budget)).await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        received::page(&self.api, request, Deadline::after(budget)).await
    }

    async fn list_sent(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        Ok(UpstreamPage::new(Vec::new(), None))
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
        received::find(&self.api, end_to_end_id, Deadline::after(budget)).await
    }

    fn reports_infractions(&self) -> bool {
        false
    }

    fn lists_returns(&self) -> bool {
        true
    }

    async fn list_infractions(
        &self,
        _: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        Ok(UpstreamPage::new(Vec::new(), None))
    }

    async fn send_defense(&self, _: &DefenseOrder, _: Duration) -> Result<DefenseReceipt, AcquirerError> {
        Err(AcquirerError::Refused(NO_DEFENSES.to_owned()))
    }

    /// Accepts every callback. The API Pix has no signatures; only the secret path of the callback address proves the sender.
    fn verify_callback(&self, _: &[u8], _: &CallbackSignatures) -> Result<(), AcquirerError> {
        Ok(())
    }

    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        callbacks::read(body, callbacks::standard)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        self.api.register_callback(url, None, Deadline::after(budget)).await
    }
}
