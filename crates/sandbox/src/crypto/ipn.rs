//! The processor's notifications (IPN): their bodies, and their delivery with a signature and repeats. The tester's settings can pause the
//! delivery, reverse its order, send copies, or make the signatures wrong.

use std::{error::Error, sync::Arc, time::Duration};

use reqwest::{Client, header};
use serde_json::Value;
use tokio::sync::Notify;

use super::{
    canonical,
    http::{payment_views, withdrawal_views},
    settings::IpnSignature,
    state::{
        CryptoChange, Ipn,
        payment::Payment,
        payout::{Batch, Withdrawal},
    },
};
use crate::{
    outbox::{Outbox, Switches},
    psp::Psp,
    state::change::Change,
};

/// The header of the signature.
pub const SIGNATURE: &str = "x-nowpayments-sig";

/// The secret of the signatures that are wrong on purpose.
const OTHER_SECRET: &str = "another secret";

/// Returns the notification of a payment's current status, if the client gave a URL.
#[must_use]
pub fn of_payment(payment: &Payment) -> Option<Ipn> {
    let url = payment.terms.ipn_callback_url.as_deref()?;
    let body = serde_json::to_string(&payment_views::ipn(payment)).ok()?;
    Some(Ipn { url: Arc::from(url), body: body.into() })
}

/// Returns the notification of a withdrawal's current status, if the client gave a URL.
#[must_use]
pub fn of_withdrawal(batch: &Batch, withdrawal: &Withdrawal) -> Option<Ipn> {
    let url = withdrawal.ipn_callback_url.as_deref()?;
    let body = serde_json::to_string(&withdrawal_views::ipn(batch, withdrawal)).ok()?;
    Some(Ipn { url: Arc::from(url), body: body.into() })
}

/// The queue of the processor's notifications, for [`crate::outbox::deliver`].
pub struct Ipns {
    /// The simulator.
    pub psp: Arc<Psp>,
    /// The HTTP client.
    pub client: Client,
    /// The wait between attempts.
    pub repeat_after: Duration,
}

impl Outbox for Ipns {
    /// The first attempt and three repeats.
    const MAX_ATTEMPTS: u32 = 4;

    fn numbers_from(&self, first: u64) -> Vec<u64> {
        self.psp.read().books().crypto().owed_ipns().range(first..).map(|(number, _)| *number).collect()
    }

    fn switches(&self) -> Switches {
        let settings = self.psp.crypto.settings();
        Switches { is_paused: settings.ipn_paused, is_reversed: settings.ipn_reversed }
    }

    fn wakeup(&self) -> &Notify {
        &self.psp.crypto.ipn_wakeup
    }

    fn repeat_after(&self, _attempts: u32) -> Duration {
        self.repeat_after
    }

    async fn attempt(&self, number: u64) -> bool {
        attempt(&self.psp, &self.client, number).await
    }

    fn end(&self, number: u64, delivered: bool) {
        end(&self.psp, number, delivered);
    }
}

/// Makes one attempt. Returns `true` if the receiver answered 2xx to the first copy.
async fn attempt(psp: &Psp, client: &Client, number: u64) -> bool {
    let settings = psp.crypto.settings();
    let Some(Ipn { url, body }) = psp.read().books().crypto().owed_ipns().get(&number).cloned() else { return false };
    let signature = sign(&psp.crypto.keys.ipn_secret, &body, settings.ipn_signature);
    let mut is_accepted = false;
    for copy in 0..settings.ipn_copies.max(1) {
        let is_ok = post(client, &url, &body, signature.as_deref(), number).await;
        // Only the first copy decides. The outcome of further copies has no effect.
        is_accepted = if copy == 0 { is_ok } else { is_accepted };
        if !is_accepted {
            break;
        }
    }
    is_accepted
}

fn sign(secret: &str, body: &str, kind: IpnSignature) -> Option<String> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let text = canonical::canonical(&value);
    match kind {
        IpnSignature::Valid => Some(canonical::signature(secret, &text)),
        IpnSignature::Wrong => Some(canonical::signature(OTHER_SECRET, &text)),
        IpnSignature::Missing => None,
        IpnSignature::Malformed => Some("not a signature".to_owned()),
    }
}

