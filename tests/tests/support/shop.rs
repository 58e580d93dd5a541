//! A merchant with an API key that calls the service like any client.

use std::sync::Arc;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::http::{Reply, client};
use super::node::Node;
use super::{eventually, unique};

/// An account's key and the address of the service.
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

    /// Returns the merchant, who keeps the service running.
    pub fn keeping(self, node: Arc<Node>) -> Self {
        Self { _node: Some(node), ..self }
    }

    /// Returns the merchant at another server.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Returns the merchant with another key.
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Builds a request to a path below `/v1` without a key.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/v1{path}", self.base))
    }

    /// Builds a request to a path below `/v1`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(&self.key)
    }

    pub async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    /// Sends a POST without an Idempotency-Key and without a body.
    pub async fn post(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::POST, path)).await
    }

    /// Sends a JSON body without an Idempotency-Key.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Reply {
        Reply::of(self.json(method, path, body.to_string())).await
    }

    pub fn json(&self, method: Method, path: &str, body: impl Into<String>) -> RequestBuilder {
        self.request(method, path).header("content-type", "application/json").body(body.into())
    }

    /// Builds `POST /charges` with the key and body.
    pub fn creation(&self, key: &str, body: impl Into<String>) -> RequestBuilder {
        self.json(Method::POST, "/charges", body).header("idempotency-key", key)
    }

    /// Sends `POST /charges` with a new key.
    pub async fn create(&self, body: impl Into<String>) -> Reply {
        self.create_with(&unique("key"), body).await
    }

    pub async fn create_with(&self, key: &str, body: impl Into<String>) -> Reply {
        Reply::of(self.creation(key, body)).await
    }

    /// Creates a charge of an amount.
    pub async fn charge(&self, amount: &str) -> Value {
        self.create(format!(r#"{{"amount":{amount}}}"#)).await.expect(201)
    }

    /// Creates a charge. Returns its id.
    pub async fn charge_id(&self, amount: &str) -> String {
        id(&self.charge(amount).await)
    }

    /// Pays a charge in the built-in sandbox: its amount, or another one.
    pub async fn pay(&self, id: &str, amount: Option<&str>) -> Reply {
        let body = amount.map_or_else(|| "{}".to_owned(), |amount| format!(r#"{{"amount":{amount}}}"#));
        Reply::of(self.json(Method::POST, &format!("/sandbox/charges/{id}/pay"), body)).await
    }

    pub async fn fetch(&self, id: &str) -> Value {
        self.get(&format!("/charges/{id}")).await.expect(200)
    }

    /// Reads the charge until it has a status.
    pub async fn until(&self, id: &str, status: &str) -> Value {
        eventually(&format!("{id} {status}"), || async {
            let charge = self.fetch(id).await;
            (charge["status"] == status).then_some(charge)
        })
        .await
    }

    /// Returns `available_balance`, as written.
    pub async fn available(&self) -> String {
        self.get("/balance").await.expect(200)["available_balance"].to_string()
    }

    /// Waits until an amount is available.
    pub async fn until_available(&self, amount: &str) {
        eventually(&format!("{amount} is available"), || async { (self.available().await == amount).then_some(()) })
            .await;
    }

    /// Returns all charges, page by page.
    pub async fn all_charges(&self) -> Vec<Value> {
        self.all("/charges?limit=200").await
    }

    /// Returns all rows of a list, page by page. The path must have a query.
    pub async fn all(&self, list: &str) -> Vec<Value> {
        let (mut all, mut path) = (Vec::new(), list.to_owned());
        loop {
            let page = self.get(&path).await.expect(200);
            all.extend(page["data"].as_array().unwrap().clone());
            let Some(next) = page["next_starting_after"].as_str() else { return all };
            path = format!("{list}&starting_after={next}");
        }
    }

    /// Earns an amount, by a charge that is paid in the built-in sandbox.
    pub async fn earn(&self, amount: &str) -> String {
        let charge = self.charge_id(amount).await;
        self.pay(&charge, None).await.expect(200);
        self.until(&charge, "paid").await;
        charge
    }

    /// Sends a `POST` that moves money, with the key.
    pub async fn order_with(&self, path: &str, key: &str, body: impl Into<String>) -> Reply {
        Reply::of(self.json(Method::POST, path, body).header("idempotency-key", key)).await
    }

    /// Sends a `POST` that moves money, with a new key.
    pub async fn order(&self, path: &str, body: impl Into<String>) -> Reply {
        self.order_with(path, &unique("key"), body).await
    }

    /// Sends `POST /payouts` with a new key.
    pub async fn pay_out(&self, amount: &str, pix_key: &str) -> Reply {
        self.order("/payouts", format!(r#"{{"amount":{amount},"pix_key":"{pix_key}"}}"#)).await
    }

    /// Reads the payout until it has a status.
    pub async fn until_payout(&self, id: &str, status: &str) -> Value {
        eventually(&format!("{id} {status}"), || async {
            let payout = self.get(&format!("/payouts/{id}")).await.expect(200);
            (payout["status"] == status).then_some(payout)
        })
        .await
    }

    /// Returns all refunds of a charge, newest first.
    pub async fn refunds(&self, charge: &str) -> Vec<Value> {
        self.all(&format!("/charges/{charge}/refunds?limit=200")).await
    }

    /// Returns the whole statement, oldest first.
    pub async fn statement(&self) -> Vec<Value> {
        let mut entries = self.all("/balance/entries?limit=200").await;
        entries.reverse();
        entries
    }

    /// Replays the statement from zero. Each balance must follow from the previous line, and the last ones must equal
    /// the balance.
    pub async fn check_statement(&self) {
        let mut buckets = std::collections::BTreeMap::from([("available", 0), ("pending", 0), ("blocked", 0)]);
        let entries = self.statement().await;
        for entry in &entries {
            let bucket = buckets.get_mut(entry["bucket"].as_str().unwrap()).unwrap();
            *bucket += centavos(&entry["amount"]);
            assert_eq!(centavos(&entry["balance_after"]), *bucket, "{entry}");
        }
        let balance = self.get("/balance").await.expect(200);
        for (bucket, sum) in buckets {
            assert_eq!(centavos(&balance[format!("{bucket}_balance")]), sum, "{bucket}: {balance}\n{entries:#?}");
        }
    }

    /// Sets the fault of the built-in sandbox.
    pub async fn faults(&self, mode: &str) {
        self.send(Method::PUT, "/sandbox/faults", &json!({ "mode": mode })).await.expect(200);
    }
}

/// Returns an amount in centavos, exactly.
pub fn centavos(amount: &Value) -> i64 {
    let text = amount.to_string();
    let (reais, cents) = text.split_once('.').unwrap();
    assert_eq!(cents.len(), 2, "two decimals: {text}");
    format!("{reais}{cents}").parse().unwrap()
}

pub fn id(charge: &Value) -> String {
    charge["id"].as_str().unwrap().to_owned()
}
