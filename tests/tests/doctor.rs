//! `cais doctor`: sound installations pass, each defect is reported, and nothing changes.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cais_testkit::server::Cais;
use serde_json::{Value, json};

use crate::support::{Engine, Institution, borrowed, on_both, own, unstarted};

on_both! { doctor_of_a_running_service_finds_no_failure doctor_with_another_master_key_fails }

/// Runs `cais doctor`. Returns the exit code, each check with its status, and the output.
fn examine(place: &Cais, words: &[&str]) -> (i32, Vec<(String, String)>, String) {
    let (exit, printed) = place.cli_raw(&[&["doctor", "--json"], words].concat()).unwrap();
    let report: Value = serde_json::from_str(printed.trim()).unwrap_or_else(|error| panic!("{error}: {printed}"));
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    let checks = checks.map(|check| (text(check, "check"), text(check, "status"))).collect();
    assert_eq!(report["ok"], json!(exit == Some(0)), "{printed}");
    (exit.unwrap(), checks, printed)
}

fn status<'c>(checks: &'c [(String, String)], name: &str) -> &'c str {
    let found = checks.iter().find(|(check, _)| check == name);
    found.map_or_else(|| panic!("{name} is not checked: {checks:?}"), |(_, status)| status.as_str())
}

async fn doctor_of_a_running_service_finds_no_failure(engine: Engine) {
    let node = own(engine, &[]).await;
    let (exit, checks, printed) = examine(&node.cais, &[]);
    assert_eq!(exit, 0, "{printed}");
    for check in
        ["configuration", "secret files", "disk", "database", "database clock", "world", "master key", "acquirer"]
    {
        assert_eq!(status(&checks, check), "ok", "{printed}");
    }
    let shared_windows = checks.iter().any(|(check, status)| check == "rate_limits_not_shared" && status == "warning");
    assert_eq!(shared_windows, engine == Engine::Postgres, "warnings of `config check` are findings: {printed}");
    let (exit, printed) = node.cais.cli_raw(&["doctor"]).unwrap();
    assert_eq!(exit, Some(0));
    assert!(printed.lines().all(|line| ["STATUS", "ok ", "warning "].iter().any(|word| line.starts_with(word))));
    let (exit, printed) = node.cais.cli_raw(&["reconcile", "--from", "2026-01-01", "--to", "2026-01-02"]).unwrap();
    assert_eq!(exit, Some(0), "the service still works: {printed}");
}

async fn doctor_with_another_master_key_fails(engine: Engine) {
    let mut node = own(engine, &[]).await;
    assert_eq!(node.cais.terminate().unwrap().code(), Some(0));
    node.cais.set("CAIS_MASTER_KEY", "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100");
    let (exit, checks, printed) = examine(&node.cais, &[]);
    assert_eq!((exit, status(&checks, "master key")), (1, "failed"), "{printed}");
    assert!(printed.contains("CAIS_MASTER_KEY is not the key of this database"), "{printed}");
    assert_eq!((status(&checks, "database"), status(&checks, "world")), ("ok", "ok"), "{printed}");
}

#[tokio::test]
async fn doctor_reads_token_and_time_of_each_acquirer() {
    let bank = Institution::start();
    let mut place = unstarted(Engine::Sqlite, &borrowed(&bank.environment("main")));
    place.launch().await.unwrap();
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "acquirer main")), (0, "ok"), "{printed}");
    assert!(printed.contains("1000000000.00 available, 0.00 blocked"), "{printed}");
    assert_eq!(status(&checks, "acquirer main clock"), "ok", "{printed}");

    bank.clock(120).await;
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "acquirer main clock")), (1, "failed"), "{printed}");
    bank.clock(0).await;

    place.set("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET", "another");
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "acquirer main")), (1, "failed"), "{printed}");
    assert!(printed.contains("401") && printed.contains("client_secret"), "{printed}");
    assert_eq!(bank.charges().await, 0);
}

#[tokio::test]
async fn doctor_reads_the_crypto_processor_and_the_rates() {
    let bank = Institution::start();
    let environment = [bank.environment("main"), bank.crypto_environment()].concat();
    let mut place = unstarted(Engine::Sqlite, &borrowed(&environment));
    place.launch().await.unwrap();
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "crypto processor"), status(&checks, "ptax")), (0, "ok", "ok"), "{printed}");

    place.set("CAIS_CRYPTO__PASSWORD", "another");
    place.set("CAIS_CRYPTO__PTAX__BASE_URL", &format!("{}/nowhere", bank.credential("base_url")));
    let (exit, checks, printed) = examine(&place, &[]);
    let found = (status(&checks, "crypto processor"), status(&checks, "ptax"));
    assert_eq!((exit, found), (1, ("failed", "failed")), "{printed}");
    assert!(!printed.contains("another"), "{printed}");
}

#[tokio::test]
async fn doctor_names_every_defect_at_once() {
    let bank = Institution::start();
    let mut place = unstarted(Engine::Sqlite, &[]);
    place.launch().await.unwrap();
    place.terminate().unwrap();
    for (name, value) in bank.environment("main") {
        place.set(&name, &value);
    }
    place.set("CAIS_ACQUIRERS__MAIN__BASE_URL", "http://127.0.0.1:1");
    place.set("CAIS_REDIS_URL", "redis://127.0.0.1:1");
    let junk = place.data_dir().join("junk.pem");
    std::fs::write(&junk, "junk").unwrap();
    place.set("CAIS_ACQUIRERS__MAIN__CERTIFICATE_FILE", &junk.display().to_string());
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!(exit, 1);
    for check in ["configuration", "world", "acquirer main", "acquirer main certificate", "redis"] {
        assert_eq!(status(&checks, check), "failed", "{printed}");
    }
    assert_eq!(status(&checks, "secret_file_readable"), "warning", "{printed}");
    let (exit, checked) = place.cli_raw(&["config", "check"]).unwrap();
    assert!(exit == Some(1) && checked.contains("acquirers.main.certificate_file"), "{checked}");
    assert!(printed.contains("acquirers.main.certificate_file"), "doctor finds what `config check` finds: {printed}");

    place.set("CAIS_WORKERS", "many");
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "configuration")), (1, "failed"), "{printed}");
}

#[tokio::test]
async fn doctor_without_schema_changes_nothing() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "database"), status(&checks, "master key")), (0, "warning", "ok"), "{printed}");
    assert_eq!(std::fs::read_dir(place.data_dir()).unwrap().count(), 0, "{printed}");

    let place = unstarted(Engine::Postgres, &[]);
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "database")), (1, "failed"), "{printed}");
    assert!(printed.contains("`cais migrate`"), "{printed}");
    assert_eq!(place.cli_raw(&["migrate", "--status"]).unwrap().0, Some(1), "no migration was applied");

    place.cli(&["migrate"]).unwrap();
    let (exit, checks, printed) = examine(&place, &[]);
    assert_eq!((exit, status(&checks, "database"), status(&checks, "world")), (0, "ok", "ok"), "{printed}");
}
