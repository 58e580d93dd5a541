//! A running simulator with a client of its API of Woovi.

use std::time::Duration;

use cais_domain::{end_to_end_id::EndToEndId, money::Money, txid::Txid};
use cais_sandbox::{Control, Sandbox, SandboxConfig, WooviCredentials};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{
    bed::{Answer, read},
    receiver::Receiver,
};

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

pub const MARIA: &str = "maria@example.com";

pub struct WooviBed {
    pub sandbox: Sandbox,
    pub control: Control,
    pub credentials: WooviCredentials,
    pub client: Client,
}

impl WooviBed {
    pub async fn start() -> Self {
        Self::with(SandboxConfig::default()).await
    }

    pub async fn with(config: SandboxConfig) -> Self {
        let sandbox = Sandbox::start(config).await.unwrap();
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
        let (control, credentials) = (sandbox.control(), sandbox.woovi_credentials());
        Self { sandbox, control, credentials, client }
    }

    /// Returns a request of the API; `path` follows `/api/v1`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}/api/v1{path}", self.credentials.base_url));
        request.header("authorization", &self.credentials.app_id)
    }

    pub async fn get(&self, path: &str) -> Answer {
        read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        read(self.request(Method::DELETE, path).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        read(self.request(Method::POST, path).json(body).send().await.unwrap()).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        read(self.request(Method::PATCH, path).json(body).send().await.unwrap()).await
    }

    /// Sends a request to the control interface.
    pub async fn control(&self, method: Method, path: &str, body: &Value) -> Answer {
        let url = format!("{}/sandbox{path}", self.sandbox.base_url());
        read(self.client.request(method, url).json(body).send().await.unwrap()).await
    }

    /// Creates a charge and returns it.
    pub async fn charge(&self, id: &str, cents: i64) -> Value {
        let answer = self.post("/charge", &json!({ "correlationID": id, "value": cents })).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["charge"].clone()
    }

    /// Creates a charge and pays it.
    pub async fn paid(&self, id: &str, cents: i64) -> EndToEndId {
        let charge = self.charge(id, cents).await;
        self.pay(&charge, None)
    }

    pub fn pay(&self, charge: &Value, amount: Option<i64>) -> EndToEndId {
        let txid = Txid::parse(charge["transactionID"].as_str().unwrap()).unwrap();
        self.control.pay(&txid, amount.map(Money::from_centavos)).unwrap().end_to_end_id
    }

    /// Requests a payment to an e-mail key.
    pub async fn request_payment(&self, id: &str, cents: i64, key: &str) -> Answer {
        self.post("/payment", &payment(id, cents, key)).await
    }

    pub async fn approve(&self, id: &str) -> Answer {
        self.post("/payment/approve", &json!({ "correlationID": id })).await
    }

    /// Returns the status of a payment.
    pub async fn payment_status(&self, id: &str) -> String {
        let answer = self.get(&format!("/payment/{id}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["payment"]["status"].as_str().unwrap().to_owned()
    }

    pub async fn balance(&self) -> i64 {
        let answer = self.get("/account/").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["accounts"][0]["balance"]["available"].as_i64().unwrap()
    }

    /// Registers a webhook and waits for its test delivery, the only one so far.
    pub async fn subscribe(&self, receiver: &Receiver, event: &str) {
        let before = receiver.received().len();
        let webhook = json!({ "name": "w", "event": event, "url": format!("{}/hook", receiver.url) });
        let answer = self.post("/webhook", &json!({ "webhook": webhook })).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        receiver.wait_for(before + 1).await;
    }
}

/// Returns the body of a payment to an e-mail key.
pub fn payment(id: &str, cents: i64, key: &str) -> Value {
    json!({
        "type": "PIX_KEY", "correlationID": id, "value": cents,
        "destinationAlias": key, "destinationAliasType": "EMAIL",
    })
}

impl Answer {
    /// Returns the text of a refusal of Woovi's API.
    pub fn error(&self) -> &str {
        assert_eq!(self.status, 400, "{self:?}");
        self.body["error"].as_str().unwrap()
    }
}
