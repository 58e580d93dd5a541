//! Checks of the database: connection, schema, clock, world (`sandbox` or `live`), master key, and open orders at acquirers that are not
//! configured.

use cais_domain::acquirer_name::AcquirerName;
use cais_persistence::{Inspection, inspect};
use cais_ports::{Clock as _, OpenOrders};
use cais_use_cases::unconfigured_acquirers;
use jiff::Timestamp;

use crate::clock::OffsetClock;
use crate::wiring;
use cais_cli::Finding;
use cais_config::{Config, compare_world};

const CHECK: &str = "database";

/// Checks the database. If it cannot be reached, this failure is the only finding. If it does not exist yet, only the master key is
/// checked.
pub async fn check(config: &Config) -> Vec<Finding> {
    let url = config.database_url.clone();
    let inspected =
        tokio::task::spawn_blocking(move || inspect(&url).map(|found| (found, OffsetClock::new().now()))).await;
    let advice = "see `database_url` and the server's log";
    match inspected {
        Ok(Ok((Some(found), now))) => of_database(config, &found, now),
        Ok(Ok((None, _))) => {
            let message = format!(
                "there is no database at {}: the first `cais serve` creates it; if one should exist, check `data_dir` and `database_url`",
                config.database_url
            );
            vec![Finding::warning(CHECK, message), master_key(config, None)]
        }
        Ok(Err(error)) => vec![Finding::failed(CHECK, format!("{error}: {advice}"))],
        Err(error) => vec![Finding::failed(CHECK, error.to_string())],
    }
}

fn of_database(config: &Config, found: &Inspection, now: Timestamp) -> Vec<Finding> {
    let mut findings = vec![
        schema(config, found),
        Finding::of_clock("database clock".to_owned(), found.now, now),
        world(config, found),
        master_key(config, found.master_key_check.as_deref()),
    ];
    findings.extend(unconfigured(config, found));
    findings
}

/// Reports each acquirer that has open orders and is not configured.
fn unconfigured(config: &Config, found: &Inspection) -> Vec<Finding> {
    let configured = wiring::acquirers_of(config);
    let names: Vec<_> = configured.iter().map(|acquirer| &acquirer.name).collect();
    let missing = unconfigured_acquirers::select(found.open_orders.clone(), &names).into_iter();
    let finding = |(name, open): (AcquirerName, OpenOrders)| {
        let message = format!(
            "{} open orders, not configured: configure the acquirer under this name until `cais acquirer list` shows no open orders of it",
            open.total()
        );
        Finding::failed(format!("acquirer {name}"), message)
    };
    missing.map(finding).collect()
}

fn schema(config: &Config, found: &Inspection) -> Finding {
    let schema = &found.schema;
    let version = schema.applied.last().map_or("no migration has run", String::as_str);
    if !schema.pending.is_empty() {
        let pending = format!("the schema ({version}) lacks the migrations {}", schema.pending.join(", "));
        return if config.database_url.is_sqlite() || config.migrate_on_start {
            Finding::warning(CHECK, format!("{pending}: the next start applies them"))
        } else {
            Finding::failed(CHECK, format!("{pending}: run `cais migrate`"))
        };
    }
    if !schema.unknown.is_empty() {
        let unknown = schema.unknown.join(", ");
        let message =
            format!("reachable, but the database has migrations of a newer version: {unknown}. Update this program.");
        return Finding::warning(CHECK, message);
    }
    Finding::ok(CHECK, format!("reachable, schema {version}"))
}

/// Compares the world (play money or real money) of the database with the configuration.
fn world(config: &Config, found: &Inspection) -> Finding {
    const CHECK: &str = "world";
    match (config.world(), &found.world) {
        (Ok(configured), Some(recorded)) => match compare_world(recorded, configured) {
            Ok(()) => Finding::ok(CHECK, recorded.clone()),
            Err(error) => Finding::failed(CHECK, error.to_string()),
        },
        (Ok(configured), None) => {
            Finding::ok(CHECK, format!("not recorded yet; the first start records `{configured}`"))
        }
        // The configuration has a problem, which another finding reports.
        (Err(_), recorded) => Finding::ok(CHECK, recorded.clone().unwrap_or_else(|| "not recorded yet".to_owned())),
    }
}

fn master_key(config: &Config, recorded: Option<&str>) -> Finding {
    const CHECK: &str = "master key";
    let compared = config.find_master_key().and_then(|key| config.compare_master_key(key.as_ref(), recorded));
    match compared {
        Ok(true) => Finding::ok(CHECK, "is the key of this database"),
        Ok(false) => Finding::ok(CHECK, "not recorded in the database yet; the first start records it"),
        Err(error) => Finding::failed(CHECK, crate::logging::chain(&error)),
    }
}
