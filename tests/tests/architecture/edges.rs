//! Permitted dependencies: every direct dependency of every crate, against the table in `docs/ARCHITECTURE.md`.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{assert_no_violations, root};

/// Dependencies permitted to all crates around the core: general Rust libraries without a technology of their own.
const COMMON: [&str; 11] = [
    "async-trait",
    "base64",
    "futures-util",
    "jiff",
    "metrics",
    "serde",
    "serde_json",
    "thiserror",
    "tokio",
    "tracing",
    "uuid",
];

/// The permitted dependencies of a crate.
struct Rule {
    name: &'static str,
    ours: &'static [&'static str],
    common: bool,
    others: &'static [&'static str],
}

/// Crates for tests and measurements, which may use anything.
const FREE: [&str; 3] = ["cais-testkit", "cais-bench", "cais-tests"];

const RULES: [Rule; 17] = [
    Rule {
        name: "cais-domain",
        ours: &[],
        common: false,
        others: &["bech32", "bigdecimal", "bs58", "jiff", "sha2", "sha3", "thiserror", "uuid"],
    },
    Rule {
        name: "cais-ports",
        ours: &["cais-domain"],
        common: false,
        others: &["async-trait", "base64", "jiff", "mockall", "thiserror", "uuid"],
    },
    // Pure: stores call this crate, and it calls no other.
    Rule { name: "cais-commit-rules", ours: &["cais-domain", "cais-ports"], common: false, others: &["jiff", "uuid"] },
    Rule {
        name: "cais-use-cases",
        ours: &["cais-domain", "cais-ports"],
        common: false,
        others: &["async-trait", "futures-util", "ipnet", "jiff", "thiserror", "tracing", "uuid"],
    },
    Rule {
        name: "cais-persistence",
        ours: &["cais-commit-rules", "cais-domain", "cais-ports"],
        common: true,
        others: &["diesel", "diesel_migrations", "libsqlite3-sys", "r2d2"],
    },
    Rule {
        name: "cais-acquirers",
        ours: &["cais-domain", "cais-ports"],
        common: true,
        others: &["p12-keystore", "reqwest", "ring", "rustls", "rustls-native-certs", "x509-cert"],
    },
    Rule {
        name: "cais-webhooks",
        ours: &["cais-domain", "cais-ports"],
        common: true,
        others: &["ipnet", "reqwest", "ring", "rustls", "rustls-native-certs", "url"],
    },
    Rule { name: "cais-rate-limits", ours: &["cais-domain", "cais-ports"], common: true, others: &["redis"] },
    Rule { name: "cais-secrets", ours: &["cais-domain", "cais-ports"], common: true, others: &["argon2", "ring"] },
    Rule { name: "cais-qr-code", ours: &[], common: false, others: &["base64", "crc32fast", "qrcode"] },
    Rule { name: "cais-strict-json", ours: &[], common: false, others: &["serde", "serde_json"] },
    // Neither persistence nor acquirers: handlers reach both through the use cases.
    Rule {
        name: "cais-http-api",
        ours: &["cais-domain", "cais-ports", "cais-qr-code", "cais-strict-json", "cais-use-cases"],
        common: true,
        others: &[
            "actix-http",
            "actix-server",
            "actix-service",
            "actix-web",
            "flate2",
            "ipnet",
            "metrics-exporter-prometheus",
            "metrics-process",
            "ring",
            "rustix",
            "tracing-subscriber",
            "utoipa",
            "utoipa-actix-web",
            "utoipa-swagger-ui",
        ],
    },
    // The API's sibling: pages call the same use cases. Neither persistence nor the API.
    Rule {
        name: "cais-dashboard",
        ours: &["cais-domain", "cais-ports", "cais-qr-code", "cais-strict-json", "cais-use-cases"],
        common: true,
        others: &["actix-web", "askama", "cookie", "ring", "rust-embed", "url"],
    },
    // The sandbox represents another company's system, so it uses only value types.
    Rule {
        name: "cais-sandbox",
        ours: &["cais-domain"],
        common: true,
        others: &["actix-web", "bigdecimal", "bs58", "reqwest", "ring", "rustls", "socket2"],
    },
    // The types of `database_url`, `redis_url` and `master_key` are those of the crates that use the values.
    Rule {
        name: "cais-config",
        ours: &["cais-domain", "cais-persistence", "cais-ports", "cais-rate-limits", "cais-secrets"],
        common: false,
        others: &["figment", "ipnet", "thiserror", "tracing-subscriber"],
    },
    // Neither persistence nor acquirers: the binary supplies what needs them. Of the API, commands use the JSON of
    // resources and the parser of days; of webhooks, the signatures.
    Rule {
        name: "cais-cli",
        ours: &["cais-domain", "cais-http-api", "cais-ports", "cais-use-cases", "cais-webhooks"],
        common: true,
        others: &["anyhow", "clap", "clap_complete", "clap_mangen", "indicatif", "ipnet", "qrcode", "ring"],
    },
    // Neither diesel nor reqwest: the binary stores data and calls acquirers through adapters.
    Rule {
        name: "cais",
        ours: &[
            "cais-acquirers",
            "cais-cli",
            "cais-config",
            "cais-dashboard",
            "cais-domain",
            "cais-http-api",
            "cais-persistence",
            "cais-ports",
            "cais-rate-limits",
            "cais-sandbox",
            "cais-secrets",
            "cais-use-cases",
            "cais-webhooks",
        ],
        common: true,
        others: &["actix-web", "anyhow", "mimalloc", "rustix", "tracing-subscriber"],
    },
];

