//! `cais infraction`: what operators see of disputes, over all accounts.

use std::collections::BTreeMap;

use anyhow::Context;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::money::Money;
use cais_ports::{InfractionFilter, PageRequest};
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::infractions::list;
use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, amount, fields, instant, table};
use crate::representation::infraction::detail;

/// How many infractions are read at a time.
const PAGE: u32 = 200;

/// What can be seen of infractions.
#[derive(Debug, Subcommand)]
pub enum InfractionCommand {
    /// List infractions, newest first
    List {
        /// Only those of the account with this e-mail
        #[arg(long = "account", value_name = "EMAIL", value_parser = AccountEmail::parse)]
        email: Option<AccountEmail>,
        /// Only those in this status: `open`, `under_review`, `won`, `lost` or `cancelled`
        #[arg(long, value_parser = status)]
        status: Option<InfractionStatus>,
    },
    /// Show everything that is known of one
    Show {
        /// Its id, `inf_…`
        #[arg(value_parser = InfractionId::parse)]
        id: InfractionId,
    },
}

fn status(word: &str) -> Result<InfractionStatus, String> {
    let known = || InfractionStatus::ALL.map(InfractionStatus::as_str).join(", ");
    InfractionStatus::parse(word).ok_or_else(|| format!("must be one of {}", known()))
}

/// Carries the command out.
///
/// # Errors
/// What does not exist; what the store says.
pub async fn run(ports: &Ports, command: InfractionCommand, output: Output) -> anyhow::Result<()> {
    match command {
        InfractionCommand::List { email, status } => list_all(ports, email, status, output).await,
        InfractionCommand::Show { id } => show(ports, id, output).await,
    }
}

async fn list_all(
    ports: &Ports,
    email: Option<AccountEmail>,
    status: Option<InfractionStatus>,
    output: Output,
) -> anyhow::Result<()> {
    let account = match email {
        None => None,
        Some(email) => {
            let found = ports.queries.find_account_by_email(email.as_str()).await?;
            Some(found.with_context(|| format!("there is no account {}", email.as_str()))?.id)
        }
    };
    let filter = InfractionFilter { account, status };
    let mut found: Vec<Infraction> = Vec::new();
    let mut starting_after = None;
    loop {
        let page = list::list_for_operator(ports, filter, PageRequest { limit: PAGE, starting_after }).await?;
        starting_after = page.rows.last().map(|infraction| infraction.id);
        found.extend(page.rows);
        if !page.has_more || starting_after.is_none() {
            break;
        }
    }
    let mut emails = BTreeMap::new();
    let mut values = Vec::with_capacity(found.len());
    for infraction in &found {
        let email = email_of(ports, infraction.account, &mut emails).await?;
        values.push(as_json(infraction, &email)?);
    }
    output.print(&json!({ "data": values }), || {
        if found.is_empty() {
            return "There are no infractions.".to_owned();
        }
        let rows: Vec<Vec<String>> = found.iter().map(|infraction| row(infraction, &emails)).collect();
        table(&["ID", "STATUS", "AMOUNT", "DEADLINE", "DEFENCE", "ACCOUNT"], &rows)
    })?;
    Ok(())
}

async fn show(ports: &Ports, id: InfractionId, output: Output) -> anyhow::Result<()> {
    let found = list::find_for_operator(ports, id).await?;
    let infraction = found.with_context(|| format!("there is no infraction {id}"))?;
    let email = email_of(ports, infraction.account, &mut BTreeMap::new()).await?;
    let block = ports.queries.find_block(infraction.account, infraction.id).await?;
    let held = block.map_or(Money::ZERO, |block| block.held);
    let mut value = as_json(&infraction, &email)?;
    if let Value::Object(object) = &mut value {
        object.insert("held".to_owned(), amount(held));
    }
    output.print(&value, || for_people(&infraction, &email, held))?;
    Ok(())
}

