//! Counts of requests per operation, so that a test can prove that no request was repeated.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

/// An operation whose requests are counted. Its name is a key in the response of `GET /sandbox/ledger`. The paths of Woovi's operations
/// are relative to `/woovi/api/v1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `POST /oauth/token`.
    Token,
    /// `PUT /v2/cob/{txid}` and `POST /v2/cob`.
    CobCreate,
    /// Creations that were refused with `txid_duplicado`. They count as [`Self::CobCreate`] too.
    CobDuplicate,
    /// `PATCH /v2/cob/{txid}`.
    CobRevise,
    /// `GET /v2/cob/{txid}`.
    CobRead,
    /// `GET /v2/cob`.
    CobList,
    /// `GET /v2/pix/{e2eid}`.
    PixRead,
    /// `GET /v2/pix`.
    PixList,
    /// `PUT /v2/pix/{e2eid}/devolucao/{id}`.
    RefundCreate,
    /// `GET /v2/pix/{e2eid}/devolucao/{id}`.
    RefundRead,
    /// `PUT /v3/gn/pix/{idEnvio}`.
    SendCreate,
    /// Requests that were refused with `id_envio_duplicado`. They count as [`Self::SendCreate`] too.
    SendDuplicate,
    /// `GET /v2/gn/pix/enviados/{e2eId}` and `GET /v2/gn/pix/enviados/id-envio/{idEnvio}`.
    SendRead,
    /// `GET /v2/gn/pix/enviados`.
    SendList,
    /// `GET /v2/gn/infracoes`.
    InfractionList,
    /// `POST /v2/gn/infracoes/{id}/defesa`.
    DefenseCreate,
    /// `GET /v2/gn/saldo`.
    BalanceRead,
    /// `PUT /v2/webhook/{chave}`.
    WebhookSet,
    /// `GET /v2/webhook/{chave}`.
    WebhookRead,
    /// `DELETE /v2/webhook/{chave}`.
    WebhookRemove,
    /// `GET /v2/webhook`.
    WebhookList,
    /// `GET /qr/v2/{token}`: the payer's institution reads a charge's payload.
    Payload,
    /// `POST /v1/auth` of the crypto processor.
    CryptoLogin,
    /// `GET /v1/currencies`, `/v1/full-currencies` and `/v1/merchant/coins`.
    CryptoRates,
    /// `GET /v1/min-amount`, `GET /v1/payout-withdrawal/min-amount/{coin}` and `GET /v1/payout/fee`.
    CryptoMinimum,
    /// `GET /v1/estimate`.
    CryptoEstimate,
    /// `GET /v1/balance`.
    CryptoBalance,
    /// `POST /v1/payment`.
    CryptoPaymentCreate,
    /// `GET /v1/payment/{id}` and `POST /v1/payment/{id}/update-merchant-estimate`.
    CryptoPaymentRead,
    /// `GET /v1/payment/`.
    CryptoPaymentList,
    /// `POST /v1/payout/validate-address`.
    CryptoAddressCheck,
    /// `POST /v1/payout`.
    CryptoPayoutCreate,
    /// `POST /v1/payout/{id}/verify`.
    CryptoPayoutVerify,
    /// `GET /v1/payout/{id}`.
    CryptoPayoutRead,
    /// `GET /v1/payout`.
    CryptoPayoutList,
    /// `POST /v1/payout/{id}/cancel`.
    CryptoPayoutCancel,
    /// `GET` of the PTAX service's rates.
    PtaxRate,
    /// `POST /charge` of Woovi's API.
    WooviChargeCreate,
    /// `GET /charge/{id}`.
    WooviChargeRead,
    /// `PATCH` and `DELETE /charge/{id}`.
    WooviChargeRevise,
    /// `GET /charge`.
    WooviChargeList,
    /// `POST /payment`.
    WooviPaymentCreate,
    /// `POST /payment/approve`.
    WooviPaymentApprove,
    /// `GET /payment/{id}`.
    WooviPaymentRead,
    /// `GET /payment`.
    WooviPaymentList,
    /// `POST /charge/{id}/refund` and `POST /refund`.
    WooviRefundCreate,
    /// `GET /charge/{id}/refund` and `GET /refund/{id}`.
    WooviRefundRead,
    /// `GET /refund`.
    WooviRefundList,
    /// `GET /transaction/{id}`.
    WooviTransactionRead,
    /// `GET /transaction`.
    WooviTransactionList,
    /// `GET /dispute/{id}`.
    WooviDisputeRead,
    /// `GET /dispute`.
    WooviDisputeList,
    /// `POST /dispute/{id}/evidence`.
    WooviEvidenceCreate,
    /// `GET /account` and `GET /account/{id}`.
    WooviBalance,
    /// `GET /statement`.
    WooviStatement,
    /// `POST /webhook`.
    WooviWebhookCreate,
    /// `GET /webhook` and `GET /webhook/events`.
    WooviWebhookList,
    /// `DELETE /webhook/{id}`.
    WooviWebhookRemove,
    /// `GET /webhook/public-keys`.
    WooviPublicKey,
}

/// The counts by operation, since the simulator started.
#[derive(Debug, Default)]
pub struct Requests(Mutex<BTreeMap<Operation, u64>>);

impl Requests {
    /// Counts one request.
    pub fn count(&self, operation: Operation) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(operation).or_default() += 1;
    }

    /// Returns the counts. An operation without requests is absent.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Operation, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
