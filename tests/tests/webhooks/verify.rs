//! The README's examples, run against real deliveries, and the program's own tools for receivers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::{paid, receiving, secret};
use crate::support::{Engine, Received, Receiver, centavos, eventually, id, on_both, shared};

on_both! { examples_accept_only_authentic_webhooks signatures_are_checked_by_hand events_are_forwarded_as_they_happen }

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the README's example in a language.
fn example(language: &str) -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let begin = format!("```{language}\n");
    let mut found = readme.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    let example = found.find(|code| code.contains("standardwebhooks")).unwrap();
    assert!(found.next().is_none(), "one example in {language}");
    example
}

/// Returns the folder of the published verifiers installed by `scripts/setup`.
fn verifiers() -> PathBuf {
    std::env::var_os("CAIS_VERIFIERS").map_or_else(|| root().join("target/verifiers"), PathBuf::from)
}

/// Runs a program with a standard input.
fn fed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// Returns whether the example accepts the case. `driver` reads the case and calls the example.
fn accepts(program: &str, file: &str, code: &str, driver: &str, case: &Value) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join(file);
    std::fs::write(&script, format!("{code}\n{driver}")).unwrap();
    let mut command = Command::new(program);
    command.arg(&script);
    command.env("PYTHONPATH", verifiers().join("python"));
    if program == "node" {
        // Modules are resolved beside the script.
        std::os::unix::fs::symlink(verifiers().join("node/node_modules"), folder.path().join("node_modules")).unwrap();
    }
    let output = fed(&mut command, case.to_string().as_bytes());
    let printed = String::from_utf8(output.stdout).unwrap();
    match printed.trim() {
        "accepted charge.paid" => true,
        "refused" => false,
        _ => panic!("{program} printed {printed:?} and {}", String::from_utf8_lossy(&output.stderr)),
    }
}

const PYTHON_DRIVER: &str = r#"
import json, sys
from standardwebhooks.webhooks import WebhookVerificationError
case = json.load(sys.stdin)
try:
    event = read_event(case["secret"], case["headers"], case["body"].encode())
    print("accepted", event["type"])
except WebhookVerificationError:
    print("refused")
"#;

const NODE_DRIVER: &str = r#"
import { readFileSync } from "node:fs";
import { WebhookVerificationError } from "standardwebhooks";
const given = JSON.parse(readFileSync(0, "utf8"));
try {
  console.log("accepted", readEvent(given.secret, given.headers, given.body).type);
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log("refused");
}
"#;

// README: begin of the example in Rust
use reqwest::header::HeaderMap;
use standardwebhooks::{Webhook, WebhookError};

fn read_event(secret: &str, headers: &HeaderMap, body: &[u8]) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    Webhook::new(secret)?.verify(body, headers)?;
    Ok(serde_json::from_slice(body)?)
}
// README: end of the example in Rust

fn case(received: &Received, secret: &str) -> Value {
    json!({ "secret": secret, "headers": received.headers, "body": str::from_utf8(&received.body).unwrap() })
}

fn rust_accepts(case: &Value) -> bool {
    let headers = case["headers"].as_object().unwrap();
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            let name: reqwest::header::HeaderName = name.parse().unwrap();
            (name, reqwest::header::HeaderValue::from_str(value.as_str().unwrap()).unwrap())
        })
        .collect();
    let read = read_event(case["secret"].as_str().unwrap(), &headers, case["body"].as_str().unwrap().as_bytes());
    match read {
        Ok(event) => event["type"] == "charge.paid",
        Err(error) => {
            assert!(error.downcast_ref::<WebhookError>().is_some(), "{error}");
            false
        }
    }
}

#[test]
fn rust_example_of_the_readme_is_tested() {
    let source = include_str!("verify.rs");
    let (_, rest) = source.split_once("// README: begin of the example in Rust\n").unwrap();
    let (code, _) = rest.split_once("// README: end of the example in Rust").unwrap();
    let in_readme = example("rust").replace("use http::HeaderMap;", "use reqwest::header::HeaderMap;");
    assert_eq!(in_readme.trim(), code.trim());
}

