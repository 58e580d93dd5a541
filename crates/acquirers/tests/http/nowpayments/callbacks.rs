//! Tests callbacks: the signature, the limit of the size, and the identifiers that are read.

use cais_domain::crypto::ProcessorId;
use cais_ports::{AcquirerError, CryptoCallback, CryptoProcessor as _};
use ring::hmac;

use super::answers::{batch, config, deposit_id, payment_id, processor, withdrawal_id};

/// Signs a text that is sorted already.
fn sign(sorted: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA512, b"ipn_secret_for_tests_0123456789");
    let code = hmac::sign(&key, sorted.as_bytes());
    code.as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn read(body: &str) -> Result<Option<CryptoCallback>, AcquirerError> {
    processor("https://processor.example").read_callback(&sign(body), body.as_bytes())
}

#[test]
fn callback_names_deposits_and_withdrawals() {
    let id = |text: &str| ProcessorId::parse(text).unwrap();
    let deposit = |parent, order| Some(CryptoCallback::Deposit { id: payment_id(), parent, order });
    let ours = format!(r#"{{"order_id":"{}","payment_id":5745459419}}"#, deposit_id());
    let withdrawal = format!(
        r#"{{"batch_withdrawal_id":"5000000713","id":"5000000000","unique_external_id":"{}"}}"#,
        withdrawal_id()
    );
    for (body, wanted) in [
        (ours.as_str(), deposit(None, Some(deposit_id()))),
        (r#"{"order_id":null,"parent_payment_id":null,"payment_id":"5745459419"}"#, deposit(None, None)),
        (r#"{"order_id":"x","parent_payment_id":7,"payment_id":5745459419}"#, deposit(Some(id("7")), None)),
        (withdrawal.as_str(), Some(CryptoCallback::Withdrawal { batch: batch(), order: Some(withdrawal_id()) })),
        (r#"{"batch_withdrawal_id":5000000713}"#, Some(CryptoCallback::Withdrawal { batch: batch(), order: None })),
        (r#"{"id":"5000000000"}"#, None),
        ("{}", None),
    ] {
        assert_eq!(read(body), Ok(wanted), "{body}");
    }
}

#[test]
fn unusable_callback_is_refused() {
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(64 * 1024));
    for body in [large.as_str(), "[1]", "7", r#"{"payment_id":"a/b"}"#, r#"{"batch_withdrawal_id":"é"}"#] {
        assert!(matches!(read(body), Err(AcquirerError::Refused(_))), "{}", body.len());
    }
    let processor = processor("https://processor.example");
    let body = r#"{"payment_id":5745459419}"#;
    for signature in ["", "00", &sign("{}"), &format!("{}0", sign(body))] {
        let found = processor.read_callback(signature, body.as_bytes());
        assert!(matches!(found, Err(AcquirerError::Refused(_))), "{signature}");
    }
}

#[test]
fn configuration_without_secrets_is_refused() {
    use cais_acquirers::{NowPayments, Secret};
    let good = || config("https://processor.example");
    let named = |config| NowPayments::new(&config).err().map(|error| error.to_string()).unwrap_or_default();
    for (wanted, config) in [
        ("", good()),
        ("base_url must be https", config("http://processor.example")),
        ("api_key", cais_acquirers::NowPaymentsConfig { api_key: Secret::new(""), ..good() }),
        ("api_key", cais_acquirers::NowPaymentsConfig { api_key: Secret::new("a\nb"), ..good() }),
        ("email and password", cais_acquirers::NowPaymentsConfig { email: String::new(), ..good() }),
        ("email and password", cais_acquirers::NowPaymentsConfig { password: Secret::new(""), ..good() }),
        ("totp_secret", cais_acquirers::NowPaymentsConfig { totp_secret: Secret::new("0189"), ..good() }),
        ("ipn_secret", cais_acquirers::NowPaymentsConfig { ipn_secret: Secret::new(" "), ..good() }),
    ] {
        let shown = format!("{config:?}");
        assert!(named(config).starts_with(wanted), "{wanted}");
        assert!(!shown.contains("K3Y") && !shown.contains("GEZD"), "{shown}");
    }
}