async fn post(client: &Client, url: &str, body: &str, signature: Option<&str>, number: u64) -> bool {
    let mut request = client.post(url).header(header::CONTENT_TYPE, "application/json").body(body.to_owned());
    if let Some(signature) = signature {
        request = request.header(SIGNATURE, signature);
    }
    match request.send().await {
        Ok(answer) => {
            tracing::debug!(number, status = answer.status().as_u16(), "notification answered");
            answer.status().is_success()
        }
        Err(error) => {
            let error: &dyn Error = &error;
            tracing::debug!(number, error, "notification received no answer; the attempt failed");
            false
        }
    }
}

fn end(psp: &Psp, number: u64, delivered: bool) {
    let change = CryptoChange { ended_ipn: Some((number, delivered)), ..CryptoChange::default() };
    if let Err(error) = psp.write().commit(Change::Crypto(Box::new(change))) {
        let error: &dyn Error = &error;
        tracing::error!(
            number,
            error,
            "end of a notification could not be recorded; the notification is sent again after a restart"
        );
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    const SECRET: &str = "ipn_secret_for_tests_0123456789";

    const PAYMENT: &str = r#"{"payment_id":5745459419,"parent_payment_id":null,"invoice_id":null,"payment_status":"finished","pay_address":"TNDFkiSmBQorNFacb3735q8MnT29sn8BLn","payin_extra_id":null,"price_amount":100,"price_currency":"usd","pay_amount":412.5,"actually_paid":412.5,"actually_paid_at_fiat":0,"pay_currency":"trx","order_id":"dep_01J8Z","order_description":"Depósito crypto a/b","purchase_id":"5837122679","outcome_amount":99.4,"outcome_currency":"usdtbsc","payment_extra_ids":null,"fee":{"withdrawalFee":0,"currency":"usdtbsc","serviceFee":0.5,"depositFee":0.1}}"#;

    const CANONICAL: &str = r#"{"actually_paid":412.5,"actually_paid_at_fiat":0,"fee":{"currency":"usdtbsc","depositFee":0.1,"serviceFee":0.5,"withdrawalFee":0},"invoice_id":null,"order_description":"Depósito crypto a/b","order_id":"dep_01J8Z","outcome_amount":99.4,"outcome_currency":"usdtbsc","parent_payment_id":null,"pay_address":"TNDFkiSmBQorNFacb3735q8MnT29sn8BLn","pay_amount":412.5,"pay_currency":"trx","payin_extra_id":null,"payment_extra_ids":null,"payment_id":5745459419,"payment_status":"finished","price_amount":100,"price_currency":"usd","purchase_id":"5837122679"}"#;

    const PAYOUT: &str = r#"{"status":"FINISHED","address":"0xdAC17F958D2ee523a2206206994597C13D831ec7","amount":"50","batch_withdrawal_id":"5000000713","created_at":"2026-01-02T03:04:05.678Z","currency":"usdtbsc","error":null,"extra_id":null,"fee":null,"hash":"0xabc123","id":"5000000000","ipn_callback_url":"https://merchant.example/ipn","requested_at":null,"updated_at":null}"#;

    #[test]
    fn signature_equals_the_payment_vector() {
        let value: Value = serde_json::from_str(PAYMENT).unwrap();
        assert_eq!(canonical::canonical(&value), CANONICAL);
        let expected = "4ed9bce86102f64b6a0b5f5eb554270f713df81ab2722dfa14835a0d9ab0dbf61a6ef4cc3c6da609d994922a01586fd7433a23a879c56d4960b28e62cfe1f61c";
        assert_eq!(sign(SECRET, PAYMENT, IpnSignature::Valid).unwrap(), expected);
        assert_eq!(sign(" ipn_secret_for_tests_0123456789\n", PAYMENT, IpnSignature::Valid).unwrap(), expected);
        assert_ne!(sign(SECRET, PAYMENT, IpnSignature::Wrong).unwrap(), expected);
    }

    #[test]
    fn signature_equals_the_payout_vector() {
        let expected = "47b8269bc17779fa71c3a29f3437a34adcadb02968b3f78a10bcba89f38de2d31a4bcb04a16251cc6171e726bcde22e24721da2062823c1e83c181b5a9972c4a";
        assert_eq!(sign(SECRET, PAYOUT, IpnSignature::Valid).unwrap(), expected);
    }
}
