//! `cais account`: the operators' commands for accounts.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::rate::parse_spread;
use cais_domain::document::Document;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{Account, Features, Kyc};
use cais_domain::merchant::account_change::MAX_RELEASE_DELAY_S;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Actor, PageRequest};
use cais_use_cases::Ports;
use cais_use_cases::accounts::{
    AccountEmail, acquirers, approve, create, crypto_spread, features, fees, limits, list, reject, release_delay,
    resume, suspend,
};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::output::{Output, fields, instant, table};
use cais_http_api::resources::operator as operator_json;

/// Longest name of an account or an API key, in characters.
const MAX_NAME_CHARS: usize = 200;
/// Accounts read per page.
const PAGE: u32 = 200;

/// The operations on accounts.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Open an account
    Create {
        /// E-mail of the account, unique among accounts
        #[arg(long, value_parser = AccountEmail::parse)]
        email: AccountEmail,
        /// Name of the account, for people
        #[arg(long, value_parser = name)]
        name: Text,
        /// CPF or CNPJ of the account's holder
        #[arg(long, value_parser = Document::parse)]
        document: Document,
        /// Also approve the account's KYC, which enables `pix_in` and `pix_out`
        #[arg(long)]
        approve: bool,
    },
    /// List all accounts, newest first
    List,
    /// Approve an account's KYC, which enables `pix_in` and `pix_out`
    Approve(AccountArg),
    /// Reject an account's KYC; the account can use no feature until its KYC is approved
    Reject(AccountArg),
    /// Suspend an account: until it is resumed, it can read but not write
    Suspend(AccountArg),
    /// End an account's suspension
    Resume(AccountArg),
    /// Switch features on and off: `pix_in`, `pix_out`, `split`, `crypto_in`, `crypto_out`
    #[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["enable", "disable"]))]
    Features {
        #[command(flatten)]
        which: AccountArg,
        /// Features to switch on, separated by commas
        #[arg(long, value_parser = Features::parse, default_value = "", hide_default_value = true)]
        enable: Features,
        /// Features to switch off, separated by commas
        #[arg(long, value_parser = Features::parse, default_value = "", hide_default_value = true)]
        disable: Features,
    },
    /// Set the fee of an operation; all parts of the earlier fee are replaced
    Fees {
        #[command(flatten)]
        which: AccountArg,
        /// `pix_in`, `pix_out`, `crypto_in` or `crypto_out`
        #[arg(long, value_parser = operation)]
        operation: Operation,
        /// Fixed part of the fee, in BRL such as 0.50
        #[arg(long, allow_negative_numbers = true, value_parser = brl, default_value = "0")]
        fixed: Money,
        /// Variable part of the fee, as a percentage of the amount from 0 to 100, such as 0.99
        #[arg(long, allow_negative_numbers = true, value_parser = percentage, default_value = "0")]
        percent: Percentage,
        /// Smallest fee, in BRL
        #[arg(long, allow_negative_numbers = true, value_parser = brl)]
        min: Option<Money>,
        /// Largest fee, in BRL
        #[arg(long, allow_negative_numbers = true, value_parser = brl)]
        max: Option<Money>,
    },
    /// Set the largest amount of one charge, of one payout, or both
    #[command(group = clap::ArgGroup::new("limit").required(true).multiple(true).args(["charge", "payout"]))]
    Limits {
        #[command(flatten)]
        which: AccountArg,
        /// Largest amount of a charge, in BRL such as 20000.00
        #[arg(long, allow_negative_numbers = true, value_parser = positive)]
        charge: Option<Money>,
        /// Largest amount of a payout, in BRL such as 20000.00
        #[arg(long, allow_negative_numbers = true, value_parser = positive)]
        payout: Option<Money>,
    },
    /// Set how long the money of new payments stays `pending` before it becomes available
    ReleaseDelay {
        #[command(flatten)]
        which: AccountArg,
        /// Length of the delay in seconds; 0 means no delay
        #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_RELEASE_DELAY_S)))]
        seconds: u32,
    },
    /// Set the spread between the market's rates and the rates of the account's crypto deposits and withdrawals
    #[command(group = clap::ArgGroup::new("spread").required(true).args(["percent", "default"]))]
    CryptoSpread {
        #[command(flatten)]
        which: AccountArg,
        /// Spread as a percentage from 0 to 10, such as 1.5
        #[arg(long, allow_negative_numbers = true, value_parser = spread)]
        percent: Option<Percentage>,
        /// Use the spread of the configuration
        #[arg(long)]
        default: bool,
    },
    /// Set the acquirers that new charges and payouts of the account use first
    #[command(group = clap::ArgGroup::new("acquirers").required(true).args(["order", "default"]))]
    Acquirers {
        #[command(flatten)]
        which: AccountArg,
        /// Names of acquirers, separated by commas; all other acquirers follow in the order of the configuration
        #[arg(long, value_delimiter = ',', value_parser = AcquirerName::parse)]
        order: Vec<AcquirerName>,
        /// Use the order of the configuration
        #[arg(long)]
        default: bool,
    },
}