impl Rule {
    fn allows(&self, dependency: &str) -> bool {
        self.ours.contains(&dependency)
            || self.others.contains(&dependency)
            || (self.common && COMMON.contains(&dependency))
    }
}

#[test]
fn crates_use_only_what_the_table_allows() -> Result<()> {
    let mut violations = Vec::new();
    let crates = crates()?;
    for (name, dependencies) in &crates {
        if FREE.contains(&name.as_str()) {
            continue;
        }
        let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
            violations.push(format!("{name} is not in the table"));
            continue;
        };
        let refused = dependencies.iter().filter(|dependency| !rule.allows(dependency));
        violations.extend(refused.map(|dependency| format!("{name} may not use {dependency}")));
    }
    for known in RULES.iter().map(|rule| rule.name).chain(FREE) {
        if !crates.iter().any(|(name, _)| name == known) {
            violations.push(format!("{known} is in the table and nowhere else"));
        }
    }
    assert_no_violations(&violations);
    Ok(())
}

#[test]
fn table_refuses_forbidden_dependencies() {
    for (name, dependency) in [
        ("cais-domain", "serde"),
        ("cais-ports", "diesel"),
        ("cais-commit-rules", "cais-persistence"),
        ("cais-commit-rules", "tokio"),
        ("cais-use-cases", "cais-persistence"),
        ("cais-use-cases", "tokio"),
        ("cais-persistence", "cais-use-cases"),
        ("cais-acquirers", "cais-persistence"),
        ("cais-webhooks", "cais-acquirers"),
        ("cais-sandbox", "cais-ports"),
        ("cais-http-api", "cais-persistence"),
        ("cais-http-api", "cais-acquirers"),
        ("cais-strict-json", "cais-domain"),
        ("cais-config", "cais-use-cases"),
        ("cais-cli", "cais-acquirers"),
        ("cais-cli", "cais-config"),
        ("cais-cli", "cais-persistence"),
        ("cais", "clap"),
        ("cais", "diesel"),
        ("cais", "reqwest"),
        ("cais", "cais-testkit"),
    ] {
        let rule = RULES.iter().find(|rule| rule.name == name);
        assert!(rule.is_some_and(|rule| !rule.allows(dependency)), "{name} {dependency}");
    }
}

/// Returns the crates of the workspace, each with its dependencies outside of tests.
fn crates() -> Result<Vec<(String, Vec<String>)>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let output = metadata.current_dir(root()?).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("packages")?;
    packages.iter().map(read_crate).collect()
}

fn read_crate(package: &Value) -> Result<(String, Vec<String>)> {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned).context("a name");
    let dependencies = package.get("dependencies").and_then(Value::as_array).context("dependencies")?;
    let for_more_than_tests = |dependency: &&Value| dependency.get("kind").and_then(Value::as_str) != Some("dev");
    let dependencies = dependencies.iter().filter(for_more_than_tests).map(name).collect::<Result<_>>()?;
    Ok((name(package)?, dependencies))
}
