//! `cais acquirer`: lists acquirers with their open orders, and begins or ends the drain of an acquirer.

use std::collections::BTreeMap;

use anyhow::Context as _;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerDrain, Actor, OpenOrders};
use cais_use_cases::{Ports, acquirer_drain, unconfigured_acquirers};
use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::context::{CliContext, ConfiguredAcquirer};
use crate::demo::client::{Client, Request};
use crate::output::{Output, instant, table};

/// The beginning of a line of `/metrics` that shows the state of a breaker. The acquirer's name follows.
const BREAKER_METRIC: &str = "cais_acquirer_breaker_state{acquirer=\"";

/// The commands for acquirers.
#[derive(Debug, Subcommand)]
pub enum AcquirerCommand {
    /// List the acquirers with their open orders; the acquirer with the lowest ORDER is the first choice for new orders
    List,
    /// Drain an acquirer: new charges and payouts go to other acquirers, and its open orders are finished; takes effect on every node
    /// within seconds
    Drain(NameArg),
    /// End a drain: the acquirer receives new orders again
    Undrain(NameArg),
    /// Test an acquirer's API Pix with a homologation account; exit with 1 if an answer diverges from the Central Bank's standard. The test
    /// creates and cancels a charge of R$ 1.00, replaces and restores the registered webhook, and reads lists
    Test(crate::acquirer_test::TestArgs),
}

/// The acquirer whose drain a command begins or ends.
#[derive(Debug, clap::Args)]
pub struct NameArg {
    /// Name of the acquirer in the configuration
    #[arg(value_name = "NAME", value_parser = AcquirerName::parse)]
    pub name: AcquirerName,
}

/// An acquirer with its state.
struct AcquirerState {
    acquirer: ConfiguredAcquirer,
    open: OpenOrders,
    drained_since: Option<Timestamp>,
    /// The state of the acquirer's breaker in the service on this machine; `None` if no service runs here.
    breaker: Option<&'static str>,
}

impl AcquirerState {
    /// Creates the row of an acquirer that has open orders but is not configured. The service does not process these orders.
    fn unconfigured(name: AcquirerName, open: OpenOrders) -> Self {
        let (kind, operations) = ("not configured", Vec::new());
        let acquirer = ConfiguredAcquirer { name, kind, operations, order: None, weight: 0, certificate: None };
        Self { acquirer, open, drained_since: None, breaker: None }
    }
}

/// Runs the command.
///
/// # Errors
/// The configuration has no such acquirer, or the store failed.
pub async fn run(
    context: &dyn CliContext,
    ports: &Ports,
    operator: &Actor,
    command: AcquirerCommand,
    output: Output,
) -> anyhow::Result<()> {
    match command {
        AcquirerCommand::List => list(context, ports, output).await,
        AcquirerCommand::Drain(NameArg { name }) => {
            configured(context, &name)?;
            acquirer_drain::begin(ports, operator, &name).await?;
            show(context, ports, &name, output).await
        }
        // Never reached: `Cli::run` runs the test without opening the store.
        AcquirerCommand::Test(_) => anyhow::bail!("the test needs no database"),
        AcquirerCommand::Undrain(NameArg { name }) => {
            configured(context, &name)?;
            acquirer_drain::end(ports, operator, &name).await?;
            show(context, ports, &name, output).await
        }
    }
}

fn configured(context: &dyn CliContext, name: &AcquirerName) -> anyhow::Result<()> {
    let acquirers = context.acquirers()?;
    let found = acquirers.iter().any(|acquirer| acquirer.name == *name);
    found.then_some(()).with_context(|| {
        let names: Vec<&str> = acquirers.iter().map(|acquirer| acquirer.name.as_str()).collect();
        format!("the configuration has no acquirer {name}: it has {}", names.join(", "))
    })
}

async fn acquirer_states(context: &dyn CliContext, ports: &Ports) -> anyhow::Result<Vec<AcquirerState>> {
    let drains = ports.queries.list_drains().await?;
    let breakers = breakers(context).await;
    let mut found = Vec::new();
    for acquirer in context.acquirers()? {
        let open = ports.queries.count_open_orders(&acquirer.name).await?;
        let drain: Option<&AcquirerDrain> = drains.iter().find(|drain| drain.acquirer == acquirer.name);
        let breaker = breakers.get(acquirer.name.as_str()).copied();
        found.push(AcquirerState { open, drained_since: drain.and_then(|drain| drain.since), breaker, acquirer });
    }
    let names: Vec<_> = found.iter().map(|one| &one.acquirer.name).collect();
    let missing = unconfigured_acquirers::list(ports, &names).await?;
    found.extend(missing.into_iter().map(|(name, open)| AcquirerState::unconfigured(name, open)));
    Ok(found)
}

/// Returns the state of each breaker, from the metrics of the service on this machine. Returns no states if no service answers.
async fn breakers(context: &dyn CliContext) -> BTreeMap<String, &'static str> {
    let Ok(Some(address)) = context.metrics_address() else { return BTreeMap::new() };
    let client = Client { address, key: String::new() };
    let request = Request { method: "GET", path: "/metrics".to_owned(), idempotency_key: None, body: None };
    match client.send(&request).await {
        Ok(answer) if answer.status == 200 => read_breakers(&String::from_utf8_lossy(&answer.body)),
        Ok(_) | Err(_) => BTreeMap::new(),
    }
}

