//! Commands of `cais`, beside a running server and without one.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt as _;

use cais_testkit::postgres::{Cluster, Options};
use cais_testkit::server::Cais;
use serde_json::{Value, json};

use crate::support::{Engine, eventually, names, on_both, own, shared, unique, unstarted};

on_both! {
    account_commands_change_and_list_accounts key_commands_create_list_and_revoke_keys change_by_an_operator_is_one_audit_row sound_ledger_verifies_without_differences printed_description_equals_the_served_one demo_shows_a_payment
}

const ACCOUNT: [&str; 13] = [
    "acquirers",
    "created_at",
    "crypto_spread",
    "document",
    "email",
    "features",
    "fees",
    "id",
    "kyc",
    "limits",
    "name",
    "release_delay_s",
    "status",
];
const KEY: [&str; 8] =
    ["allowed_addresses", "created_at", "expires_at", "id", "name", "prefix", "revoked_at", "scopes"];

async fn account_commands_change_and_list_accounts(engine: Engine) {
    let node = shared(engine).await;
    let email = format!("{}@Shop.Example", unique("Ana"));
    let made =
        node.cli(&["account", "create", "--email", &email, "--name", "Loja da Ana", "--document", "123.456.789-09"]);
    assert_eq!(names(&made), ACCOUNT, "{made}");
    assert_eq!(made["email"], email.to_lowercase());
    assert_eq!((&made["status"], &made["kyc"], &made["features"]), (&json!("active"), &json!("pending"), &json!([])));
    assert_eq!(made["limits"].to_string(), r#"{"charge":50000.00,"payout":50000.00}"#);

    let change = |words: &[&str]| {
        let words = [&["account"], words, &["--account", &email]].concat();
        node.cli(&words)
    };
    let approved = change(&["approve"]);
    assert_eq!((&approved["kyc"], &approved["features"]), (&json!("approved"), &json!(["pix_in", "pix_out"])));
    assert_eq!(change(&["approve"]), approved, "a repeat changes nothing");
    assert_eq!(change(&["suspend"])["status"], "suspended");
    assert_eq!(change(&["resume"])["status"], "active");
    let featured = change(&["features", "--enable", "split,crypto_in", "--disable", "pix_out"]);
    assert_eq!(featured["features"], json!(["pix_in", "split", "crypto_in"]));
    let fees = ["fees", "--operation", "pix_in", "--fixed", "0.50", "--percent", "0.99", "--min", "0.60", "--max", "5"];
    assert_eq!(change(&fees)["fees"]["pix_in"].to_string(), r#"{"fixed":0.50,"max":5.00,"min":0.60,"percent":0.99}"#);
    assert_eq!(change(&["limits", "--charge", "100"])["limits"].to_string(), r#"{"charge":100.00,"payout":50000.00}"#);
    assert_eq!(change(&["release-delay", "--seconds", "60"])["release_delay_s"], 60);
    assert_eq!(change(&["crypto-spread", "--percent", "1.50"])["crypto_spread"].to_string(), "1.5");
    assert_eq!(change(&["crypto-spread", "--default"])["crypto_spread"], Value::Null);

    let listed = node.cli(&["account", "list"]);
    let listed = listed["data"].as_array().unwrap().iter().find(|account| account["id"] == made["id"]).unwrap().clone();
    assert_eq!((&listed["release_delay_s"], names(&listed)), (&json!(60), ACCOUNT.to_vec()));

    for (words, code) in [
        (vec!["account", "create", "--email", &email, "--name", "x", "--document", "12345678909"], 1),
        (vec!["account", "approve", "--account", "nobody@shop.example"], 1),
        (vec!["account", "create", "--email", "x@y.co", "--name", "x", "--document", "12345678900"], 2),
        (vec!["account", "limits", "--account", &email], 2),
        (vec!["account", "features", "--account", &email, "--enable", "gold"], 2),
        (vec!["account", "features", "--account", &email], 2),
        (vec!["account", "features", "--account", &email, "--enable", "split", "--disable", "split"], 1),
        (vec!["account", "fees", "--account", &email, "--operation", "pix_in", "--fixed", "-1"], 1),
        (vec!["nonsense"], 2),
    ] {
        let (exit, printed) = node.cais.cli_raw(&words).unwrap();
        assert_eq!(exit, Some(code), "{words:?}: {printed}");
        assert!(!printed.trim().is_empty() && !printed.contains("panicked"), "{words:?}: {printed}");
    }
}

async fn key_commands_create_list_and_revoke_keys(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let account = ["--account", shop.email.as_str()];
    let create = |words: &[&str]| node.cli(&[&["key", "create", "--name", "till"], &account[..], words].concat());

    let made = create(&["--scopes", "charges:read,charges:write"]);
    let mut with_secret: Vec<&str> = KEY.to_vec();
    with_secret.insert(4, "key");
    with_secret.sort_unstable();
    assert_eq!(names(&made), with_secret, "{made}");
    assert_eq!(made["scopes"], json!(["charges:read", "charges:write"]));
    let parts: Vec<&str> = made["key"].as_str().unwrap().split('_').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2].len(), parts.len()), ("key", 12, 43, 3));
    assert_eq!(made["prefix"], parts[1]);
    shop.with_key(made["key"].as_str().unwrap()).get("/charges").await.expect(200);

    assert_eq!(create(&["--scopes", "all"])["scopes"].as_array().unwrap().len(), 13);
    assert!(create(&["--scopes", "all", "--expires-in-days", "30"])["expires_at"].is_string());
    let bound = create(&["--scopes", "all", "--allow", "10.0.0.0/8,192.0.2.1"]);
    shop.with_key(bound["key"].as_str().unwrap()).get("/charges").await.refused(401, "invalid_api_key");
    let local = create(&["--scopes", "all", "--allow", "127.0.0.0/8"]);
    shop.with_key(local["key"].as_str().unwrap()).get("/charges").await.expect(200);

    let listed = node.cli(&[&["key", "list"], &account[..]].concat());
    let listed = listed["data"].as_array().unwrap();
    assert_eq!(listed.len(), 6, "the five keys of this test, and the shop's own key");
    let mut with_use: Vec<&str> = KEY.into_iter().chain(["last_used_address", "last_used_at"]).collect();
    with_use.sort_unstable();
    assert!(listed.iter().all(|key| names(key) == with_use), "{listed:?}");
    assert_eq!(listed[0]["prefix"], local["prefix"], "newest first");

    let revoked = node.cli(&["key", "revoke", parts[1]]);
    assert!(revoked["revoked_at"].is_string());
    assert_eq!(node.cli(&["key", "revoke", parts[1]]), revoked, "a repeat changes nothing");
    let (exit, printed) = node.cais.cli_raw(&["key", "revoke", "000000000000"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    let log = node.cais.log();
    assert!(!log.contains(parts[2]), "the secret of a key is in the log");
}

async fn change_by_an_operator_is_one_audit_row(engine: Engine) {
    let node = shared(engine).await;
    let email = format!("{}@shop.example", unique("audited"));
    let document = ["--document", "12345678909", "--operator", "ana"];
    node.cli(&[&["account", "create", "--email", &email, "--name", "Loja"], &document[..]].concat());
    let limits = ["account", "limits", "--account", &email, "--charge", "100", "--operator", "bia"];
    node.cli(&limits);
    node.cli(&limits);
    let key = node.cli(&["key", "create", "--account", &email, "--name", "till", "--scopes", "all"]);
    let list = ["audit", "list", "--account", &email];
    let listed = node.cli(&list);
    let rows = listed["data"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "a repeat changes nothing: {listed}");
    let fields = ["account_id", "action", "after", "at", "before", "host", "id", "operator", "source", "subject"];
    assert!(rows.iter().all(|row| names(row) == fields && row["source"] == "cli"), "{listed}");
    assert_eq!((&rows[0]["action"], &rows[0]["subject"]), (&json!("key.create"), &key["prefix"]));
    assert!(rows[0]["operator"].as_str().is_some_and(|name| !name.is_empty()), "the system's user is the operator");
    let secret = key["key"].as_str().unwrap().rsplit('_').next().unwrap();
    assert!(!listed.to_string().contains(secret), "the secret of the key is in the audit log");
    assert_eq!((&rows[1]["operator"], &rows[1]["action"]), (&json!("bia"), &json!("account.limits")));
    assert_eq!(rows[1]["before"]["limits"].to_string(), r#"{"charge":50000.00,"payout":50000.00}"#);
    assert_eq!(rows[1]["after"]["limits"].to_string(), r#"{"charge":100.00,"payout":50000.00}"#);
    assert_eq!((&rows[2]["action"], &rows[2]["before"]), (&json!("account.create"), &Value::Null));

    let first = node.cli(&[&list[..], &["--limit", "1"]].concat());
    assert_eq!((&first["has_more"], &first["next_starting_after"]), (&json!(true), &rows[0]["id"]));
    let rest = node.cli(&[&list[..], &["--starting-after", rows[0]["id"].as_str().unwrap()]].concat());
    assert_eq!((&rest["has_more"], rest["data"].as_array().unwrap()[..] == rows[1..]), (&json!(false), true));
    assert_eq!(node.cli(&[&list[..], &["--by", "bia"]].concat())["data"].as_array().map(Vec::len), Some(1));
    let (exit, printed) = node.cais.cli_raw(&list).unwrap();
    assert_eq!(exit, Some(0));
    assert!(printed.contains("limits.charge: 50000.00 → 100.00"), "{printed}");
}

async fn sound_ledger_verifies_without_differences(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let charge = shop.charge_id("10").await;
    shop.pay(&charge, None).await.expect(200);
    shop.until_available("10.00").await;
    let report = node.cli(&["ledger", "verify"]);
    assert_eq!(names(&report), ["accounts", "differences", "entries", "ok"]);
    assert_eq!((&report["ok"], &report["differences"]), (&json!(true), &json!([])));
    assert!(report["accounts"].as_u64() >= Some(2) && report["entries"].as_u64() >= Some(2), "{report}");
    let admin = node.cais.http_admin().unwrap();
    eventually("the service shows the result", || async {
        let page = String::from_utf8(admin.get("/metrics").await.unwrap().body).unwrap();
        page.lines().any(|line| line == "cais_ledger_differences 0").then_some(())
    })
    .await;
}

async fn printed_description_equals_the_served_one(engine: Engine) {
    let node = shared(engine).await;
    let served = node.cais.http().get("/v1/openapi.json").await.unwrap();
    let printed = node.cli(&["openapi"]);
    assert_eq!(serde_json::from_slice::<Value>(&served.body).unwrap(), printed);
}

async fn demo_shows_a_payment(engine: Engine) {
    let place = unstarted(engine, &[]);
    if engine == Engine::Postgres {
        place.cli(&["migrate"]).unwrap();
    }
    let (exit, printed) = place.cli_raw(&["demo", "--once"]).unwrap();
    assert_eq!(exit, Some(0), "{printed}");
    for seen in ["POST /v1/charges", "idempotent-replayed", "000201", "25.00", "GET /v1/balance", "paid", "pay_uri"] {
        assert!(printed.contains(seen), "{seen} is missing:\n{printed}");
    }
    // The second run uses the data of the first run.
    let (exit, printed) = place.cli_raw(&["demo", "--once"]).unwrap();
    assert_eq!(exit, Some(0), "{printed}");
    // The demo uses the same SQLite database as a sandbox service in this data directory.
    let books = format!("sqlite:{}", place.data_dir().join("cais.db").display());
    let report = unstarted(Engine::Sqlite, &[("CAIS_DATABASE_URL", &books)]).cli(&["ledger", "verify"]).unwrap();
    assert!(report["ok"] == true && report["entries"].as_u64() >= Some(2), "{report}");
}

#[tokio::test]
async fn configuration_errors_are_reported_together() {
    let wrong = [
        ("CAIS_WORKERS", "many"),
        ("CAIS_COLOR", "blue"),
        ("CAIS_DATABASE_URL", "mysql://x"),
        ("CAIS_ACQUIRERS__MAIN__KIND", "bank"),
        ("CAIS_ACQUIRERS__MAIN__BASE_URL", "http://bank.example"),
    ];
    let place = unstarted(Engine::Sqlite, &wrong);
    let (exit, printed) = place.cli_raw(&["config", "check", "--json"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    let report: Value = serde_json::from_str(printed.trim()).unwrap();
    assert_eq!(report["ok"], false);
    let named: Vec<&str> =
        report["problems"].as_array().unwrap().iter().map(|problem| problem["key"].as_str().unwrap()).collect();
    for key in [
        "workers",
        "color",
        "database_url",
        "acquirers.main.kind",
        "acquirers.main.base_url",
        "acquirers.main.client_id",
        "acquirers.main.client_secret",
        "acquirers.main.pix_key",
    ] {
        assert!(named.contains(&key), "{key} is not named: {named:?}");
    }
    let (exit, printed) = place.cli_raw(&["serve"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    assert!(printed.contains("workers") && printed.contains("pix_key"), "`serve` does not name the errors: {printed}");
    for command in [&["config", "check"][..], &["account", "list"], &["migrate"]] {
        assert_eq!(place.cli_raw(command).unwrap().0, Some(1), "{command:?}");
    }

    let junk = place.data_dir().join("junk.pem").display().to_string();
    std::fs::write(&junk, "junk").unwrap();
    let files = [
        ("CAIS_DATA_DIR", "/proc/nowhere"),
        ("CAIS_ACQUIRERS__MAIN__KIND", "bacen"),
        ("CAIS_ACQUIRERS__MAIN__BASE_URL", "https://bank.example"),
        ("CAIS_ACQUIRERS__MAIN__CLIENT_ID", "id"),
        ("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET", "secret"),
        ("CAIS_ACQUIRERS__MAIN__PIX_KEY", "71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e"),
        ("CAIS_ACQUIRERS__MAIN__CERTIFICATE_FILE", &junk),
        ("CAIS_ACQUIRERS__MAIN__CA_FILE", &junk),
    ];
    let (exit, printed) = unstarted(Engine::Sqlite, &files).cli_raw(&["config", "check"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    for key in ["acquirers.main.ca_file:", "acquirers.main.certificate_file:", "data_dir:"] {
        assert!(printed.contains(key), "{key} is not named: {printed}");
    }

    let good = unstarted(Engine::Sqlite, &[]);
    assert_eq!(good.cli(&["config", "check"]).unwrap(), json!({"ok": true, "problems": [], "warnings": []}));
    let shown = good.cli(&["config", "print"]).unwrap();
    assert_eq!(shown["rate_limit_per_minute"]["value"], 600);
    assert_eq!(shown["migrate_on_start"]["value"], false);
    assert!(!shown["master_key"].to_string().contains("00112233"), "secrets are masked: {shown}");
    assert!(good.cli_raw(&["config", "docs"]).unwrap().1.contains("CAIS_RATE_LIMIT_PER_MINUTE"));
}

#[tokio::test]
async fn probable_slips_are_warnings_in_check_and_log() {
    let mut place = Cais::prepare(Engine::Sqlite, &[("CAIS_MASTER_KEY", &"0123456789abcdef".repeat(4))]).unwrap();
    std::fs::set_permissions(place.data_dir(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let report = place.cli(&["config", "check"]).unwrap();
    let warnings = report["warnings"].as_array().unwrap().iter();
    let words: Vec<&str> = warnings.map(|warning| warning["warning"].as_str().unwrap()).collect();
    assert_eq!((&report["ok"], words), (&json!(true), vec!["master_key_weak", "data_dir_writable"]));
    place.launch().await.unwrap();
    for word in ["master_key_weak", "data_dir_writable"] {
        assert!(place.log().contains(word), "{word} is not logged: {}", place.log());
    }
}

#[tokio::test]
async fn acquirer_without_https_public_url_is_a_warning() {
    let acquirer = [
        ("CAIS_ACQUIRERS__MAIN__KIND", "bacen"),
        // No server listens on this port. The service still starts, because its start calls no acquirer.
        ("CAIS_ACQUIRERS__MAIN__BASE_URL", "https://127.0.0.1:1"),
        ("CAIS_ACQUIRERS__MAIN__CLIENT_ID", "id"),
        ("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET", "secret"),
        ("CAIS_ACQUIRERS__MAIN__PIX_KEY", "71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e"),
    ];
    let mut place = unstarted(Engine::Sqlite, &acquirer);
    let report = place.cli(&["config", "check"]).unwrap();
    assert_eq!(report["warnings"][0]["warning"], "public_url_insecure", "{report}");
    let (_, printed) = place.cli_raw(&["doctor"]).unwrap();
    assert!(printed.contains("public_url_insecure"), "{printed}");
    place.launch().await.unwrap();
    assert!(place.log().contains("public_url_insecure"), "{}", place.log());
    place.set("CAIS_PUBLIC_URL", "https://pay.example");
    assert_eq!(place.cli(&["config", "check"]).unwrap()["warnings"], json!([]));
}

#[tokio::test]
async fn sqlite_creates_a_master_key_and_postgres_requires_one() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    for command in [&["account", "list"][..], &["key", "revoke", "000000000000"], &["ledger", "verify"]] {
        let (exit, printed) = place.cli_raw(command).unwrap();
        assert_eq!(exit, Some(1), "{command:?}: {printed}");
        assert!(printed.contains("there is no database at"), "{command:?}: {printed}");
        assert!(!place.data_dir().join("master.key").exists(), "{command:?} created a master key");
    }
    place.cli(&["account", "create", "--email", "a@b.co", "--name", "x", "--document", "12345678909"]).unwrap();
    let file = place.data_dir().join("master.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&file).unwrap();
    place.cli(&["account", "list"]).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), before, "the file is unchanged");

    let url = Cluster::shared().unwrap().fresh_database().unwrap();
    let without = Cais::prepare(Engine::Sqlite, &[("CAIS_DATABASE_URL", &url)]).unwrap();
    for command in [&["serve"][..], &["config", "check"], &["account", "list"]] {
        let (exit, printed) = without.cli_raw(command).unwrap();
        assert_eq!(exit, Some(1), "{command:?}: {printed}");
        assert!(printed.contains("master_key"), "{command:?}: {printed}");
    }
}

#[tokio::test]
async fn second_service_cannot_use_the_sandbox_of_the_first() {
    let first = Cais::start(Engine::Sqlite).await.unwrap();
    let written = || ["addresses.json", "sandbox.json"].map(|name| std::fs::read(first.data_dir().join(name)).unwrap());
    let before = written();
    let (exit, printed) = first.cli_raw(&["serve"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    assert!(printed.contains("is in use by another process"), "{printed}");
    assert_eq!(written(), before);
}

#[tokio::test]
async fn serve_with_pending_migrations_is_refused() {
    let place = unstarted(Engine::Postgres, &[]);
    let (exit, printed) = place.cli_raw(&["serve"]).unwrap();
    assert_eq!(exit, Some(1), "{printed}");
    assert!(printed.contains("cais migrate"), "{printed}");
    assert_eq!(place.cli_raw(&["migrate", "--status"]).unwrap().0, Some(1), "migrations are pending");
    let applied = place.cli(&["migrate"]).unwrap();
    assert!(!applied["applied"].as_array().unwrap().is_empty(), "{applied}");
    assert_eq!(place.cli(&["migrate"]).unwrap()["applied"], json!([]));
    assert_eq!(place.cli_raw(&["migrate", "--status"]).unwrap().0, Some(0));
}

#[tokio::test]
async fn postgres_is_reached_over_tls() {
    let cluster = Cluster::start(Options { tls: true, ..Options::default() }).unwrap();
    let url = cluster.fresh_database().unwrap();
    let required = format!("{url}?sslmode=require");
    let migrating = [("CAIS_DATABASE_URL", required.as_str()), ("CAIS_MIGRATE_ON_START", "true")];
    // `CAIS_DATABASE_URL` replaces the node's own SQLite database.
    let node = own(Engine::Sqlite, &migrating).await;
    let shop = node.shop();
    let charge = shop.charge_id("10").await;
    shop.pay(&charge, None).await.expect(200);
    shop.until_available("10.00").await;
    node.verify();
    let encrypted = cluster.sql(
        &format!("{url}?sslmode=require"),
        "SELECT count(*) > 1 AND bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0",
    );
    assert_eq!(encrypted.unwrap(), "t", "a connection is not encrypted");

    let plain = format!("{url}?sslmode=disable");
    let refused = unstarted(Engine::Sqlite, &[("CAIS_DATABASE_URL", &plain)]);
    assert_eq!(
        refused.cli_raw(&["account", "list"]).unwrap().0,
        Some(1),
        "the server accepts only encrypted connections"
    );
}
