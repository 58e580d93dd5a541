//! `cais infraction`: disputes of all accounts, and the decisions of operators.

use std::collections::BTreeMap;

use anyhow::Context;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::money::Money;
use cais_domain::review_decision::parse_note;
use cais_domain::text::Text;
use cais_ports::{Actor, InfractionFilter, PageRequest};
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::infractions::list;
use cais_use_cases::infractions::resolve::{Decision, resolve};
use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use crate::output::{Output, amount, fields, instant, print_while_read, table};
use cais_http_api::resources::infraction::InfractionDetail;

/// Infractions read per page.
const PAGE: u32 = 200;

/// The commands for infractions.
#[derive(Debug, Subcommand)]
pub enum InfractionCommand {
    /// List infractions, newest first
    List {
        /// E-mail of the account; by default the infractions of all accounts
        #[arg(long = "account", value_name = "EMAIL", value_parser = AccountEmail::parse)]
        email: Option<AccountEmail>,
        /// Status of the infractions: `open`, `under_review`, `won`, `lost` or `cancelled`
        #[arg(long, value_parser = status)]
        status: Option<InfractionStatus>,
        /// Only infractions that wait for an operator's decision
        #[arg(long, conflicts_with_all = ["email", "status"])]
        needs_review: bool,
    },
    /// Decide an infraction that is marked for review; the money moves as if the acquirer had decided this outcome
    Resolve {
        /// Id of the infraction, `inf_…`
        #[arg(value_parser = InfractionId::parse)]
        id: InfractionId,
        /// `won` and `cancelled` free the blocked money, `lost` debits it as returned to the payer
        #[arg(long)]
        outcome: Outcome,
        /// Amount in BRL that was returned to the payer; blocked money above it is freed. By default the disputed amount, or the part of
        /// the Pix that can still be blocked, if that part is smaller
        #[arg(long, value_parser = crate::account::positive)]
        lost_amount: Option<Money>,
        /// Reason of the decision, for the audit log
        #[arg(long, value_parser = note)]
        note: Text,
    },
    /// Show an infraction with all its fields
    Show {
        /// Id of the infraction, `inf_…`
        #[arg(value_parser = InfractionId::parse)]
        id: InfractionId,
    },
}

/// The outcomes of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Outcome {
    /// The dispute is rejected.
    Won,
    /// The dispute is accepted.
    Lost,
    /// The dispute is withdrawn.
    Cancelled,
}

/// Reads a note of an operator, such as the reason of a decision.
pub fn note(text: &str) -> Result<Text, String> {
    parse_note(text).map_err(|error| error.to_string())
}

fn status(word: &str) -> Result<InfractionStatus, String> {
    let known = || InfractionStatus::ALL.map(InfractionStatus::as_str).join(", ");
    InfractionStatus::parse(word).ok_or_else(|| format!("must be one of {}", known()))
}

/// Runs the command.
///
/// # Errors
/// An account or infraction does not exist, a decision is rejected, or the store fails.
pub async fn run(ports: &Ports, operator: &Actor, command: InfractionCommand, output: Output) -> anyhow::Result<()> {
    match command {
        InfractionCommand::List { email, status, needs_review } => {
            list_all(ports, email, (status, needs_review), output).await
        }
        InfractionCommand::Show { id } => show(ports, id, output).await,
        InfractionCommand::Resolve { id, outcome, lost_amount, note } => {
            let decision = match (outcome, lost_amount) {
                (Outcome::Lost, amount) => Decision::Lost(amount),
                (Outcome::Won, None) => Decision::Won,
                (Outcome::Cancelled, None) => Decision::Cancelled,
                (Outcome::Won | Outcome::Cancelled, Some(_)) => {
                    anyhow::bail!("--lost-amount is permitted only with --outcome lost")
                }
            };
            resolve(ports, operator, id, (decision, &note)).await?;
            show(ports, id, output).await
        }
    }
}

