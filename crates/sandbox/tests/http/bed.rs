//! A running simulator with a client that has a token.

use std::{future::Future, path::Path, time::Duration};

use cais_domain::{end_to_end_id::EndToEndId, money::Money, txid::Txid};
use cais_sandbox::{Control, Credentials, Sandbox, SandboxConfig};
use reqwest::{Client, Method, Response, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::api_pix::{violations_of_answer, violations_of_request};

/// The time limit for background effects.
const TIMEOUT: Duration = Duration::from_secs(10);

pub struct Bed {
    pub sandbox: Sandbox,
    pub control: Control,
    pub credentials: Credentials,
    pub client: Client,
    pub token: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub allow: String,
    pub body: Value,
}

impl Answer {
    /// Returns the last part of the problem's `type`.
    pub fn kind(&self) -> &str {
        assert_eq!(self.content_type, "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        let prefix = "https://pix.bcb.gov.br/api/v2/error/";
        self.body["type"].as_str().unwrap().strip_prefix(prefix).unwrap()
    }

    pub fn violated(&self) -> Vec<&str> {
        let violations = self.body["violacoes"].as_array().map(Vec::as_slice).unwrap_or_default();
        violations.iter().map(|violation| violation["propriedade"].as_str().unwrap()).collect()
    }
}

impl Bed {
    pub async fn start() -> Self {
        Self::with(SandboxConfig::default()).await
    }

    /// Starts the simulator with a webhook, because a send needs one. The webhook of an earlier run stays.
    pub async fn with(config: SandboxConfig) -> Self {
        let bed = Self::without_webhook(config).await;
        if bed.get(&format!("/v2/webhook/{}", bed.credentials.pix_key)).await.status == 404 {
            bed.register_webhook("http://127.0.0.1:9").await;
        }
        bed
    }

    pub async fn without_webhook(config: SandboxConfig) -> Self {
        let sandbox = Sandbox::start(config).await.unwrap();
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
        let (control, credentials) = (sandbox.control(), sandbox.credentials());
        let mut bed = Self { sandbox, control, credentials, client, token: String::new() };
        bed.authenticate().await;
        bed
    }

    pub async fn authenticate(&mut self) {
        self.token = self.token_for(None).await;
    }

    pub async fn token_for(&self, scope: Option<&str>) -> String {
        let mut body = json!({ "grant_type": "client_credentials" });
        if let Some(scope) = scope {
            body["scope"] = scope.into();
        }
        let request = self
            .client
            .post(self.url("/oauth/token"))
            .basic_auth(&self.credentials.client_id, Some(&self.credentials.client_secret))
            .json(&body);
        let answer = read(request.send().await.unwrap()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["access_token"].as_str().unwrap().to_owned()
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.credentials.base_url)
    }

    pub async fn try_send(&self, method: Method, path: &str, body: Option<&Value>) -> reqwest::Result<Response> {
        let request = self.client.request(method, self.url(path)).bearer_auth(&self.token);
        match body {
            Some(body) => request.json(body).send().await,
            None => request.send().await,
        }
    }

    /// Sends a request. An answer that no fault made must fit the schema, and so must an accepted request.
    async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let answer = read(self.try_send(method.clone(), path, body).await.unwrap()).await;
        if answer.body.is_null() && answer.status == 429 {
            return answer;
        }
        let mut violations = violations_of_answer(method.as_str(), path, answer.status, &answer.body);
        if answer.status < 300 {
            let body = body.map(Value::to_string).unwrap_or_default();
            violations.extend(violations_of_request(method.as_str(), path, &body));
        }
        assert_eq!(violations, [""; 0], "{method} {path}: {answer:?}");
        answer
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, None).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::PUT, path, Some(body)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::POST, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path, None).await
    }

    /// Returns the smallest valid charge.
    pub fn cob(&self, amount: &str) -> Value {
        json!({
            "calendario": { "expiracao": 3600 },
            "valor": { "original": amount },
            "chave": self.credentials.pix_key,
        })
    }

    /// Creates a charge whose txid ends in `number`.
    pub async fn create(&self, number: u32, amount: &str) -> Txid {
        let txid = txid(number);
        let answer = self.put(&format!("/v2/cob/{txid}"), &self.cob(amount)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        txid
    }

    /// Creates a charge and pays it.
    pub async fn paid(&self, number: u32, amount: &str) -> (Txid, EndToEndId) {
        let txid = self.create(number, amount).await;
        let pix = self.control.pay(&txid, None).unwrap();
        (txid, pix.end_to_end_id)
    }

    /// Returns the body of a send to `key`.
    pub fn payout(&self, amount: &str, key: &str) -> Value {
        json!({
            "valor": amount,
            "pagador": { "chave": self.credentials.pix_key },
            "favorecido": { "chave": key },
        })
    }

    /// Requests a send.
    pub async fn send(&self, id: &str, amount: &str, key: &str) -> Answer {
        self.put(&format!("/v3/gn/pix/{id}"), &self.payout(amount, key)).await
    }

    /// Returns a sent Pix from the look-up.
    pub async fn sent(&self, id: &str) -> Value {
        let answer = self.get(&format!("/v2/gn/pix/enviados/id-envio/{id}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }

    pub async fn balance(&self) -> String {
        let answer = self.get("/v2/gn/saldo").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["saldo"].as_str().unwrap().to_owned()
    }

    pub async fn register_webhook(&self, url: &str) {
        let path = format!("/v2/webhook/{}", self.credentials.pix_key);
        assert_eq!(self.put(&path, &json!({ "webhookUrl": url })).await.status, 200);
    }

    pub async fn request_refund(&self, e2e: &EndToEndId, id: &str, amount: &str) -> Answer {
        self.put(&format!("/v2/pix/{e2e}/devolucao/{id}"), &json!({ "valor": amount })).await
    }
}

/// Returns a configuration whose sends stay `EM_PROCESSAMENTO` until the clock moves.
pub fn pending_sends() -> SandboxConfig {
    SandboxConfig { payout_settles_after: Duration::from_hours(1), ..SandboxConfig::default() }
}

/// Returns a configuration whose sends are final at once.
pub fn instant_sends() -> SandboxConfig {
    SandboxConfig { payout_settles_after: Duration::ZERO, ..SandboxConfig::default() }
}

/// Returns the configuration with a state file.
pub fn with_state_file(path: &Path, config: SandboxConfig) -> SandboxConfig {
    SandboxConfig { state_file: Some(path.to_owned()), ..config }
}

pub fn txid(number: u32) -> Txid {
    Txid::parse(&format!("{number:030}")).unwrap()
}

pub fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

pub async fn read(response: Response) -> Answer {
    let text = |name| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let (content_type, allow) = (text(CONTENT_TYPE), text(reqwest::header::ALLOW));
    let status = response.status().as_u16();
    let bytes = response.bytes().await.unwrap();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Answer { status, content_type, allow, body }
}

/// Waits until `probe` gives a value; fails after ten seconds.
pub async fn eventually<T, F: Future<Output = Option<T>>>(mut probe: impl FnMut() -> F) -> T {
    tokio::time::timeout(TIMEOUT, async {
        loop {
            if let Some(value) = probe().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap()
}
