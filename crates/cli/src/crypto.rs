//! `cais crypto`: crypto withdrawals, payments and rates that wait for an operator's decision.

use anyhow::Context;
use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, PaymentState};
use cais_domain::crypto::{Currency, ProcessorId, Rate, Withdrawal};
use cais_domain::ids::CryptoWithdrawalId;
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_http_api::resources::crypto::CryptoWithdrawal;
use cais_ports::Actor;
use cais_use_cases::Ports;
use cais_use_cases::crypto::CryptoSources;
use cais_use_cases::crypto::deposits::review::{self as payment_review, PaymentDecision};
use cais_use_cases::crypto::rate_reference::{self, AcceptedRate};
use cais_use_cases::crypto::withdrawals::review::{self, Decision, MissingRecord};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::context::Access;
use crate::infraction::note;
use crate::output::{Output, amount, fields, instant, table};

/// The commands for crypto.
#[derive(Debug, Subcommand)]
pub enum CryptoCommand {
    /// List and decide withdrawals without a proven outcome, and payments that were not credited automatically
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Accept a rate that is refused because it jumped
    #[command(subcommand)]
    Rate(RateCommand),
}

/// The commands for rates.
#[derive(Debug, Subcommand)]
pub enum RateCommand {
    /// Accept the present rate of a currency; the next rates are compared with it
    Accept {
        /// Code of the currency
        #[arg(long, value_parser = Currency::parse)]
        currency: Currency,
        /// Expected BRL for one coin, from another source; the command fails if the present rate differs by more than a tenth
        #[arg(long, value_parser = Rate::parse)]
        expect: Rate,
        /// Reason of the decision, for the audit log
        #[arg(long, value_parser = note)]
        note: Text,
    },
}

/// The commands for reviews.
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// List the withdrawals and payments that wait for a decision, at most 200 of each, the longest waiting first
    List,
    /// Decide a payment of coins that arrived at the address of a deposit
    #[command(group = clap::ArgGroup::new("decision").required(true).args(["credit", "at_rate", "dismiss"]))]
    ResolvePayment {
        /// The processor's id of the payment
        #[arg(value_parser = ProcessorId::parse)]
        id: ProcessorId,
        /// Amount to credit, in BRL such as 20.50; no fee is subtracted
        #[arg(long, value_parser = crate::account::positive)]
        credit: Option<Money>,
        /// Credit all coins at the rate of the deposit, less the fee
        #[arg(long)]
        at_rate: bool,
        /// Credit nothing; an earlier credit of this payment remains
        #[arg(long)]
        dismiss: bool,
        /// Reason of the decision, for the audit log
        #[arg(long, value_parser = note)]
        note: Text,
    },
    /// Decide a withdrawal; the money moves as if the processor had reported this outcome
    Resolve {
        /// Id of the withdrawal, `cwd_…`
        #[arg(value_parser = CryptoWithdrawalId::parse)]
        id: CryptoWithdrawalId,
        /// `sent` completes the withdrawal, `failed` makes amount and fee available again
        #[arg(long)]
        outcome: Outcome,
        /// Hash of the blockchain transaction that sent the coins
        #[arg(long, value_parser = note, required_if_eq("outcome", "sent"))]
        tx_hash: Option<Text>,
        /// Reason of the decision, for the audit log
        #[arg(long, value_parser = note)]
        note: Text,
        /// Decide even without the processor's record, for a processor that has closed down; the audit log marks such a decision
        #[arg(long)]
        without_processor: bool,
    },
}

impl CryptoCommand {
    /// Returns the parts of the installation that the command uses. `review list` reads only the store.
    #[must_use]
    pub const fn access(&self) -> Access {
        match self {
            Self::Review(ReviewCommand::List) => Access::Existing,
            Self::Review(ReviewCommand::Resolve { .. } | ReviewCommand::ResolvePayment { .. }) | Self::Rate(_) => {
                Access::Acquirers
            }
        }
    }
}

/// The outcomes of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Outcome {
    /// The coins were sent.
    Sent,
    /// The coins are never sent.
    Failed,
}

/// Runs the command.
///
/// # Errors
/// A withdrawal or a payment does not exist, a decision is refused, or the processor or the store fails.
pub async fn run(ports: &Ports, operator: &Actor, command: CryptoCommand, output: Output) -> anyhow::Result<()> {
    match command {
        CryptoCommand::Review(command) => decide(ports, operator, command, output).await,
        CryptoCommand::Rate(RateCommand::Accept { currency, expect, note }) => {
            let accepted = rate_reference::accept(ports, sources(ports)?, operator, (currency, &expect), &note).await?;
            Ok(output.print(&rate_as_json(&accepted), || rate_for_people(&accepted))?)
        }
    }
}

fn sources(ports: &Ports) -> anyhow::Result<&CryptoSources> {
    ports.crypto.as_ref().context("no crypto processor is configured")
}

