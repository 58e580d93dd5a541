//! The walk: a charge is created, shown, paid and credited, and every step is checked.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use cais_domain::money::Money;
use serde_json::Value;
use tokio::time::Instant;

use super::client::{Client, Request, Response};
use super::qr;
use super::screen::Screen;

/// What the demonstration sells for.
const AMOUNT: Money = Money::from_centavos(2_500);
/// Longest wait until a payment at the sandbox is credited; it takes a few milliseconds.
const PAID_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two looks at the charge.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Who walks.
#[derive(Debug)]
pub struct Walk {
    /// Talks to the service.
    pub client: Client,
    /// Shows it.
    pub screen: Screen,
    /// What the account pays for a charge of [`AMOUNT`].
    pub fee: Money,
    /// Makes this run's names differ from those of the runs before.
    pub run: String,
}

impl Walk {
    /// The amount of the charge.
    #[must_use]
    pub const fn amount() -> Money {
        AMOUNT
    }

    /// Takes every step.
    ///
    /// # Errors
    /// The first step that is not as expected.
    pub async fn take(&self) -> anyhow::Result<()> {
        let before = self.balance("What the account has before").await?;
        let charge = self.create().await?;
        let id = text(&charge, "/id")?;
        self.show_code(&charge)?;
        self.pay(&id).await?;
        self.wait_until_paid(&id).await?;
        let after = self.balance("What the account has after").await?;
        let credited = after.checked_sub(before)?;
        let expected = AMOUNT.checked_sub(self.fee)?;
        ensure!(credited == expected, "the balance grew by {credited}, not by {expected}");
        self.screen.good(&format!("{AMOUNT} paid, less a fee of {}, is {credited} more than before", self.fee))?;
        Ok(())
    }

    async fn create(&self) -> anyhow::Result<Value> {
        self.screen.heading("Create a Pix charge")?;
        // Written out, because it is shown in this order.
        let body = format!(
            r#"{{"amount":{AMOUNT},"description":"Two coffees","expires_in":3600,"external_id":"order-{}"}}"#,
            self.run
        );
        let request = Request {
            method: "POST",
            path: "/v1/charges".to_owned(),
            idempotency_key: Some(format!("demo-{}", self.run)),
            body: Some(body),
        };
        let first = self.exchange(&request, 201).await?;
        let charge = first.json()?;
        ensure!(text(&charge, "/status")? == "pending", "the charge is not pending");
        self.screen.heading("The network failed and the shop asks again, with the same Idempotency-Key")?;
        self.screen.request(&Request { body: None, ..request.clone() })?;
        let again = self.client.send(&request).await?;
        ensure!(again.status == 201 && again.body == first.body, "the repeat was answered differently");
        ensure!(again.header("idempotent-replayed") == Some("true"), "the repeat was not recognised");
        self.screen.good("the same answer byte for byte (idempotent-replayed: true), and no second charge")?;
        Ok(charge)
    }

    fn show_code(&self, charge: &Value) -> anyhow::Result<()> {
        self.screen.heading("What the payer scans, or copies and pastes")?;
        let code = text(charge, "/pix/copy_paste")?;
        ensure!(code.starts_with("000201"), "the Pix code is not one");
        let drawn = qr::draw(&code, self.screen.colours).context("the Pix code does not fit into a QR code")?;
        crate::cli::output::say(&drawn)?;
        Screen::line(&code)?;
        Ok(())
    }

    async fn pay(&self, id: &str) -> anyhow::Result<()> {
        self.screen.heading("The payer pays (here: at the built-in sandbox)")?;
        let request = Request {
            method: "POST",
            path: format!("/v1/sandbox/charges/{id}/pay"),
            idempotency_key: None,
            body: None,
        };
        self.screen.request(&request)?;
        let response = self.client.send(&request).await?;
        if response.status != 200 {
            self.screen.response(&response)?;
            bail!("the sandbox did not take the payment");
        }
        self.screen.good("the sandbox received a Pix and calls the service back")?;
        Ok(())
    }

    async fn wait_until_paid(&self, id: &str) -> anyhow::Result<()> {
        self.screen.heading("The charge")?;
        let request = Request { method: "GET", path: format!("/v1/charges/{id}"), idempotency_key: None, body: None };
        let deadline = Instant::now() + PAID_WITHIN;
        loop {
            let response = self.client.send(&request).await?;
            let charge = response.json()?;
            if text(&charge, "/status")? == "paid" {
                self.screen.request(&request)?;
                self.screen.response(&response)?;
                ensure!(
                    charge.pointer("/end_to_end_id").is_some_and(Value::is_string),
                    "a paid charge has an end_to_end_id"
                );
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the charge was not paid within {} s", PAID_WITHIN.as_secs());
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn balance(&self, heading: &str) -> anyhow::Result<Money> {
        self.screen.heading(heading)?;
        let request = Request { method: "GET", path: "/v1/balance".to_owned(), idempotency_key: None, body: None };
        let balance = self.exchange(&request, 200).await?.json()?;
        let available = balance
            .pointer("/available_balance")
            .and_then(Value::as_number)
            .context("the balance has no available_balance")?;
        Ok(Money::parse(&available.to_string())?)
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
