//! Unchanged published clients of `NOWPayments` use the sandbox's crypto processor. The Python client `nowpayments` has
//! no lists and no payouts. The JavaScript client `nowpayments-js` has both.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Institution;

/// Uses every method of both classes of the client. The base URL is an attribute of each class.
const PYTHON: &str = r#"
import sys, time
from nowpayments import NOWPayments
from nowpayments.sandbox import NOWPaymentsSandbox
from requests.exceptions import HTTPError
import requests

base, key = sys.argv[1:]
NOWPayments._API_URL = NOWPaymentsSandbox._API_URL = base + "/v1/{}"
client = NOWPayments(key)

def finished(payment_id):
    for _ in range(100):
        payment = client.get_payment_status(payment_id)
        if payment["payment_status"] == "finished":
            return payment
        time.sleep(0.1)
    raise AssertionError(payment)

assert client.get_api_status() == {"message": "OK"}
assert "btc" in client.get_available_currencies()["currencies"]
assert "trx" in client.get_available_checked_currencies()["selectedCurrencies"]
estimate = client.get_estimate_price(100, "usd", "trx")
assert estimate["estimated_amount"] == 400, estimate
minimum = client.get_minimum_payment_amount("trx", "trx", "usd")
assert (minimum["min_amount"], minimum["fiat_equivalent"]) == (12.5, 3.125), minimum

payment = client.create_payment(100, "usd", "trx", order_id="dep_1", fixed_rate=True)
assert (payment["payment_status"], payment["pay_amount"], payment["order_id"]) == ("waiting", 400, "dep_1"), payment
requests.post(f"{base}/sandbox/payment/{payment['payment_id']}/pay", json={}).raise_for_status()
assert finished(payment["payment_id"])["actually_paid"] == 400

# The client of the real sandbox adds `case` to each payment, which is then paid at once.
paid = NOWPaymentsSandbox(key).create_payment(50.5, "usd", "usdtbsc")
assert finished(paid["payment_id"])["outcome_currency"] == "usdtbsc"

def refusal(call):
    try:
        call()
    except HTTPError as error:
        return str(error)
    raise AssertionError("not refused")

assert refusal(lambda: client.create_payment(0.1, "usd", "trx")).startswith("Error 400: Crypto amount")
assert refusal(lambda: client.get_payment_status(12)) == "Error 404: Payment not found"
assert refusal(lambda: NOWPayments("other").get_available_currencies()) == "Error 403: Invalid api key"
"#;

/// Returns the folder of a client that `scripts/setup` installed.
fn client_folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let verifiers = std::env::var_os("CAIS_VERIFIERS").map_or_else(|| root.join("target/verifiers"), PathBuf::from);
    verifiers.join(name)
}

#[test]
fn published_python_client_works_with_the_sandbox() {
    let institution = Institution::start();
    let mut command = Command::new("python3");
    command
        .args(["-c", PYTHON])
        .args([institution.credential("crypto_base_url"), institution.credential("crypto_api_key")]);
    // Requests to this machine must not pass through a proxy.
    let output =
        command.env("PYTHONPATH", client_folder("python-crypto")).env("NO_PROXY", "127.0.0.1").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
    for name in ["crypto_ipn_secret", "crypto_email", "crypto_password", "crypto_totp_secret", "ptax_base_url"] {
        assert!(!institution.credential(name).is_empty(), "{name}");
    }
}

#[test]
fn published_javascript_client_works_with_the_sandbox() {
    let institution = Institution::start();
    let words = ["base_url", "api_key", "email", "password", "ipn_secret", "totp_secret"];
    let output = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crypto_client.js"))
        .args(words.map(|word| institution.credential(&format!("crypto_{word}"))))
        .env("NODE_PATH", client_folder("node-crypto").join("node_modules"))
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}
