//! Money in: a charge is created, requested a second time, shown and paid.

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::{AMOUNT, Walk, text};
use crate::demo::client::Request;
use crate::demo::qr;
use crate::demo::screen::Screen;

impl Walk {
    /// Runs the steps. Returns the id of the paid charge.
    pub(super) async fn sell(&self) -> anyhow::Result<String> {
        let charge = self.create().await?;
        let id = text(&charge, "/id")?;
        self.show_code(&charge)?;
        self.pay(&id).await?;
        self.screen.heading("The charge")?;
        let is_paid = |charge: &Value| text(charge, "/status").is_ok_and(|status| status == "paid");
        let paid = self.wait(&format!("/v1/charges/{id}"), is_paid).await?;
        ensure!(paid.pointer("/end_to_end_id").is_some_and(Value::is_string), "the paid charge has no end_to_end_id");
        Ok(id)
    }

    async fn create(&self) -> anyhow::Result<Value> {
        self.screen.heading("Create a Pix charge")?;
        // The body is written as text, because its fields are shown in this order.
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
        self.screen.heading("The network failed: the shop repeats the request with the same Idempotency-Key")?;
        self.screen.request(&Request { body: None, ..request.clone() })?;
        let again = self.client.send(&request).await?;
        ensure!(again.status == 201 && again.body == first.body, "the repeat was answered differently");
        ensure!(again.header("idempotent-replayed") == Some("true"), "the repeat was not recognized");
        self.screen.good("the same response byte for byte (idempotent-replayed: true), and no second charge")?;
        Ok(charge)
    }

    fn show_code(&self, charge: &Value) -> anyhow::Result<()> {
        self.screen.heading("The payer scans or copies the code")?;
        let code = text(charge, "/pix/copy_paste")?;
        ensure!(code.starts_with("000201"), "the text is not a Pix code");
        let drawn = qr::draw(&code, self.screen.colors).context("the Pix code does not fit into a QR code")?;
        crate::output::print_line(&drawn)?;
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
            bail!("the sandbox rejected the payment");
        }
        self.screen.good("the sandbox received a Pix and calls the service back")?;
        Ok(())
    }
}