/// The e-mail of an account, each looked up once.
async fn email_of(
    ports: &Ports,
    account: AccountId,
    known: &mut BTreeMap<AccountId, String>,
) -> anyhow::Result<String> {
    if let Some(email) = known.get(&account) {
        return Ok(email.clone());
    }
    let found = ports.queries.find_account(account).await?;
    let email = found.with_context(|| format!("the account {account} is not there"))?.email;
    known.insert(account, email.clone());
    Ok(email)
}

/// What the API shows, and what only operators see.
fn as_json(infraction: &Infraction, email: &str) -> anyhow::Result<Value> {
    let mut value: Value = serde_json::from_slice(&detail(infraction))?;
    if let Value::Object(object) = &mut value {
        let more = [
            ("account", Value::from(email)),
            ("charge_id", Value::from(infraction.charge.to_string())),
            ("acquirer", Value::from(infraction.acquirer.as_str())),
            ("upstream_id", Value::from(infraction.upstream_id.as_str())),
            ("limit", amount(infraction.limit)),
            ("created_at", Value::from(instant(infraction.created_at))),
        ];
        object.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(value)
}

fn row(infraction: &Infraction, emails: &BTreeMap<AccountId, String>) -> Vec<String> {
    vec![
        infraction.id.to_string(),
        infraction.state.status().as_str().to_owned(),
        infraction.amount.to_string(),
        infraction.deadline_at.map_or_else(|| "-".to_owned(), instant),
        defense(infraction).to_owned(),
        emails.get(&infraction.account).cloned().unwrap_or_default(),
    ]
}

/// How far the defence has come, in a word.
fn defense(infraction: &Infraction) -> &'static str {
    match infraction.defense.as_ref().map(|defense| defense.submitted_at.is_some()) {
        None => "none",
        Some(false) => "unknown",
        Some(true) => "submitted",
    }
}

fn for_people(infraction: &Infraction, email: &str, held: Money) -> String {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut rows = vec![
        ("id", infraction.id.to_string()),
        ("status", infraction.state.status().as_str().to_owned()),
        ("account", email.to_owned()),
        ("charge", infraction.charge.to_string()),
        ("external id", or_dash(infraction.external_id.as_ref().map(ToString::to_string))),
        ("Pix", infraction.end_to_end_id.to_string()),
        ("acquirer", format!("{}, {}", infraction.acquirer, infraction.upstream_id)),
        ("reason", or_dash(infraction.reason.clone())),
        ("reason code", infraction.situation.as_str().to_owned()),
        ("disputed", infraction.amount.to_string()),
        ("to be held", infraction.limit.to_string()),
        ("held", held.to_string()),
        ("opened", instant(infraction.opened_at)),
        ("deadline", or_dash(infraction.deadline_at.map(instant))),
        ("resolved", or_dash(infraction.state.resolved_at().map(instant))),
        ("defence", defense(infraction).to_owned()),
    ];
    if let Some(known) = &infraction.defense {
        rows.push(("submitted", or_dash(known.submitted_at.map(instant))));
        rows.push(("evidence", or_dash(known.evidence_url.as_ref().map(ToString::to_string))));
        rows.push(("says", or_dash(known.text.as_ref().map(ToString::to_string))));
    }
    fields(&rows)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::charge::ChargeStatus;
    use cais_testkit::builders::{a_charge, an_account, an_infraction, in_status};

    use super::*;

    #[test]
    fn operators_see_what_the_api_shows_and_more() {
        let infraction = an_infraction(&in_status(a_charge(an_account().id), ChargeStatus::Paid), 700);
        let value = as_json(&infraction, "a@b.co").unwrap();
        for name in ["id", "status", "defense_text", "account", "charge_id", "acquirer", "upstream_id", "limit"] {
            assert!(value.get(name).is_some(), "{name}: {value}");
        }
        let text = for_people(&infraction, "a@b.co", Money::from_centavos(7));
        assert!(text.contains("a@b.co") && text.contains("0.07"), "{text}");
        let emails = BTreeMap::from([(infraction.account, "a@b.co".to_owned())]);
        assert_eq!(row(&infraction, &emails).len(), 6);
    }
}