async fn decide(ports: &Ports, operator: &Actor, command: ReviewCommand, output: Output) -> anyhow::Result<()> {
    match command {
        ReviewCommand::List => {
            let (waiting, payments) = (review::list(ports).await?, payment_review::list_payments(ports).await?);
            let withdrawals = waiting.iter().map(as_json).collect::<anyhow::Result<Vec<_>>>()?;
            let value = json!({ "withdrawals": withdrawals, "payments": payments.iter().map(payment_as_json).collect::<Vec<_>>() });
            output.print(&value, || format!("{}\n\n{}", for_people(&waiting), payments_for_people(&payments)))?;
        }
        ReviewCommand::ResolvePayment { id, credit, at_rate, note, .. } => {
            let crypto = sources(ports)?;
            let decision = match credit {
                Some(amount) => PaymentDecision::Credit(amount),
                None if at_rate => PaymentDecision::CreditAtRate,
                None => PaymentDecision::Dismiss,
            };
            let name = (crypto.processor.name(), &id);
            let after = payment_review::resolve_payment(ports, operator, name, (decision, &note)).await?;
            output.print(&payment_as_json(&after), || payments_for_people(std::slice::from_ref(&after)))?;
        }
        ReviewCommand::Resolve { id, outcome, tx_hash, note, without_processor } => {
            let decision = match (outcome, tx_hash) {
                (Outcome::Sent, Some(tx_hash)) => Decision::Sent { tx_hash },
                (Outcome::Failed, None) => Decision::Failed,
                (Outcome::Sent, None) | (Outcome::Failed, Some(_)) => {
                    anyhow::bail!("--tx-hash is required with --outcome sent, and not permitted with --outcome failed")
                }
            };
            let missing = if without_processor { MissingRecord::Accepted } else { MissingRecord::Refused };
            let after = review::resolve(ports, operator, id, (&decision, &note), missing).await?;
            output.print(&as_json(&after)?, || {
                let status = after.state.status().as_str().to_owned();
                fields(&[("id", after.id.to_string()), ("status", status), ("account", after.account.to_string())])
            })?;
        }
    }
    Ok(())
}

/// Returns an accepted rate as JSON.
fn rate_as_json(AcceptedRate { quote, last }: &AcceptedRate) -> Value {
    json!({
        "currency": quote.terms.currency.code(),
        "rate": quote.prices.rate.to_string(),
        "last_rate": last.as_ref().map(Rate::to_string),
        "usdt_per_coin": quote.inputs.usdt_per_coin.to_string(),
        "brl_per_usd": quote.inputs.brl_per_usd.to_string(),
        "accepted_at": instant(quote.created_at),
    })
}

fn rate_for_people(AcceptedRate { quote, last }: &AcceptedRate) -> String {
    fields(&[
        ("currency", quote.terms.currency.to_string()),
        ("rate", quote.prices.rate.to_string()),
        ("last rate", last.as_ref().map_or_else(|| "-".to_owned(), Rate::to_string)),
    ])
}

/// Returns the withdrawal's JSON as in the API, with additional fields for operators.
fn as_json(withdrawal: &Withdrawal) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(CryptoWithdrawal::from(withdrawal))?;
    if let Value::Object(object) = &mut value {
        let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref()).map(ToString::to_string);
        let more = [
            ("account_id", Value::from(withdrawal.account.to_string())),
            ("processor", Value::from(withdrawal.processor.as_str())),
            ("upstream_id", Value::from(batch)),
            ("review_since", Value::from(withdrawal.state.review_since().map(instant))),
        ];
        object.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(value)
}

/// Returns a payment as JSON.
fn payment_as_json(payment: &DepositPayment) -> Value {
    json!({
        "id": payment.id.as_str(),
        "deposit_id": payment.deposit.to_string(),
        "account_id": payment.account.to_string(),
        "processor": payment.processor.as_str(),
        "coins": coins(payment),
        "credited": amount(payment.gross),
        "status": payment.state.as_str(),
        "review_reason": reason(payment),
        "created_at": instant(payment.created_at),
    })
}

fn coins(payment: &DepositPayment) -> String {
    match &payment.coins {
        ArrivedCoins::Supported(coins) => format!("{coins} {}", coins.currency()),
        ArrivedCoins::Unsupported { currency, amount } => format!("{amount} {currency}"),
    }
}

const fn reason(payment: &DepositPayment) -> Option<&'static str> {
    match payment.state {
        PaymentState::Review(reason) => Some(reason.as_str()),
        PaymentState::Credited | PaymentState::Dismissed(_) => None,
    }
}

fn payments_for_people(payments: &[DepositPayment]) -> String {
    if payments.is_empty() {
        return "No payment waits for a decision.".to_owned();
    }
    let row = |payment: &DepositPayment| {
        vec![
            payment.id.to_string(),
            payment.deposit.to_string(),
            instant(payment.created_at),
            coins(payment),
            payment.gross.to_string(),
            reason(payment).unwrap_or_else(|| payment.state.as_str()).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = payments.iter().map(row).collect();
    table(&["PAYMENT", "DEPOSIT", "SINCE", "COINS", "CREDITED", "REASON"], &rows)
}

fn for_people(waiting: &[Withdrawal]) -> String {
    if waiting.is_empty() {
        return "No withdrawal waits for a decision.".to_owned();
    }
    let row = |withdrawal: &Withdrawal| {
        let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref());
        vec![
            withdrawal.id.to_string(),
            withdrawal.state.review_since().map_or_else(|| "-".to_owned(), instant),
            withdrawal.terms.amount.to_string(),
            format!("{} {}", withdrawal.price.coins, withdrawal.price.coins.currency()),
            batch.map_or_else(|| "unknown".to_owned(), ToString::to_string),
            withdrawal.account.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = waiting.iter().map(row).collect();
    table(&["ID", "SINCE", "AMOUNT", "COINS", "PROCESSOR'S ID", "ACCOUNT"], &rows)
}