async fn list_all(
    ports: &Ports,
    email: Option<AccountEmail>,
    (status, needs_review): (Option<InfractionStatus>, bool),
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
    let (mut listing, mut starting_after) = (Listing { json: output.json, is_begun: false }, None);
    loop {
        let page = PageRequest { limit: PAGE, starting_after };
        let page = if needs_review {
            list::list_for_review(ports, page).await?
        } else {
            list::list_for_operator(ports, filter, page).await?
        };
        starting_after = page.rows.last().map(|infraction| infraction.id);
        let mut emails = BTreeMap::new();
        for infraction in &page.rows {
            email_of(ports, infraction.account, &mut emails).await?;
        }
        let is_last = !page.has_more || starting_after.is_none();
        let text = listing.page(&page.rows, &emails, is_last)?;
        // The command ends if the reader of its output closes the pipe.
        if !print_while_read(&text)? || is_last {
            return Ok(());
        }
    }
}

/// A list of any length that is printed page by page. With `--json`, all pages together form one document.
struct Listing {
    json: bool,
    /// `true` after the first page was printed.
    is_begun: bool,
}

impl Listing {
    /// Returns the text of the next page.
    fn page(
        &mut self,
        found: &[Infraction],
        emails: &BTreeMap<AccountId, String>,
        is_last: bool,
    ) -> anyhow::Result<String> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if !self.json {
            return Ok(Self::for_people(found, emails, is_first));
        }
        let email = |infraction: &Infraction| emails.get(&infraction.account).map_or("", String::as_str);
        let values = found.iter().map(|infraction| Ok(as_json(infraction, email(infraction))?.to_string()));
        let values = values.collect::<anyhow::Result<Vec<String>>>()?.join(",");
        let begin = match (is_first, found.is_empty()) {
            (true, _) => "{\"data\":[",
            (false, false) => ",",
            (false, true) => "",
        };
        Ok(format!("{begin}{values}{}", if is_last { "]}" } else { "" }))
    }

    fn for_people(found: &[Infraction], emails: &BTreeMap<AccountId, String>, is_first: bool) -> String {
        if is_first && found.is_empty() {
            return "There are no infractions.".to_owned();
        }
        let rows: Vec<Vec<String>> = found.iter().map(|infraction| row(infraction, emails)).collect();
        let table = table(&["ID", "STATUS", "AMOUNT", "DEADLINE", "DEFENSE", "REVIEW", "ACCOUNT"], &rows);
        if is_first {
            return table;
        }
        table.split_once('\n').map(|(_headings, rows)| rows.to_owned()).unwrap_or_default()
    }
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

/// Returns the e-mail of an account. `known` stores the e-mails, so that each account is read once.
async fn email_of(
    ports: &Ports,
    account: AccountId,
    known: &mut BTreeMap<AccountId, String>,
) -> anyhow::Result<String> {
    if let Some(email) = known.get(&account) {
        return Ok(email.clone());
    }
    let found = ports.queries.find_account(account).await?;
    let email = found.with_context(|| format!("the account {account} of the infraction does not exist"))?.email;
    known.insert(account, email.clone());
    Ok(email)
}

/// Returns the infraction's JSON as in the API, with additional fields for operators.
fn as_json(infraction: &Infraction, email: &str) -> anyhow::Result<Value> {
    let mut value: Value = serde_json::to_value(InfractionDetail::from(infraction))?;
    if let Value::Object(object) = &mut value {
        let more = [
            ("account", Value::from(email)),
            ("charge_id", Value::from(infraction.charge.to_string())),
            ("acquirer", Value::from(infraction.acquirer.as_str())),
            ("upstream_id", Value::from(infraction.upstream_id.as_str())),
            ("limit", amount(infraction.limit)),
            ("needs_review", Value::from(infraction.needs_review())),
            ("review_reason", Value::from(infraction.review.map(|review| review.reason.as_str()))),
            ("review_since", Value::from(infraction.review.map(|review| instant(review.since)))),
            ("created_at", Value::from(instant(infraction.created_at))),
        ];
        object.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(value)
}

fn row(infraction: &Infraction, emails: &BTreeMap<AccountId, String>) -> Vec<String> {
    vec![
        infraction.id.to_string(),
        // Fixed widths align the columns of all pages.
        format!("{:12}", infraction.state.status().as_str()),
        format!("{:12}", infraction.amount.to_string()),
        format!("{:24}", infraction.deadline_at.map_or_else(|| "-".to_owned(), instant)),
        format!("{:9}", defense(infraction)),
        format!("{:18}", review(infraction)),
        emails.get(&infraction.account).cloned().unwrap_or_default(),
    ]
}

/// Returns the state of the defense as one word; `unknown` if the acquirer has not confirmed the defense.
fn defense(infraction: &Infraction) -> &'static str {
    match infraction.defense.as_ref().map(|defense| defense.submitted_at.is_some()) {
        None => "none",
        Some(false) => "unknown",
        Some(true) => "submitted",
    }
}

