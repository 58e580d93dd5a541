//! `cais sandbox` in its own process: an independent acquirer.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use cais_testkit::server::cais_binary;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::{Reply, client};

/// A running simulated acquirer, which ends when dropped or when the test process ends.
pub struct Institution {
    client: Client,
    credentials: Value,
    guard: Child,
    input: Option<ChildStdin>,
    folder: TempDir,
}

/// A shell that ends the program when its own input closes, as at the end of the test process.
const GUARD: &str = r#""$@" </dev/null & program=$!; exec >&-; read -r _; kill -9 $program; wait $program 2>/dev/null"#;

impl Institution {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", GUARD, "sh"]).arg(cais_binary().unwrap());
        shell.args(["sandbox", "--listen", "127.0.0.1:0", "--json", "--state-file"]).arg(folder.path().join("journal"));
        // The tests' and the machine's settings do not apply to it.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CAIS_")) {
            shell.env_remove(name);
        }
        shell.env("CAIS_DATA_DIR", folder.path()).current_dir(folder.path());
        let mut guard = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = guard.stdin.take();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let credentials = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Self { client: client(), credentials, guard, input, folder }
    }

    /// Returns a credential by its name in the first line of the output, such as `base_url` or `crypto_api_key`.
    pub fn credential(&self, name: &str) -> String {
        self.credentials[name].as_str().unwrap().to_owned()
    }

    /// Returns the environment that makes it the acquirer `name`.
    pub fn environment(&self, name: &str) -> Vec<(String, String)> {
        let key = |word: &str| format!("CAIS_ACQUIRERS__{}__{}", name.to_uppercase(), word.to_uppercase());
        let words = ["base_url", "client_id", "client_secret", "pix_key"];
        let words = words.into_iter().map(|word| (key(word), self.credential(word)));
        words.chain([(key("kind"), "efi".to_owned())]).collect()
    }

    /// Returns the environment that makes it the acquirer `name` through Woovi's API.
    pub fn woovi_environment(&self, name: &str) -> Vec<(String, String)> {
        let key_file = self.folder.path().join("woovi.pem");
        std::fs::write(&key_file, self.credential("woovi_webhook_public_key")).unwrap();
        let words = [
            ("kind", "woovi".to_owned()),
            ("base_url", self.credential("woovi_base_url")),
            ("app_id", self.credential("woovi_app_id")),
            ("webhook_public_key_file", key_file.display().to_string()),
        ];
        let key = |word: &str| format!("CAIS_ACQUIRERS__{}__{}", name.to_uppercase(), word.to_uppercase());
        words.into_iter().map(|(word, value)| (key(word), value)).collect()
    }

    /// Returns the environment that makes it the crypto processor and the source of rates.
    pub fn crypto_environment(&self) -> Vec<(String, String)> {
        let words = ["base_url", "api_key", "ipn_secret", "email", "password", "totp_secret"];
        let own = words
            .map(|word| (format!("CAIS_CRYPTO__{}", word.to_uppercase()), self.credential(&format!("crypto_{word}"))));
        let kind = ("CAIS_CRYPTO__KIND".to_owned(), "nowpayments".to_owned());
        own.into_iter()
            .chain([kind, ("CAIS_CRYPTO__PTAX__BASE_URL".to_owned(), self.credential("ptax_base_url"))])
            .collect()
    }

    /// Sends a request to the control interface.
    pub async fn ask(&self, method: Method, path: &str, body: &Value) -> Reply {
        let url = format!("{}{path}", self.credential("base_url"));
        Reply::of(self.client.request(method, url).json(body)).await
    }

    /// Pays a charge. Returns the end-to-end id.
    pub async fn pay(&self, txid: &str) -> String {
        let paid = self.ask(Method::POST, &format!("/sandbox/cob/{txid}/pay"), &json!({})).await.expect(200);
        paid["endToEndId"].as_str().unwrap().to_owned()
    }

    /// Returns all sends, with the number of their effects.
    pub async fn sends(&self) -> Vec<Value> {
        let ledger = self.ledger().await;
        let items = |list: &str| ledger[list]["items"].as_array().unwrap().clone();
        [items("sent"), items("rejected")].concat()
    }

    /// Sets the account's balance, in reais.
    pub async fn set_balance(&self, reais: &str) {
        self.ask(Method::PUT, "/sandbox/saldo", &json!({ "saldo": reais })).await;
    }

    /// Returns a sent Pix for its recipient.
    pub async fn return_sent(&self, id_envio: &str, body: &Value) -> Reply {
        self.ask(Method::POST, &format!("/sandbox/sent/{id_envio}/return"), body).await
    }

    /// Sets the clock ahead of the machine's, in seconds.
    pub async fn clock(&self, offset_s: i64) {
        self.ask(Method::PUT, "/sandbox/clock", &json!({ "offset_s": offset_s })).await.expect(200);
    }

    /// Sets the fault.
    pub async fn faults(&self, mode: &str) {
        self.ask(Method::PUT, "/sandbox/faults", &json!({ "mode": mode })).await.expect(200);
    }

    /// Sets the latency.
    pub async fn slow(&self, latency_ms: u64) {
        let body = json!({ "mode": "slow", "latency_ms": latency_ms });
        self.ask(Method::PUT, "/sandbox/faults", &body).await.expect(200);
    }

    pub async fn ledger(&self) -> Value {
        self.ask(Method::GET, "/sandbox/ledger", &json!({})).await.expect(200)
    }

    /// Returns the number of charges.
    pub async fn charges(&self) -> u64 {
        self.ledger().await["cobs"].as_u64().unwrap()
    }

    /// Returns the number of requests of an operation.
    pub async fn requests(&self, operation: &str) -> u64 {
        self.ledger().await["requests"].get(operation).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the registered callback URL.
    pub async fn callback_url(&self) -> Option<String> {
        let path = format!("/v2/webhook/{}", self.credential("pix_key"));
        let hook = self.as_client(Method::GET, &path, None).await;
        (hook.status == 200).then(|| hook.json()["webhookUrl"].as_str().unwrap().to_owned())
    }

    /// Sends a request to the public interface with the service's credentials.
    async fn as_client(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let base = self.credential("base_url");
        let token = self.client.post(format!("{base}/oauth/token"));
        let token = token.basic_auth(self.credential("client_id"), Some(self.credential("client_secret")));
        let token =
            token.header("content-type", "application/x-www-form-urlencoded").body("grant_type=client_credentials");
        let token = Reply::of(token).await.expect(200);
        let request = self.client.request(method, format!("{base}{path}"));
        let request = request.bearer_auth(token["access_token"].as_str().unwrap());
        Reply::of(match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        })
        .await
    }

    /// Disputes a Pix. Returns the infraction's id here.
    pub async fn dispute(&self, end_to_end_id: &str, body: &Value) -> String {
        let made = self.ask(Method::POST, &format!("/sandbox/pix/{end_to_end_id}/infraction"), body).await.expect(200);
        made["idInfracao"].as_str().unwrap().to_owned()
    }

    /// Resolves or reopens an infraction.
    pub async fn resolve(&self, infraction: &str, outcome: &str) {
        let path = format!("/sandbox/infractions/{infraction}/resolve");
        self.ask(Method::POST, &path, &json!({ "outcome": outcome })).await.expect(200);
    }

    /// Returns an infraction with its counts.
    pub async fn infraction(&self, name: &str) -> Value {
        let ledger = self.ledger().await;
        let all = ledger["infractions"].as_array().unwrap();
        all.iter().find(|item| item["idInfracao"] == name).unwrap().clone()
    }

    /// Defends an infraction outside of the service.
    pub async fn defend(&self, name: &str, text: &str) {
        let body = json!({ "analise": "rejeitado", "justificativa": text });
        let reply = self.as_client(Method::POST, &format!("/v2/gn/infracoes/{name}/defesa"), Some(&body)).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
    }

    /// Creates and pays a charge of another system. Returns the end-to-end id.
    pub async fn foreign_pix(&self, valor: &str) -> String {
        let txid = format!("foreign{}", "0".repeat(25));
        let body = json!({
            "calendario": { "expiracao": 3600 },
            "valor": { "original": valor },
            "chave": self.credential("pix_key"),
        });
        self.as_client(Method::PUT, &format!("/v2/cob/{txid}"), Some(&body)).await.expect(201);
        self.pay(&txid).await
    }
}

impl Drop for Institution {
    fn drop(&mut self) {
        // The guard waits for the end of its input.
        drop(self.input.take());
        drop(self.guard.wait());
    }
}

/// Borrows an environment, with a rate limit that allows frequent polling.
pub fn borrowed(environment: &[(String, String)]) -> Vec<(&str, &str)> {
    let often = ("CAIS_RATE_LIMIT_PER_MINUTE", "1000000");
    environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([often]).collect()
}