/// The account that a command changes or shows.
#[derive(Debug, Args)]
pub struct AccountArg {
    /// E-mail of the account
    #[arg(long = "account", value_name = "EMAIL", value_parser = AccountEmail::parse)]
    pub email: AccountEmail,
}

/// Reads the name of an account or an API key.
pub fn name(text: &str) -> Result<Text, String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    Text::parse(text.trim(), MAX_NAME_CHARS, LineBreaks::Refused).map_err(|error| error.to_string())
}

fn operation(text: &str) -> Result<Operation, &'static str> {
    Operation::parse(text).ok_or("must be pix_in, pix_out, crypto_in or crypto_out")
}

/// Reads an amount. The error explains the decimal point, because Brazilian texts use a decimal comma.
fn brl(text: &str) -> Result<Money, String> {
    Money::parse(text).map_err(|error| with_decimal_point(text, &error.to_string(), "20000.50"))
}

fn percentage(text: &str) -> Result<Percentage, String> {
    Percentage::parse(text).map_err(|error| with_decimal_point(text, &error.to_string(), "0.99"))
}

fn spread(text: &str) -> Result<Percentage, String> {
    parse_spread(text).map_err(|error| with_decimal_point(text, &error.to_string(), "1.5"))
}

fn with_decimal_point(text: &str, rule: &str, example: &str) -> String {
    if text.contains(',') {
        format!("{rule} with a decimal point and without separators of thousands, such as {example}")
    } else {
        rule.to_owned()
    }
}

/// Reads an amount above zero.
pub fn positive(text: &str) -> Result<Money, String> {
    let money = brl(text)?;
    if money.is_positive() { Ok(money) } else { Err("must be above zero".to_owned()) }
}

/// Runs the command.
///
/// # Errors
/// The error of the use case.
pub async fn run(ports: &Ports, operator: &Actor, command: AccountCommand, output: Output) -> anyhow::Result<()> {
    let account = match command {
        AccountCommand::List => return print_all(ports, output).await,
        AccountCommand::Create { email, name, document, approve } => {
            let account =
                create::create(ports, operator, create::CreateAccount { email, name, document, approve }).await?;
            output.print(&operator_json::account(&account), || for_people(&account) + &next_step(&account))?;
            return Ok(());
        }
        AccountCommand::Approve(which) => approve::approve(ports, operator, &which.email).await?,
        AccountCommand::Reject(which) => reject::reject(ports, operator, &which.email).await?,
        AccountCommand::Suspend(which) => suspend::suspend(ports, operator, &which.email).await?,
        AccountCommand::Resume(which) => resume::resume(ports, operator, &which.email).await?,
        AccountCommand::Features { which, enable, disable } => {
            if let Some(both) = enable.iter().find(|feature| disable.contains(*feature)) {
                anyhow::bail!("{} cannot be switched on and off in one command", both.as_str());
            }
            features::set(ports, operator, &which.email, enable, disable).await?
        }
        AccountCommand::Fees { which, operation, fixed, percent, min, max } => {
            let rule = FeeRule::try_new(fixed, percent, min, max)?;
            fees::set(ports, operator, &which.email, operation, &rule).await?
        }
        AccountCommand::Limits { which, charge, payout } => {
            limits::set(ports, operator, &which.email, charge, payout).await?
        }
        AccountCommand::ReleaseDelay { which, seconds } => {
            release_delay::set(ports, operator, &which.email, seconds).await?
        }
        AccountCommand::CryptoSpread { which, percent, .. } => {
            crypto_spread::set(ports, operator, &which.email, percent).await?
        }
        AccountCommand::Acquirers { which, order, .. } => acquirers::set(ports, operator, &which.email, &order).await?,
    };
    output.print(&operator_json::account(&account), || for_people(&account))?;
    Ok(())
}