async fn examples_accept_only_authentic_webhooks(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["charge.paid"]).await;
    let rotate = format!("/webhook-endpoints/{}/rotate-secret", id(&endpoint));
    let second = secret(&shop.post(&rotate).await.expect(200));
    let description = "ação ✓ \"quoted\"";
    let made = shop.create(json!({ "amount": 10, "description": description }).to_string()).await.expect(201);
    shop.pay(&id(&made), None).await.expect(200);
    let received = receiver.until(1).await.remove(0);

    let good = case(&received, &second);
    let mut forged = good.clone();
    forged["body"] = json!(good["body"].as_str().unwrap().replace("10.00", "99.00"));
    let mut old = good.clone();
    let stamp: i64 = received.header("webhook-timestamp").parse().unwrap();
    old["headers"]["webhook-timestamp"] = json!((stamp - 600).to_string());
    let mut other = good.clone();
    other["headers"]["webhook-id"] = json!("evt_01arz3ndektsv4rrffq69g5fav");
    let before = case(&received, &secret(&endpoint));
    let (python, javascript) = (example("python"), example("javascript"));
    for (case, accepted) in [(&good, true), (&before, true), (&forged, false), (&old, false), (&other, false)] {
        assert_eq!(accepts("python3", "receiver.py", &python, PYTHON_DRIVER, case), accepted, "python: {case}");
        assert_eq!(accepts("node", "receiver.mjs", &javascript, NODE_DRIVER, case), accepted, "node: {case}");
        assert_eq!(rust_accepts(case), accepted, "rust: {case}");
    }
}

async fn signatures_are_checked_by_hand(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["charge.paid"]).await;
    paid(&shop, "10").await;
    let received = receiver.until(1).await.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let (body, kept) = (folder.path().join("body.json"), folder.path().join("secrets"));
    // Both secrets, one per line, as after a rotation.
    std::fs::write(&kept, format!("whsec_{}=\n{}\n", "A".repeat(43), secret(&endpoint))).unwrap();
    let verify = |body_bytes: &[u8]| {
        std::fs::write(&body, body_bytes).unwrap();
        let arguments = [
            "webhook",
            "verify",
            "--secret-file",
            kept.to_str().unwrap(),
            "--id",
            received.header("webhook-id"),
            "--timestamp",
            received.header("webhook-timestamp"),
            "--signature",
            received.header("webhook-signature"),
            body.to_str().unwrap(),
        ]
        .map(str::to_owned);
        node.cais.cli_raw(&arguments.each_ref().map(String::as_str)).unwrap()
    };
    let (code, printed) = verify(&received.body);
    assert_eq!(code, Some(0), "{printed}");
    let (code, printed) = verify(b"{}");
    assert_eq!(code, Some(1), "{printed}");
    assert!(!printed.contains(&secret(&endpoint)), "{printed}");
}

async fn events_are_forwarded_as_they_happen(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    paid(&shop, "9").await;
    let receiver = Receiver::start().await;
    let mut listen = Command::new(cais_testkit::server::cais_binary().unwrap());
    listen.args([
        "listen",
        "--json",
        "--forward-to",
        &receiver.url("/local"),
        "--base-url",
        &format!("{}/v1", node.base()),
    ]);
    // The tests' and the machine's settings do not apply to it.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CAIS_")) {
        listen.env_remove(name);
    }
    listen.env("CAIS_API_KEY", &shop.key).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut listening = Listening(listen.spawn().unwrap());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(listening.0.stdout.take().unwrap()));
    // The first line shows the signing secret.
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let secret = first["secret"].as_str().unwrap().to_owned();
    paid(&shop, "10").await;
    let received = receiver.until(1).await.remove(0);
    super::verify(&received, &secret);
    assert_eq!(centavos(&received.json()["data"]["amount"]), 1_000, "earlier events are not shown");
    assert_eq!(shop.get(&format!("/events/{}", received.header("webhook-id"))).await.body, received.body);
    let shown: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&shown["type"], &shown["status_code"]), (&json!("charge.paid"), &json!(200)));
    eventually("only that", || async { (receiver.received().len() == 1).then_some(()) }).await;
    // After the end of its reader, the program ends by itself.
    drop(lines);
    paid(&shop, "11").await;
    let ended = tokio::task::spawn_blocking(move || listening.0.wait().unwrap());
    let ended = tokio::time::timeout(std::time::Duration::from_mins(1), ended).await.unwrap().unwrap();
    assert!(ended.success(), "{ended}");
}

/// Ends the program with the test.
struct Listening(std::process::Child);

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
