//! Notifications (IPN): bodies with their keys unsorted, and delivery with signature, repeats and the tester's faults.

use std::{cmp::Reverse, collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use reqwest::{Client, header};
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    canonical,
    http::{payment_views, withdrawal_views},
    settings::{IpnSignature, Settings},
    state::{
        CryptoChange, Ipn,
        payment::Payment,
        payout::{Batch, Withdrawal},
    },
};
use crate::{psp::Psp, state::change::Change};

/// The header of the signature.
pub const SIGNATURE: &str = "x-nowpayments-sig";

/// The attempts per notification: the first and three repeats.
const MAX_ATTEMPTS: u32 = 4;

/// The concurrent notifications, unless their order is reversed.
const MAX_IN_FLIGHT: usize = 16;

/// The secret of wrong signatures.
const OTHER_SECRET: &str = "another secret";

/// Returns the notification of a payment's present status, if the client gave a URL.
#[must_use]
pub fn of_payment(payment: &Payment) -> Option<Ipn> {
    let url = payment.terms.ipn_callback_url.as_deref()?;
    let body = serde_json::to_string(&payment_views::ipn(payment)).ok()?;
    Some(Ipn { url: Arc::from(url), body: body.into() })
}

/// Returns the notification of a withdrawal's present status, if the client gave a URL.
#[must_use]
pub fn of_withdrawal(batch: &Batch, withdrawal: &Withdrawal) -> Option<Ipn> {
    let url = withdrawal.ipn_callback_url.as_deref()?;
    let body = serde_json::to_string(&withdrawal_views::ipn(batch, withdrawal)).ok()?;
    Some(Ipn { url: Arc::from(url), body: body.into() })
}

/// Sends notifications until the server ends, first those left by an earlier process. Never returns.
pub async fn deliver(psp: Arc<Psp>, client: Client, repeat_after: Duration) {
    // By number: the instant of the next attempt, and the attempts so far.
    let mut queue: BTreeMap<u64, (Instant, u32)> = BTreeMap::new();
    let mut in_flight = JoinSet::new();
    let mut next_number = 0;
    loop {
        for number in psp.read().books().crypto().owed_ipns().range(next_number..).map(|(number, _)| *number) {
            queue.insert(number, (Instant::now(), 0));
            next_number = number + 1;
        }
        let settings = psp.crypto.settings();
        let limit = if settings.ipn_reversed { 1 } else { MAX_IN_FLIGHT };
        let is_free = !settings.ipn_paused && in_flight.len() < limit;
        let next = is_free.then(|| next_due(&queue, settings.ipn_reversed)).flatten();
        tokio::select! {
            () = psp.crypto.ipn_wakeup.notified() => {}
            () = sleep_until(next.map_or_else(Instant::now, |(due, _)| due)), if next.is_some() => {
                if let Some((_, number)) = next
                    && let Some((_, attempts)) = queue.remove(&number)
                {
                    let attempt = attempt(psp.clone(), client.clone(), number, settings);
                    in_flight.spawn(async move { (number, attempts + 1, attempt.await) });
                }
            }
            Some(Ok((number, attempts, delivered))) = in_flight.join_next(), if !in_flight.is_empty() => {
                if delivered || attempts >= MAX_ATTEMPTS {
                    end(&psp, number, delivered);
                } else {
                    queue.insert(number, (Instant::now() + repeat_after, attempts));
                }
            }
        }
    }
}

/// Returns the notification to send next, with its instant.
fn next_due(queue: &BTreeMap<u64, (Instant, u32)>, is_reversed: bool) -> Option<(Instant, u64)> {
    let due = queue.iter().map(|(number, (due, _))| (*due, *number));
    if is_reversed {
        let now = Instant::now();
        return due.min_by_key(|(due, number)| ((*due).max(now), Reverse(*number)));
    }
    due.min()
}

/// Makes one attempt; `true` for a 2xx.
async fn attempt(psp: Arc<Psp>, client: Client, number: u64, settings: Settings) -> bool {
    let Some(Ipn { url, body }) = psp.read().books().crypto().owed_ipns().get(&number).cloned() else { return false };
    let signature = sign(&psp.crypto.keys.ipn_secret, &body, settings.ipn_signature);
    let mut is_accepted = false;
    for copy in 0..settings.ipn_copies.max(1) {
        let is_ok = post(&client, &url, &body, signature.as_deref(), number).await;
        // The outcome of copies does not matter: the first was accepted.
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
            tracing::debug!(number, error, "notification failed");
            false
        }
    }
}

fn end(psp: &Psp, number: u64, delivered: bool) {
    let change = CryptoChange { ended_ipn: Some((number, delivered)), ..CryptoChange::default() };
    if let Err(error) = psp.write().commit(Change::Crypto(Box::new(change))) {
        let error: &dyn Error = &error;
        tracing::error!(number, error, "end of a notification could not be recorded; it is sent again after a restart");
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
