//! `cais demo`: shows the service step by step with the built-in sandbox, and checks each step.

pub mod client;
mod pretty;
mod qr;
mod receiver;
mod screen;
mod walk;

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use cais_domain::document::Document;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::{Account, Features};
use cais_domain::merchant::api_key::Scopes;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::Actor;
use cais_use_cases::Ports;
use cais_use_cases::accounts::create::{CreateAccount, CreateAccountError};
use cais_use_cases::accounts::{AccountEmail, approve, create, features, fees};
use cais_use_cases::keys;

use crate::context::{CliContext, Purpose};
use crate::output::print_line;
use crate::signals::Signals;
use client::Client;
use receiver::Receiver;
use screen::Screen;
use walk::Walk;

/// The e-mail of the demonstration's account.
const EMAIL: &str = "demo@cais.example";
/// Days until a key of the demonstration expires.
const KEY_DAYS: u32 = 7;

/// Runs the demonstration. With `once`, the service then stops. Otherwise the service runs until a signal arrives.
///
/// # Errors
/// The first step with an unexpected result.
pub async fn run(context: &dyn CliContext, once: bool) -> anyhow::Result<ExitCode> {
    let screen = Screen::of_process();
    let mut signals = Signals::listen()?;
    let began = std::time::Instant::now();
    screen.heading("Cais, a Pix payment service")?;
    let mut service = context.start(Purpose::Demo).await?;
    let (ports, address, data_dir) = (service.ports().clone(), service.listen(), service.data_dir().to_owned());
    screen.good(&format!(
        "serving on http://{address} after {} ms, on SQLite in {}, with the built-in sandbox as the bank",
        began.elapsed().as_millis(),
        data_dir.display()
    ))?;
    let mut walked = tokio::select! {
        walked = walk(ports, address, screen) => walked.map(Some),
        error = service.failed() => Err(error),
        () = signals.received() => Ok(None),
    };
    if let (Ok(Some(key)), false) = (&walked, once) {
        print_next_steps(screen, address, key, &data_dir)?;
        tokio::select! {
            () = signals.received() => {}
            error = service.failed() => walked = Err(error),
        }
    }
    signals.force_exit_on_next();
    service.stop().await;
    walked?;
    Ok(ExitCode::SUCCESS)
}

async fn walk(ports: Ports, address: SocketAddr, screen: Screen) -> anyhow::Result<String> {
    screen.heading("A merchant's account and its API key")?;
    let account = account(&ports, screen).await?;
    let fee = account.fees.get(Operation::PixIn).fee(Walk::amount())?;
    let payout_fee = account.fees.get(Operation::PixOut).fee(Walk::payout())?;
    let command = keys::create::CreateKey {
        email: AccountEmail::parse(EMAIL)?,
        name: Text::parse("demo", 200, LineBreaks::Refused)?,
        scopes: Scopes::all(),
        expires_in_days: Some(KEY_DAYS),
        allowed_addresses: Vec::new(),
    };
    let made = keys::create::create(&ports, &operator(), command).await?;
    let key = made.token.expose();
    screen.good(&format!("key  {key}  (all scopes, {KEY_DAYS} days)"))?;
    let client = Client { address, key: key.clone() };
    let receiver = Receiver::start().await?;
    let run = made.record.prefix.to_string();
    let clock = Arc::clone(&ports.clock);
    Walk { client, receiver, screen, clock, fee, payout_fee, run }.run().await?;
    screen.heading("The ledger")?;
    let report = cais_use_cases::ledger::verify(&ports).await?;
    anyhow::ensure!(report.differences.is_empty(), "the ledger does not add up: {:?}", report.differences);
    screen.good(&format!(
        "double entry: {} ledger accounts rebuilt from {} entries, no difference, the sum is zero",
        report.accounts, report.entries
    ))?;
    Ok(key)
}

/// Returns the operator that the audit log shows for changes by the demonstration.
fn operator() -> Actor {
    let own = || "demo".to_owned();
    Actor { name: own(), source: own(), host: own() }
}

