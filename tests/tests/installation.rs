//! The start and the stop of a service. The configuration must name an upstream, sandbox and real money are never mixed,
//! the master key must be the database's, and a signal stops the service in order.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cais_testkit::server::Cais;

use crate::support::{Engine, Institution, Reply, borrowed, client, on_both, own, unstarted};

on_both! {
    sandbox_database_with_an_acquirer_is_refused live_database_with_the_sandbox_is_refused start_with_another_master_key_is_refused
}

/// Asserts that a command fails and prints these words.
fn refused(cais: &Cais, command: &[&str], words: &[&str]) {
    let (exit, printed) = cais.cli_raw(command).unwrap();
    assert_eq!(exit, Some(1), "{command:?}: {printed}");
    for word in words {
        assert!(printed.contains(word), "{command:?}: {word} is missing: {printed}");
    }
}

#[tokio::test]
async fn serve_without_an_upstream_names_both_choices() {
    let place = unstarted(Engine::Sqlite, &[("CAIS_SANDBOX", "false")]);
    let both = ["acquirers", "--sandbox", "sandbox = true"];
    refused(&place, &["serve"], &both);
    refused(&place, &["config", "check"], &both);
    assert!(!place.data_dir().join("cais.db").exists(), "the refused command created a database");
    // Commands without an acquirer need no choice.
    assert_eq!(place.cli(&["migrate"]).unwrap()["applied"].as_array().map(Vec::is_empty), Some(false));
}

#[tokio::test]
async fn serve_without_an_account_logs_the_command_for_one() {
    let mut place = unstarted(Engine::Sqlite, &[]);
    place.launch().await.unwrap();
    let log = place.log();
    assert!(log.contains("no account yet: `cais account create") && log.contains("/docs"), "{log}");
    place.create_key("first@shop.example", "all").unwrap();
    place.terminate().unwrap();
    place.launch().await.unwrap();
    assert_eq!(place.log().matches("no account yet").count(), 1, "only the start without an account logs the hint");
}

#[tokio::test]
async fn sandbox_beside_an_acquirer_is_refused() {
    let bank = Institution::start();
    let environment = bank.environment("main");
    let mut environment = borrowed(&environment);
    environment.push(("CAIS_SANDBOX", "true"));
    let place = unstarted(Engine::Sqlite, &environment);
    refused(&place, &["serve"], &["sandbox", "beside an acquirer"]);
    refused(&place, &["config", "check"], &["sandbox", "beside an acquirer"]);
}

async fn sandbox_database_with_an_acquirer_is_refused(engine: Engine) {
    let mut node = own(engine, &[]).await;
    let shop = node.shop();
    for path in ["/healthz", "/docs/", "/v1/openapi.json", "/v1/nothing"] {
        let reply = Reply::of(client().get(format!("{}{path}", node.base()))).await;
        assert_eq!(reply.header("x-cais-sandbox"), Some("true"), "{path}");
    }
    let reply = shop.get("/balance").await;
    assert_eq!((reply.status, reply.header("x-cais-sandbox")), (200, Some("true")));
    assert_eq!(node.cais.terminate().unwrap().code(), Some(0));
    let bank = Institution::start();
    for (name, value) in bank.environment("main") {
        node.cais.set(&name, &value);
    }
    refused(&node.cais, &["serve"], &["sandbox world", "live world", "play money"]);
    refused(&node.cais, &["reconcile", "--from", "2026-01-01", "--to", "2026-01-02"], &["play money"]);
    assert_eq!(bank.charges().await, 0, "the acquirer was not called");
}

async fn live_database_with_the_sandbox_is_refused(engine: Engine) {
    let bank = Institution::start();
    let mut node = own(engine, &borrowed(&bank.environment("main"))).await;
    let reply = node.shop().get("/balance").await;
    assert_eq!((reply.status, reply.header("x-cais-sandbox")), (200, None));
    assert_eq!(node.cais.terminate().unwrap().code(), Some(0));
    for (name, _) in bank.environment("main") {
        node.cais.unset(&name);
    }
    refused(&node.cais, &["serve"], &["live world", "sandbox world"]);
}

async fn start_with_another_master_key_is_refused(engine: Engine) {
    let mut node = own(engine, &[]).await;
    let shop = node.shop();
    assert_eq!(node.cais.terminate().unwrap().code(), Some(0));
    let other = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
    node.cais.set("CAIS_MASTER_KEY", other);
    let list = ["key", "list", "--account", shop.email.as_str()];
    for command in [&["serve"][..], &list, &["account", "list"], &["ledger", "verify"]] {
        refused(&node.cais, command, &["CAIS_MASTER_KEY is not the key of this database"]);
    }
    let file = node.cais.data_dir().join("other.key");
    std::fs::write(&file, other).unwrap();
    node.cais.unset("CAIS_MASTER_KEY");
    node.cais.set("CAIS_MASTER_KEY_FILE", &file.display().to_string());
    refused(&node.cais, &["serve"], &["other.key is not the key of this database"]);
    assert!(!node.cais.log().contains(other), "no key is logged");
}

#[tokio::test]
async fn lost_master_key_beside_its_database_is_an_error() {
    let mut place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    place.launch().await.unwrap();
    place.create_key("a@shop.example", "all").unwrap();
    assert_eq!(place.terminate().unwrap().code(), Some(0));
    let (file, kept) = (place.data_dir().join("master.key"), place.data_dir().join("kept.key"));
    std::fs::rename(&file, &kept).unwrap();
    for command in [&["serve"][..], &["account", "list"]] {
        refused(&place, command, &["master.key does not exist", "restore the file"]);
        assert!(!file.exists(), "{command:?} created a new master key");
    }
    std::fs::rename(&kept, &file).unwrap();
    assert_eq!(place.cli(&["account", "list"]).unwrap()["data"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn hangup_stops_the_service_in_order() {
    let mut place = unstarted(Engine::Sqlite, &[]);
    place.launch().await.unwrap();
    // A service inherits an ignored SIGHUP, for example from `nohup`, and keeps serving.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1 {
        place.signal("HUP").unwrap();
        assert_eq!(Reply::of(client().get(format!("{}/healthz", place.base_url()))).await.status, 200);
        return;
    }
    let addresses = place.data_dir().join("addresses.json");
    assert!(addresses.exists());
    assert_eq!(place.terminate_by("HUP").unwrap().code(), Some(0), "{}", place.log());
    assert!(!addresses.exists(), "an orderly stop removes the file");
}

#[tokio::test]
async fn process_writes_no_core_files() {
    let mut place = unstarted(Engine::Sqlite, &[]);
    place.launch().await.unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", place.process_id().unwrap())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["0", "0", "bytes"]);
}
