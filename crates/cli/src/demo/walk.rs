//! The steps of the demonstration: a paid charge, its webhook, a payout, a refund, a crypto deposit, a won dispute, and the statement.
//! Every step is checked.

mod charge;
mod crypto;
mod dispute;
mod money_out;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use cais_domain::money::Money;
use cais_ports::Clock;
use serde_json::Value;
use tokio::time::Instant;

use super::client::{Client, Request, Response};
use super::receiver::Receiver;
use super::screen::Screen;
use money_out::{PAYOUT, REFUND};

/// The amount of the demonstration's charge.
const AMOUNT: Money = Money::from_centavos(2_500);
/// Longest wait for an outcome or a webhook. The sandbox needs a few milliseconds for a payment, 0.2 s for a payout and 1 s for a refund.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two reads.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The state of a demonstration.
pub struct Walk {
    /// The client of the service.
    pub client: Client,
    /// The shop's receiver of webhooks.
    pub receiver: Receiver,
    /// The output.
    pub screen: Screen,
    /// The service's clock.
    pub clock: Arc<dyn Clock>,
    /// The account's fee for a charge of [`AMOUNT`].
    pub fee: Money,
    /// The account's fee for a payout of [`Walk::payout`].
    pub payout_fee: Money,
    /// A text that distinguishes the identifiers of this run from those of earlier runs.
    pub run: String,
}

impl Walk {
    /// Returns the amount of the charge.
    #[must_use]
    pub const fn amount() -> Money {
        AMOUNT
    }

    /// Returns the amount of the payout.
    #[must_use]
    pub const fn payout() -> Money {
        PAYOUT
    }

    /// Runs every step.
    ///
    /// # Errors
    /// The first step with an unexpected result.
    pub async fn run(&self) -> anyhow::Result<()> {
        let before = self.balance("Balance before the sale").await?;
        let endpoint = self.register().await?;
        let charge = self.sell().await?;
        self.check_payment_webhook(&endpoint, &charge).await?;
        let after = self.balance("Balance after the sale").await?;
        let credited = after.checked_sub(before)?;
        let expected = AMOUNT.checked_sub(self.fee)?;
        ensure!(credited == expected, "the balance grew by {credited} instead of {expected}");
        self.screen.good(&format!("{AMOUNT} paid, less a fee of {}: the balance grew by {credited}", self.fee))?;
        self.pay_out().await?;
        let paid_out = self.balance("Balance after the payout").await?;
        let gone = after.checked_sub(paid_out)?;
        let expected = PAYOUT.checked_add(self.payout_fee)?;
        ensure!(gone == expected, "the balance shrank by {gone}, not by {expected}");
        self.screen
            .good(&format!("{PAYOUT} paid out and a fee of {}: the balance shrank by {gone}", self.payout_fee))?;
        self.refund(&charge).await?;
        let refunded = self.balance("Balance after the refund").await?;
        let gone = paid_out.checked_sub(refunded)?;
        ensure!(gone == REFUND, "the balance shrank by {gone}, not by {REFUND}");
        self.screen.good(&format!(
            "{REFUND} refunded: the balance shrank by {gone}, and the fee of the charge is not returned"
        ))?;
        let coins = self.receive_coins().await?;
        let deposited = self.balance("Balance after the deposit").await?;
        let credited = deposited.checked_sub(refunded)?;
        ensure!(credited == coins, "the balance grew by {credited} instead of {coins}");
        self.dispute(&charge).await?;
        self.unregister(&endpoint).await?;
        self.statement(deposited).await
    }

    /// Prints the newest entries. Checks that the `balance_after` of the newest entry equals the argument `available`.
    async fn statement(&self, available: Money) -> anyhow::Result<()> {
        self.screen.heading("The statement: every centavo explained, newest first")?;
        let path = "/v1/balance/entries?bucket=available&limit=5".to_owned();
        let request = Request { method: "GET", path, idempotency_key: None, body: None };
        let page = self.exchange(&request, 200).await?.json()?;
        let ends = amount(&page, "/data/0/balance_after")?;
        ensure!(ends == available, "the statement ends at {ends}, the balance is {available}");
        self.screen.good("the balance after the newest entry is the available balance")?;
        Ok(())
    }

    /// Reads a resource until `is_done` accepts it, and then prints the last request and its response.
    async fn wait(&self, path: &str, is_done: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let request = Request { method: "GET", path: path.to_owned(), idempotency_key: None, body: None };
        let deadline = Instant::now() + OUTCOME_TIMEOUT;
        loop {
            let response = self.client.send(&request).await?;
            let seen = response.json()?;
            if is_done(&seen) {
                self.screen.request(&request)?;
                self.screen.response(&response)?;
                return Ok(seen);
            }
            ensure!(Instant::now() < deadline, "{path} was not as expected within {} s", OUTCOME_TIMEOUT.as_secs());
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn balance(&self, heading: &str) -> anyhow::Result<Money> {
        self.screen.heading(heading)?;
        let request = Request { method: "GET", path: "/v1/balance".to_owned(), idempotency_key: None, body: None };
        let balance = self.exchange(&request, 200).await?.json()?;
        amount(&balance, "/available_balance")
    }

    async fn exchange(&self, request: &Request, expected: u16) -> anyhow::Result<Response> {
        self.screen.request(request)?;
        let response = self.client.send(request).await?;
        self.screen.response(&response)?;
        ensure!(
            response.status == expected,
            "{} {} answered {}, not {expected}",
            request.method,
            request.path,
            response.status
        );
        Ok(response)
    }
}

fn text(value: &Value, pointer: &str) -> anyhow::Result<String> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .map(ToOwned::to_owned)
        .with_context(|| format!("the answer has no text at {pointer}"))
}

fn amount(value: &Value, pointer: &str) -> anyhow::Result<Money> {
    let number = value.pointer(pointer).and_then(Value::as_number);
    let number = number.with_context(|| format!("the answer has no amount at {pointer}"))?;
    Ok(Money::parse(&number.to_string())?)
}