fn read_breakers(page: &str) -> BTreeMap<String, &'static str> {
    let lines = page.lines().filter_map(|line| line.strip_prefix(BREAKER_METRIC)?.split_once("\"} "));
    lines
        .filter_map(|(name, value)| {
            let state = match value {
                "0" => "closed",
                "1" => "half-open",
                "2" => "open",
                _ => return None,
            };
            Some((name.to_owned(), state))
        })
        .collect()
}

async fn list(context: &dyn CliContext, ports: &Ports, output: Output) -> anyhow::Result<()> {
    let found = acquirer_states(context, ports).await?;
    output.print(&json!({ "data": found.iter().map(as_json).collect::<Vec<_>>() }), || {
        if found.is_empty() {
            return "No acquirer is configured.".to_owned();
        }
        for_people(&found)
    })?;
    Ok(())
}

/// Prints the acquirer, and a warning if no acquirer receives new charges, or no acquirer receives new payouts.
async fn show(context: &dyn CliContext, ports: &Ports, name: &AcquirerName, output: Output) -> anyhow::Result<()> {
    let found = acquirer_states(context, ports).await?;
    let unserved: Vec<&str> = ["charges", "payouts"]
        .into_iter()
        .filter(|operation| {
            let mut others = found.iter().filter(|one| one.drained_since.is_none());
            !others.any(|one| one.acquirer.operations.contains(operation))
        })
        .collect();
    let one = found.into_iter().find(|one| one.acquirer.name == *name);
    let one = one.with_context(|| format!("the configuration has no acquirer {name}"))?;
    let mut value = as_json(&one);
    if let Value::Object(object) = &mut value {
        object.insert("unserved".to_owned(), json!(unserved));
    }
    output.print(&value, || {
        let state = match one.drained_since {
            Some(since) => {
                format!("{name} is drained since {}; {} orders are open there.", instant(since), one.open.total())
            }
            None => format!("{name} is not drained."),
        };
        if unserved.is_empty() {
            return state;
        }
        format!(
            "{state}\nNo acquirer receives new {} now: the API answers such requests with 502.",
            unserved.join(" and ")
        )
    })?;
    Ok(())
}

fn as_json(one: &AcquirerState) -> Value {
    let AcquirerState { acquirer, open, drained_since, breaker } = one;
    let expires_at = acquirer.certificate.as_ref().and_then(|read| read.as_ref().ok()).copied();
    let problem = acquirer.certificate.as_ref().and_then(|read| read.as_ref().err());
    json!({
        "name": acquirer.name.as_str(),
        "kind": acquirer.kind,
        "operations": acquirer.operations,
        "order": acquirer.order,
        "weight": acquirer.weight,
        "breaker": breaker,
        "open": {
            "charges": open.charges,
            "payouts": open.payouts,
            "refunds": open.refunds,
            "infractions": open.infractions,
        },
        "certificate_expires_at": expires_at.map(instant),
        "certificate_problem": problem,
        "drained_since": drained_since.map(instant),
    })
}

fn for_people(found: &[AcquirerState]) -> String {
    let headings = [
        "NAME",
        "KIND",
        "OPERATIONS",
        "ORDER",
        "WEIGHT",
        "BREAKER",
        "CHARGES",
        "PAYOUTS",
        "REFUNDS",
        "INFRACTIONS",
        "CERTIFICATE",
        "DRAINED",
    ];
    table(&headings, &found.iter().map(row).collect::<Vec<_>>())
}

fn row(one: &AcquirerState) -> Vec<String> {
    let AcquirerState { acquirer, open, drained_since, breaker } = one;
    let certificate = match &acquirer.certificate {
        None => "-".to_owned(),
        Some(Ok(expires_at)) => instant(*expires_at),
        Some(Err(_)) => "unreadable".to_owned(),
    };
    vec![
        acquirer.name.to_string(),
        acquirer.kind.to_owned(),
        acquirer.operations.join(","),
        acquirer.order.map_or_else(|| "-".to_owned(), |order| order.to_string()),
        acquirer.weight.to_string(),
        breaker.unwrap_or("-").to_owned(),
        open.charges.to_string(),
        open.payouts.to_string(),
        open.refunds.to_string(),
        open.infractions.to_string(),
        certificate,
        drained_since.map_or_else(|| "-".to_owned(), instant),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaker_states_are_read_from_the_metrics_page() {
        let page = "# TYPE cais_acquirer_breaker_state gauge\n\
            cais_acquirer_breaker_state{acquirer=\"main\"} 0\n\
            cais_acquirer_breaker_state{acquirer=\"backup\"} 2\n\
            cais_acquirer_breaker_state{acquirer=\"other\"} 1\n\
            cais_acquirer_breaker_state{acquirer=\"odd\"} 7\n\
            cais_acquirer_requests_total{acquirer=\"main\"} 0\n";
        let wanted = [("backup", "open"), ("main", "closed"), ("other", "half-open")];
        assert_eq!(read_breakers(page), wanted.map(|(name, state)| (name.to_owned(), state)).into());
    }
}
