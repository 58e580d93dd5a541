//! `cais audit`: the changes that operators made.

use anyhow::Context;
use cais_domain::ids::AuditId;
use cais_ports::{AuditFilter, AuditRow, PageRequest};
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::audit;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::output::{Output, instant, table};

/// The number of changes that are shown without `--limit`.
const DEFAULT_LIMIT: u32 = 50;
/// The largest value of `--limit`: the store returns at most this many rows per page.
const MAX_LIMIT: i64 = 200;

/// The commands of `cais audit`.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the changes that operators made, newest first; with `--json` each with its state before and after
    List(ListArgs),
}

/// The filter and the page.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// E-mail of the account that was changed; by default the changes of all accounts
    #[arg(long, value_name = "EMAIL", value_parser = AccountEmail::parse)]
    account: Option<AccountEmail>,
    /// Operator who made the changes; by default all operators
    #[arg(long = "by", value_name = "NAME")]
    operator: Option<String>,
    /// Action of the changes, such as account.fees or key.revoke; by default all actions
    #[arg(long)]
    action: Option<String>,
    /// Largest number of changes
    #[arg(long, default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..=MAX_LIMIT))]
    limit: u32,
    /// Id of the last change of the previous page
    #[arg(long, value_name = "ID", value_parser = AuditId::parse)]
    starting_after: Option<AuditId>,
}

/// Runs the command.
///
/// # Errors
/// The account does not exist, or the store cannot be read.
pub async fn run(ports: &Ports, command: AuditCommand, output: Output) -> anyhow::Result<()> {
    let AuditCommand::List(args) = command;
    let account = match &args.account {
        Some(email) => {
            let found = ports.queries.find_account_by_email(email.as_str()).await?;
            Some(found.with_context(|| format!("there is no account with the e-mail {email}"))?.id)
        }
        None => None,
    };
    let filter = AuditFilter { account, operator: args.operator, action: args.action };
    let page =
        audit::list(ports, filter, PageRequest { limit: args.limit, starting_after: args.starting_after }).await?;
    let next = page.rows.last().filter(|_| page.has_more).map(|row| row.id.to_string());
    let value = json!({
        "data": page.rows.iter().map(as_json).collect::<Vec<_>>(),
        "has_more": page.has_more,
        "next_starting_after": next,
    });
    output.print(&value, || for_people(&page.rows, next.as_deref()))?;
    Ok(())
}

fn as_json(row: &AuditRow) -> Value {
    let state = |text: &Option<String>| {
        text.as_deref().map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or(Value::Null))
    };
    json!({
        "id": row.id.to_string(),
        "at": instant(row.at),
        "operator": row.operator.name,
        "source": row.operator.source,
        "host": row.operator.host,
        "action": row.action,
        "subject": row.subject,
        "account_id": row.account.map(|account| account.to_string()),
        "before": state(&row.before),
        "after": state(&row.after),
    })
}

fn for_people(rows: &[AuditRow], next: Option<&str>) -> String {
    if rows.is_empty() {
        return "There are no changes.".to_owned();
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let more = next.map(|id| format!("\n\nThere are more changes: --starting-after {id}")).unwrap_or_default();
    table(&["AT", "OPERATOR", "FROM", "ACTION", "SUBJECT", "CHANGED"], &cells) + &more
}

fn cells(row: &AuditRow) -> Vec<String> {
    vec![
        instant(row.at),
        row.operator.name.clone(),
        format!("{} {}", row.operator.source, row.operator.host),
        row.action.clone(),
        row.subject.clone(),
        changed(row),
    ]
}

/// Returns the changed fields with their values before and after. Returns an empty text if the change created its subject.
fn changed(row: &AuditRow) -> String {
    let state = |text: &Option<String>| -> Option<Value> { serde_json::from_str(text.as_deref()?).ok() };
    let mut parts = Vec::new();
    if let (Some(before), Some(after)) = (state(&row.before), state(&row.after)) {
        differences("", &before, &after, &mut parts);
    }
    parts.join(", ")
}

fn differences(path: &str, before: &Value, after: &Value, parts: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let removed = before.keys().filter(|name| !after.contains_key(*name));
            for name in after.keys().chain(removed) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let [before, after] = [before, after].map(|state| state.get(name).unwrap_or(&Value::Null));
                differences(&path, before, after, parts);
            }
        }
        _ if before == after => {}
        _ => parts.push(format!("{path}: {before} → {after}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_added_and_removed_fields_are_differences() {
        let mut parts = Vec::new();
        let before = json!({"name": "a", "fees": {"fixed": 1, "min": 2}, "old": true});
        let after = json!({"name": "a", "fees": {"fixed": 3, "min": 2}, "new": true});
        differences("", &before, &after, &mut parts);
        assert_eq!(parts, ["fees.fixed: 1 → 3", "new: null → true", "old: true → null"]);
    }
}
