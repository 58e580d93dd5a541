//! A merchant with an API key, calling the service as any program would.

use std::sync::Arc;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::http::{Reply, client};
use super::node::Node;
use super::{eventually, unique};

/// An account's key and where to use it.
#[derive(Clone)]
pub struct Shop {
    pub client: Client,
    /// `http://127.0.0.1:PORT`, without `/v1`.
    pub base: String,
    pub email: String,
    pub key: String,
    _node: Option<Arc<Node>>,
}

impl Shop {
    pub fn new(base: String, email: String, key: String) -> Self {
        Self { client: client(), base, email, key, _node: None }
    }

    /// The same merchant, who keeps the service running.
    pub fn keeping(self, node: Arc<Node>) -> Self {
        Self { _node: Some(node), ..self }
    }

    /// The same merchant, calling another server.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// The same merchant with another key.
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// A request to a path below `/v1`, without a key.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/v1{path}", self.base))
    }

    /// A request to a path below `/v1`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(&self.key)
    }

    pub async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    /// A POST without an Idempotency-Key and without a body.
    pub async fn post(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::POST, path)).await
    }

    /// A JSON body without an Idempotency-Key.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Reply {
        Reply::of(self.json(method, path, body.to_string())).await
    }

    pub fn json(&self, method: Method, path: &str, body: impl Into<String>) -> RequestBuilder {
        self.request(method, path).header("content-type", "application/json").body(body.into())
    }

    /// `POST /charges` with that key and body, not sent yet.
    pub fn creation(&self, key: &str, body: impl Into<String>) -> RequestBuilder {
        self.json(Method::POST, "/charges", body).header("idempotency-key", key)
    }

    /// `POST /charges` with a key of its own.
    pub async fn create(&self, body: impl Into<String>) -> Reply {
        self.create_with(&unique("key"), body).await
    }

    pub async fn create_with(&self, key: &str, body: impl Into<String>) -> Reply {
        Reply::of(self.creation(key, body)).await
    }

    /// A new charge of that amount.
    pub async fn charge(&self, amount: &str) -> Value {
        self.create(format!(r#"{{"amount":{amount}}}"#)).await.expect(201)
    }

    /// Its id.
    pub async fn charge_id(&self, amount: &str) -> String {
        id(&self.charge(amount).await)
    }

    /// A payer pays, in the built-in sandbox: the charge's amount, or another one.
    pub async fn pay(&self, id: &str, amount: Option<&str>) -> Reply {
        let body = amount.map_or_else(|| "{}".to_owned(), |amount| format!(r#"{{"amount":{amount}}}"#));
        Reply::of(self.json(Method::POST, &format!("/sandbox/charges/{id}/pay"), body)).await
    }

    pub async fn fetch(&self, id: &str) -> Value {
        self.get(&format!("/charges/{id}")).await.expect(200)
    }

    /// Reads the charge until it has that status.
    pub async fn until(&self, id: &str, status: &str) -> Value {
        eventually(&format!("{id} {status}"), || async {
            let charge = self.fetch(id).await;
            (charge["status"] == status).then_some(charge)
        })
        .await
    }

    /// `available_balance`, as written.
    pub async fn available(&self) -> String {
        self.get("/balance").await.expect(200)["available_balance"].to_string()
    }

    /// Waits until so much is available.
    pub async fn until_available(&self, amount: &str) {
        eventually(&format!("{amount} is available"), || async { (self.available().await == amount).then_some(()) })
            .await;
    }

    /// Every charge, page by page.
    pub async fn all_charges(&self) -> Vec<Value> {
        let (mut all, mut query) = (Vec::new(), "?limit=200".to_owned());
        loop {
            let page = self.get(&format!("/charges{query}")).await.expect(200);
            all.extend(page["data"].as_array().unwrap().clone());
            let Some(next) = page["next_starting_after"].as_str() else { return all };
            query = format!("?limit=200&starting_after={next}");
        }
    }

    /// What goes wrong in the built-in sandbox from now on.
    pub async fn faults(&self, mode: &str) {
        self.send(Method::PUT, "/sandbox/faults", &json!({ "mode": mode })).await.expect(200);
    }
}

pub fn id(charge: &Value) -> String {
    charge["id"].as_str().unwrap().to_owned()
}
