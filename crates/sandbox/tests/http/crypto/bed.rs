//! A running simulator with a client of its crypto processor.

use std::time::Duration;

use cais_sandbox::{Control, CryptoCredentials, Sandbox, SandboxConfig};
use reqwest::{Client, Method, RequestBuilder, Response};
use ring::hmac;
use serde_json::{Value, json};

/// A good address of a recipient.
pub const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

pub struct CryptoBed {
    pub sandbox: Sandbox,
    pub control: Control,
    pub credentials: CryptoCredentials,
    pub client: Client,
    pub token: String,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub text: String,
    /// Null unless the text is JSON.
    pub body: Value,
}

impl Reply {
    /// Returns the status with the code of a refusal.
    pub fn refusal(&self) -> (u16, &str) {
        assert_eq!(self.body["status"], false, "{self:?}");
        assert_eq!(self.body["statusCode"], self.status, "{self:?}");
        (self.status, self.body["code"].as_str().unwrap())
    }

    /// Returns a field as its raw text in the answer.
    pub fn raw(&self, field: &str) -> &str {
        let (_, rest) = self.text.split_once(&format!("\"{field}\":")).unwrap();
        &rest[..rest.find([',', '}']).unwrap()]
    }
}

impl CryptoBed {
    pub async fn start() -> Self {
        Self::with(SandboxConfig::default()).await
    }

    pub async fn with(config: SandboxConfig) -> Self {
        let sandbox = Sandbox::start(config).await.unwrap();
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
        let (control, credentials) = (sandbox.control(), sandbox.crypto_credentials());
        let mut bed = Self { sandbox, control, credentials, client, token: String::new() };
        bed.login().await;
        bed
    }

    pub async fn login(&mut self) {
        let body = json!({ "email": self.credentials.email, "password": self.credentials.password });
        let request = self.client.post(self.url("/v1/auth")).json(&body);
        let reply = read(request.send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body["token"].as_str().unwrap().clone_into(&mut self.token);
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.credentials.base_url)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        request.header("x-api-key", &self.credentials.api_key).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Reply {
        read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        read(self.request(Method::POST, path).json(body).send().await.unwrap()).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Reply {
        read(self.request(Method::PUT, path).json(body).send().await.unwrap()).await
    }

    /// Changes settings of the processor.
    pub async fn set(&self, settings: Value) {
        let reply = self.put("/sandbox/crypto/settings", &settings).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    /// Creates a payment of 100 USD in `coin` and returns its id.
    pub async fn pay_in(&self, coin: &str, callback: Option<&str>) -> String {
        let mut body =
            json!({ "price_amount": 100, "price_currency": "usd", "pay_currency": coin, "order_id": "dep_1" });
        if let Some(callback) = callback {
            body["ipn_callback_url"] = callback.into();
        }
        let reply = self.post("/v1/payment", &body).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.body["payment_id"].as_str().unwrap().to_owned()
    }

    pub async fn payment(&self, id: &str) -> Reply {
        self.get(&format!("/v1/payment/{id}")).await
    }

    pub fn balance(&self, coin: &str) -> String {
        let ledger = self.control.ledger().unwrap();
        ledger.crypto.balances[coin].to_string()
    }

    /// Requests a withdrawal of `amount` TRX.
    pub async fn pay_out(&self, amount: &str, id: &str) -> Reply {
        self.post("/v1/payout", &withdrawal(amount, id)).await
    }

    pub async fn verify(&self, batch: &str) -> Reply {
        let code = self.code(0);
        self.post(&format!("/v1/payout/{batch}/verify"), &json!({ "verification_code": code })).await
    }

    /// Requests and verifies a withdrawal. Returns the ids of batch and withdrawal.
    pub async fn paid_out(&self, amount: &str, id: &str) -> (String, String) {
        let reply = self.pay_out(amount, id).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (batch, withdrawal) = (text(&reply.body["id"]), text(&reply.body["withdrawals"][0]["id"]));
        let verified = self.verify(&batch).await;
        assert_eq!((verified.status, verified.text.as_str()), (200, "OK"));
        (batch, withdrawal)
    }

    pub async fn status_of_payout(&self, id: &str) -> String {
        let reply = self.get(&format!("/v1/payout/{id}")).await;
        reply.body[0]["status"].as_str().unwrap().to_owned()
    }

    /// Returns the TOTP code of the step that is `steps` after the current one, as any authenticator does.
    pub fn code(&self, steps: i64) -> String {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let letters = self.credentials.totp_secret.chars();
        let bits: Vec<String> = letters.map(|c| format!("{:05b}", alphabet.find(c).unwrap())).collect();
        let bits = bits.concat();
        let key: Vec<u8> =
            (0..bits.len() / 8).map(|i| u8::from_str_radix(&bits[i * 8..i * 8 + 8], 2).unwrap()).collect();
        let counter = self.control.ledger().unwrap().now.as_second() / 30 + steps;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key), &counter.to_be_bytes());
        let tag = tag.as_ref();
        let at = usize::from(tag[19] & 15);
        let number = u32::from_be_bytes([tag[at] & 127, tag[at + 1], tag[at + 2], tag[at + 3]]);
        format!("{:06}", number % 1_000_000)
    }
}

/// Returns the body of a withdrawal of TRX.
pub fn withdrawal(amount: &str, id: &str) -> Value {
    let amount: Value = serde_json::from_str(amount).unwrap();
    json!({ "withdrawals": [{ "address": TRON, "currency": "trx", "amount": amount, "unique_external_id": id }] })
}

pub async fn read(response: Response) -> Reply {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Reply { status, text, body }
}
