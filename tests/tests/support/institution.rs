//! `cais sandbox` in a process of its own: an acquirer that lives and dies by itself.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use cais_testkit::server::cais_binary;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::{Reply, client};

/// A running simulated acquirer. It ends when this is dropped, and never outlives the test process.
pub struct Institution {
    client: Client,
    credentials: Value,
    guard: Child,
    input: Option<ChildStdin>,
    _folder: TempDir,
}

/// A shell that ends the program when its own input does, as it does when the test process is gone.
const GUARD: &str = r#""$@" </dev/null & program=$!; exec >&-; read -r _; kill -9 $program; wait $program 2>/dev/null"#;

impl Institution {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", GUARD, "sh"]).arg(cais_binary().unwrap());
        shell.args(["sandbox", "--listen", "127.0.0.1:0", "--json", "--state-file"]).arg(folder.path().join("journal"));
        // Nothing that is set for the tests or on this machine is meant for it.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CAIS_")) {
            shell.env_remove(name);
        }
        shell.env("CAIS_DATA_DIR", folder.path()).current_dir(folder.path());
        let mut guard = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = guard.stdin.take();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let credentials = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Self { client: client(), credentials, guard, input, _folder: folder }
    }

    /// A word of its credentials: `base_url`, `client_id`, `client_secret`, `pix_key`.
    pub fn credential(&self, name: &str) -> String {
        self.credentials[name].as_str().unwrap().to_owned()
    }

    /// The environment that makes it the acquirer `name`.
    pub fn environment(&self, name: &str) -> Vec<(String, String)> {
        let key = |word: &str| format!("CAIS_ACQUIRERS__{}__{}", name.to_uppercase(), word.to_uppercase());
        let words = ["base_url", "client_id", "client_secret", "pix_key"];
        let words = words.into_iter().map(|word| (key(word), self.credential(word)));
        words.chain([(key("kind"), "efi".to_owned())]).collect()
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Reply {
        let url = format!("{}{path}", self.credential("base_url"));
        Reply::of(self.client.request(method, url).json(body)).await
    }

    /// A payer pays a charge; the end-to-end id.
    pub async fn pay(&self, txid: &str) -> String {
        let paid = self.ask(Method::POST, &format!("/sandbox/cob/{txid}/pay"), &json!({})).await.expect(200);
        paid["endToEndId"].as_str().unwrap().to_owned()
    }

    /// What was sent under each name: how often it took effect.
    pub async fn sends(&self) -> Vec<Value> {
        let ledger = self.ledger().await;
        let items = |list: &str| ledger[list]["items"].as_array().unwrap().clone();
        [items("sent"), items("rejected")].concat()
    }

    /// What it may still send, in reais.
    pub async fn saldo(&self, saldo: &str) {
        self.ask(Method::PUT, "/sandbox/saldo", &json!({ "saldo": saldo })).await;
    }

    /// The recipient's institution returns a Pix that was sent.
    pub async fn give_back(&self, id_envio: &str, body: &Value) -> Reply {
        self.ask(Method::POST, &format!("/sandbox/sent/{id_envio}/return"), body).await
    }

    /// Puts its clock so many seconds ahead of the machine's.
    pub async fn clock(&self, offset_s: i64) {
        self.ask(Method::PUT, "/sandbox/clock", &json!({ "offset_s": offset_s })).await.expect(200);
    }

    /// What goes wrong from now on.
    pub async fn faults(&self, mode: &str) {
        self.ask(Method::PUT, "/sandbox/faults", &json!({ "mode": mode })).await.expect(200);
    }

    /// The same with a latency.
    pub async fn slow(&self, latency_ms: u64) {
        let body = json!({ "mode": "slow", "latency_ms": latency_ms });
        self.ask(Method::PUT, "/sandbox/faults", &body).await.expect(200);
    }

    pub async fn ledger(&self) -> Value {
        self.ask(Method::GET, "/sandbox/ledger", &json!({})).await.expect(200)
    }

    /// How many charges it holds.
    pub async fn charges(&self) -> u64 {
        self.ledger().await["cobs"].as_u64().unwrap()
    }

    /// How often an operation reached it.
    pub async fn requests(&self, operation: &str) -> u64 {
        self.ledger().await["requests"].get(operation).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Where it was told to call back.
    pub async fn callback_url(&self) -> Option<String> {
        let path = format!("/v2/webhook/{}", self.credential("pix_key"));
        let hook = self.as_client(Method::GET, &path, None).await;
        (hook.status == 200).then(|| hook.json()["webhookUrl"].as_str().unwrap().to_owned())
    }

    /// A call to its public interface, with the credentials that the service has.
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

    /// A payer disputes a Pix; the infraction's name here.
    pub async fn dispute(&self, end_to_end_id: &str, body: &Value) -> String {
        let made = self.ask(Method::POST, &format!("/sandbox/pix/{end_to_end_id}/infraction"), body).await.expect(200);
        made["idInfracao"].as_str().unwrap().to_owned()
    }

    /// It settles an infraction, or opens it again.
    pub async fn resolve(&self, infraction: &str, outcome: &str) {
        let path = format!("/sandbox/infractions/{infraction}/resolve");
        self.ask(Method::POST, &path, &json!({ "outcome": outcome })).await.expect(200);
    }

    /// An infraction, with how often what was done to it.
    pub async fn infraction(&self, name: &str) -> Value {
        let ledger = self.ledger().await;
        let all = ledger["infractions"].as_array().unwrap();
        all.iter().find(|item| item["idInfracao"] == name).unwrap().clone()
    }

    /// Somebody defends an infraction without the service.
    pub async fn defend(&self, name: &str, text: &str) {
        let body = json!({ "analise": "rejeitado", "justificativa": text });
        let reply = self.as_client(Method::POST, &format!("/v2/gn/infracoes/{name}/defesa"), Some(&body)).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
    }

    /// A Pix of a charge that another system made here; its end-to-end id.
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
        // The end of its input is what the guard waits for.
        drop(self.input.take());
        drop(self.guard.wait());
    }
}

/// Borrowed, as a service takes it; and a rate limit that does not disturb a test that looks often.
pub fn borrowed(environment: &[(String, String)]) -> Vec<(&str, &str)> {
    let often = ("CAIS_RATE_LIMIT_PER_MINUTE", "1000000");
    environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([often]).collect()
}
