//! The signature of a callback: HMAC-SHA512 over the body's JSON with the members of all objects sorted.

use cais_domain::hex;
use ring::hmac;
use serde_json::Value;

/// Returns whether `signature` is the processor's signature of `body`. The comparison takes the same time for all signatures.
///
/// The processor signs its own serialization: no blanks, members sorted at all depths, and numbers as in the body. For an unreadable body
/// the result is `false`.
pub(super) fn is_valid(secret: &str, signature: &str, body: &[u8]) -> bool {
    let Some(signature) = hex::decode(signature) else { return false };
    let Some(canonical) = canonical(body) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA512, secret.trim().as_bytes());
    hmac::verify(&key, &canonical, &signature).is_ok()
}

/// Returns the text that the processor signs. `serde_json` keeps the text of numbers and sorts the members of objects by name.
fn canonical(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    serde_json::to_vec(&value).ok()
}

#[cfg(test)]
mod tests {
    use super::{canonical, is_valid};

    const SECRET: &str = "ipn_secret_for_tests_0123456789";
    /// A notification of a payment as received, unsorted, with a nested object and an accent.
    const PAYMENT: &str = r#"{"payment_id":5745459419,"parent_payment_id":null,"invoice_id":null,"payment_status":"finished","pay_address":"TNDFkiSmBQorNFacb3735q8MnT29sn8BLn","payin_extra_id":null,"price_amount":100,"price_currency":"usd","pay_amount":412.5,"actually_paid":412.5,"actually_paid_at_fiat":0,"pay_currency":"trx","order_id":"dep_01J8Z","order_description":"Depósito crypto a/b","purchase_id":"5837122679","outcome_amount":99.4,"outcome_currency":"usdtbsc","payment_extra_ids":null,"fee":{"withdrawalFee":0,"currency":"usdtbsc","serviceFee":0.5,"depositFee":0.1}}"#;
    const PAYMENT_CANONICAL: &str = r#"{"actually_paid":412.5,"actually_paid_at_fiat":0,"fee":{"currency":"usdtbsc","depositFee":0.1,"serviceFee":0.5,"withdrawalFee":0},"invoice_id":null,"order_description":"Depósito crypto a/b","order_id":"dep_01J8Z","outcome_amount":99.4,"outcome_currency":"usdtbsc","parent_payment_id":null,"pay_address":"TNDFkiSmBQorNFacb3735q8MnT29sn8BLn","pay_amount":412.5,"pay_currency":"trx","payin_extra_id":null,"payment_extra_ids":null,"payment_id":5745459419,"payment_status":"finished","price_amount":100,"price_currency":"usd","purchase_id":"5837122679"}"#;
    const PAYMENT_SIGNATURE: &str = "4ed9bce86102f64b6a0b5f5eb554270f713df81ab2722dfa14835a0d9ab0dbf61a6ef4cc3c6da609d994922a01586fd7433a23a879c56d4960b28e62cfe1f61c";
    const PAYOUT: &str = r#"{"address":"0xdAC17F958D2ee523a2206206994597C13D831ec7","amount":"50","batch_withdrawal_id":"5000000713","created_at":"2026-01-02T03:04:05.678Z","currency":"usdtbsc","error":null,"extra_id":null,"fee":null,"hash":"0xabc123","id":"5000000000","ipn_callback_url":"https://merchant.example/ipn","requested_at":null,"status":"FINISHED","updated_at":null}"#;
    const PAYOUT_SIGNATURE: &str = "47b8269bc17779fa71c3a29f3437a34adcadb02968b3f78a10bcba89f38de2d31a4bcb04a16251cc6171e726bcde22e24721da2062823c1e83c181b5a9972c4a";

    #[test]
    fn members_are_sorted_and_numbers_keep_their_text() {
        let numbers = r#"{"b":[{"z":1.50,"a":0.00000010},1e-7,100.0],"a":123456789012345678901234567890.10}"#;
        let sorted = r#"{"a":123456789012345678901234567890.10,"b":[{"a":0.00000010,"z":1.50},1e-7,100.0]}"#;
        for (body, wanted) in
            [(PAYMENT, Some(PAYMENT_CANONICAL)), (PAYOUT, Some(PAYOUT)), (numbers, Some(sorted)), ("{", None)]
        {
            assert_eq!(canonical(body.as_bytes()).as_deref(), wanted.map(str::as_bytes), "{body}");
        }
    }

    #[test]
    fn only_the_signature_of_the_body_is_valid() {
        let spaced = PAYOUT.replace(',', " ,\n");
        let other_status = PAYMENT.replace("finished", "waiting");
        let (tampered, upper) = (PAYMENT_SIGNATURE.replace('4', "5"), PAYMENT_SIGNATURE.to_uppercase());
        for (secret, signature, body, wanted) in [
            (SECRET, PAYMENT_SIGNATURE, PAYMENT, true),
            (SECRET, PAYMENT_SIGNATURE, PAYMENT_CANONICAL, true),
            (SECRET, PAYOUT_SIGNATURE, PAYOUT, true),
            (SECRET, PAYOUT_SIGNATURE, spaced.as_str(), true),
            (" ipn_secret_for_tests_0123456789\n", PAYOUT_SIGNATURE, PAYOUT, true),
            (SECRET, upper.as_str(), PAYMENT, true),
            (SECRET, PAYOUT_SIGNATURE, PAYMENT, false),
            (SECRET, tampered.as_str(), PAYMENT, false),
            (SECRET, PAYMENT_SIGNATURE, other_status.as_str(), false),
            ("another", PAYMENT_SIGNATURE, PAYMENT, false),
            (SECRET, PAYMENT_SIGNATURE.get(..126).unwrap_or_default(), PAYMENT, false),
            (SECRET, "", PAYMENT, false),
            (SECRET, "é", PAYMENT, false),
            (SECRET, PAYMENT_SIGNATURE, "<html>", false),
        ] {
            assert_eq!(is_valid(secret, signature, body.as_bytes()), wanted, "{signature} {body}");
        }
    }
}