async fn print_all(ports: &Ports, output: Output) -> anyhow::Result<()> {
    let mut accounts: Vec<Account> = Vec::new();
    let mut starting_after: Option<AccountId> = None;
    loop {
        let page = list::list(ports, None, PageRequest { limit: PAGE, starting_after }).await?;
        starting_after = page.rows.last().map(|account| account.id);
        accounts.extend(page.rows);
        if !page.has_more || starting_after.is_none() {
            break;
        }
    }
    let value = json!({ "data": accounts.iter().map(operator_json::account).collect::<Vec<_>>() });
    output.print(&value, || {
        let rows: Vec<Vec<String>> = accounts.iter().map(row).collect();
        if rows.is_empty() {
            "There are no accounts.".to_owned()
        } else {
            table(&["EMAIL", "NAME", "STATUS", "KYC", "FEATURES", "ID"], &rows)
        }
    })?;
    Ok(())
}

fn row(account: &Account) -> Vec<String> {
    vec![
        account.email.clone(),
        account.name.clone(),
        account.status.as_str().to_owned(),
        account.kyc.as_str().to_owned(),
        account.features.to_string(),
        account.id.to_string(),
    ]
}

/// Returns the step that the account still needs before it can create charges; empty if there is none.
fn next_step(account: &Account) -> String {
    match account.kyc {
        Kyc::Approved => String::new(),
        Kyc::Pending | Kyc::Rejected => format!(
            "\n\nThe KYC of the account is not approved, so the account cannot create charges. Next:\n  cais account approve --account {}",
            account.email
        ),
    }
}

fn for_people(account: &Account) -> String {
    let mut rows = vec![
        ("id", account.id.to_string()),
        ("e-mail", account.email.clone()),
        ("name", account.name.clone()),
        ("document", account.document.formatted()),
        ("status", account.status.as_str().to_owned()),
        ("kyc", account.kyc.as_str().to_owned()),
        ("features", account.features.to_string()),
        ("limits", format!("charge {}, payout {}", account.limits.charge, account.limits.payout)),
        ("release delay", format!("{} s", account.release_delay_s)),
        ("crypto spread", account.crypto_spread.as_ref().map_or("default".to_owned(), |spread| format!("{spread} %"))),
        ("created", instant(account.created_at)),
    ];
    if !account.acquirers.is_empty() {
        let names: Vec<&str> = account.acquirers.iter().map(AcquirerName::as_str).collect();
        rows.push(("acquirers", names.join(", ")));
    }
    for operation in Operation::ALL {
        let rule = account.fees.get(operation);
        if *rule != FeeRule::free() {
            let least = rule.min().map(|min| format!(", at least {min}")).unwrap_or_default();
            let most = rule.max().map(|max| format!(", at most {max}")).unwrap_or_default();
            let percent = rule.percentage().as_decimal().normalized().to_plain_string();
            rows.push(("fee", format!("{operation}: {} + {percent} %{least}{most}", rule.fixed())));
        }
    }
    fields(&rows)
}