/// Returns the reason of the review while the infraction waits for an operator's decision, otherwise `-`.
fn review(infraction: &Infraction) -> &'static str {
    infraction.review.filter(|_| infraction.needs_review()).map_or("-", |review| review.reason.as_str())
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
        ("defense", defense(infraction).to_owned()),
    ];
    if let Some(mark) = infraction.review {
        let state = if infraction.needs_review() { "needed" } else { "done" };
        rows.push(("review", format!("{state}, {}, since {}", mark.reason.as_str(), instant(mark.since))));
    }
    if let Some(known) = &infraction.defense {
        rows.push(("submitted", or_dash(known.submitted_at.map(instant))));
        rows.push(("evidence", or_dash(known.evidence_url.as_ref().map(ToString::to_string))));
        rows.push(("text", or_dash(known.text.as_ref().map(ToString::to_string))));
    }
    fields(&rows)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

    use cais_domain::charge::ChargeStatus;
    use cais_testkit::builders::{a_charge, an_account, an_infraction, in_status};

    use super::*;

    #[test]
    fn infraction_for_operators_extends_the_api_body() {
        let infraction = an_infraction(&in_status(a_charge(an_account().id), ChargeStatus::Paid), 700);
        let value = as_json(&infraction, "a@b.co").unwrap();
        for name in ["id", "status", "defense_text", "account", "charge_id", "acquirer", "upstream_id", "limit"] {
            assert!(value.get(name).is_some(), "{name}: {value}");
        }
        let text = for_people(&infraction, "a@b.co", Money::from_centavos(7));
        assert!(text.contains("a@b.co") && text.contains("0.07"), "{text}");
        let emails = BTreeMap::from([(infraction.account, "a@b.co".to_owned())]);
        assert_eq!(row(&infraction, &emails).len(), 7);
        assert_eq!(value["needs_review"], false);
    }

    #[test]
    fn pages_print_as_one_document_and_one_table() {
        let new = || an_infraction(&in_status(a_charge(an_account().id), ChargeStatus::Paid), 700);
        let all = [new(), Infraction { amount: Money::from_centavos(7), deadline_at: None, ..new() }, new()];
        let emails: BTreeMap<_, _> = all.iter().map(|one| (one.account, format!("{}@b.co", one.id))).collect();
        for pages in
            [vec![&all[..0]], vec![&all[..2]], vec![&all[..2], &all[2..]], vec![&all[..1], &all[1..], &all[3..]]]
        {
            let print = |json: bool| {
                let mut listing = Listing { json, is_begun: false };
                let text = pages
                    .iter()
                    .enumerate()
                    .map(|(number, page)| listing.page(page, &emails, number + 1 == pages.len()).unwrap());
                text.collect::<Vec<String>>().join("\n")
            };
            let found = pages.concat();
            let document: Value = serde_json::from_str(&print(true)).unwrap();
            let printed =
                document["data"].as_array().unwrap().iter().map(|one| one["account"].as_str().unwrap().to_owned());
            assert!(printed.eq(found.iter().map(|one| emails[&one.account].clone())), "{document}");
            let text = print(false);
            if found.is_empty() {
                assert_eq!(text, "There are no infractions.");
                continue;
            }
            let places: Vec<_> = text.lines().skip(1).map(|line| line.find("inf_").zip(line.rfind("inf_"))).collect();
            assert_eq!((places.len(), text.matches("STATUS").count()), (found.len(), 1), "{text}");
            assert!(places.windows(2).all(|two| two[0] == two[1]), "{text}");
        }
    }
}
