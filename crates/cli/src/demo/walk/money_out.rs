//! Money out and back: a payout is sent, a part of the charge refunded.

use anyhow::ensure;
use cais_domain::money::Money;
use serde_json::Value;

use super::{Walk, text};
use crate::demo::client::Request;

/// The amount of the payout.
pub(super) const PAYOUT: Money = Money::from_centavos(1_000);
/// The amount of the refund.
pub(super) const REFUND: Money = Money::from_centavos(500);

impl Walk {
    /// Sends a payout and waits for its completion.
    pub(super) async fn pay_out(&self) -> anyhow::Result<()> {
        self.screen.heading("Pay the supplier by her Pix key")?;
        let body = format!(
            r#"{{"amount":{PAYOUT},"pix_key":"ana@example.com","description":"Coffee beans","external_id":"payout-{}"}}"#,
            self.run
        );
        let request = Request {
            method: "POST",
            path: "/v1/payouts".to_owned(),
            idempotency_key: Some(format!("demo-payout-{}", self.run)),
            body: Some(body),
        };
        let payout = self.exchange(&request, 201).await?.json()?;
        ensure!(text(&payout, "/status")? != "failed", "the payout failed");
        let id = text(&payout, "/id")?;
        self.screen
            .good(&format!("{PAYOUT} and a fee of {} were held before the request to the bank", self.payout_fee))?;
        self.balance("The balance during the payout: it does not contain the held money").await?;
        self.screen.heading("The payout")?;
        let done = |payout: &Value| text(payout, "/status").is_ok_and(|status| status == "completed");
        let payout = self.wait(&format!("/v1/payouts/{id}"), done).await?;
        let name = text(&payout, "/pix/recipient_name")?;
        self.screen.good(&format!("the payout arrived; its key belongs to {name}"))?;
        Ok(())
    }

    /// Refunds a part of the charge and waits until the refund is completed.
    pub(super) async fn refund(&self, charge: &str) -> anyhow::Result<()> {
        self.screen.heading("One coffee was cold: a part of the charge is refunded")?;
        let request = Request {
            method: "POST",
            path: format!("/v1/charges/{charge}/refunds"),
            idempotency_key: Some(format!("demo-refund-{}", self.run)),
            body: Some(format!(r#"{{"amount":{REFUND},"reason":"It was cold"}}"#)),
        };
        let refund = self.exchange(&request, 201).await?.json()?;
        ensure!(text(&refund, "/status")? != "failed", "the refund failed");
        self.screen.heading("The refunds of the charge")?;
        let done = |page: &Value| text(page, "/data/0/status").is_ok_and(|status| status == "completed");
        self.wait(&request.path, done).await?;
        self.screen.good(&format!("{REFUND} is back with the payer, as a return (devolução) of the same Pix"))?;
        Ok(())
    }
}