/// Returns the demonstration's account, approved and with fees. The first run creates the account.
async fn account(ports: &Ports, screen: Screen) -> anyhow::Result<Account> {
    let email = AccountEmail::parse(EMAIL)?;
    let command = CreateAccount {
        email: email.clone(),
        name: Text::parse("Demo Coffee", 200, LineBreaks::Refused)?,
        document: Document::parse("11222333000181").context("the demonstration's CNPJ")?,
        approve: true,
    };
    let origin = match create::create(ports, &operator(), command).await {
        Ok(_) => "opened and approved",
        Err(CreateAccountError::Exists { .. }) => "from an earlier run",
        Err(error @ CreateAccountError::Store(_)) => return Err(error.into()),
    };
    approve::approve(ports, &operator(), &email).await?;
    let rule = FeeRule::try_new(Money::ZERO, Percentage::parse("0.99")?, None, None)?;
    fees::set(ports, &operator(), &email, Operation::PixIn, &rule).await?;
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::zero(), None, None)?;
    let account = fees::set(ports, &operator(), &email, Operation::PixOut, &rule).await?;
    features::set(ports, &operator(), &email, Features::parse("crypto_in,crypto_out")?, Features::default()).await?;
    screen.good(&format!("account {EMAIL}, {origin}; its fees are 0.99 % of each charge and 0.50 for each payout"))?;
    Ok(account)
}

fn print_next_steps(screen: Screen, address: SocketAddr, key: &str, data_dir: &Path) -> anyhow::Result<()> {
    screen.heading("The service keeps running. Next steps")?;
    print_line(&format!(
        r#"
  The API with all its fields:  http://{address}/docs

  export KEY={key}

  # Create a charge
  curl -s http://{address}/v1/charges -H "authorization: Bearer $KEY" -H "idempotency-key: $(date +%s%N)" \
       -H 'content-type: application/json' -d '{{"amount": 10.50, "description": "Lunch", "external_id": "lunch-1"}}'

  # Read it by its external_id
  curl -s http://{address}/v1/charges/ext:lunch-1 -H "authorization: Bearer $KEY"

  # Pay it at the sandbox
  curl -s -X POST http://{address}/v1/sandbox/charges/ext:lunch-1/pay -H "authorization: Bearer $KEY"

  # Send a payout; fail@sandbox.cais, slow@sandbox.cais and lost@sandbox.cais simulate failures
  curl -s http://{address}/v1/payouts -H "authorization: Bearer $KEY" -H "idempotency-key: $(date +%s%N)" \
       -H 'content-type: application/json' -d '{{"amount": 2, "pix_key": "bia@example.com"}}'

  # Receive bitcoin: the coins that arrive are credited in BRL
  curl -s http://{address}/v1/crypto/deposits -H "authorization: Bearer $KEY" -H "idempotency-key: $(date +%s%N)" \
       -H 'content-type: application/json' -d '{{"amount": 250, "currency": "btc", "external_id": "coins-1"}}'
  curl -s -X POST http://{address}/v1/sandbox/crypto/deposits/ext:coins-1/pay -H "authorization: Bearer $KEY"

  # The balance, the timeline, and the statement as a file
  curl -s http://{address}/v1/balance -H "authorization: Bearer $KEY"
  curl -s http://{address}/v1/transactions -H "authorization: Bearer $KEY"
  curl -s http://{address}/v1/balance/entries -H "authorization: Bearer $KEY" -H 'accept: text/csv'

  # Dispute the payment of lunch-1 (MED); the balance shows the blocked amount
  curl -s -X POST http://{address}/v1/sandbox/charges/ext:lunch-1/infraction -H "authorization: Bearer $KEY"

  # Forward every new event, signed, to an address of yours
  CAIS_API_KEY=$KEY cais listen --base-url http://{address} --forward-to http://127.0.0.1:3000/hooks

  Ctrl-C ends the service. `cais demo`, and `cais serve --sandbox` in the same data directory ({data_dir}),
  use the same account, key and money."#,
        data_dir = data_dir.display(),
    ))?;
    Ok(())
}
