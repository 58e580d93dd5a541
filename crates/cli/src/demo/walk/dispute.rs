//! A dispute: the payer reports the Pix, money is blocked, the shop submits a defense and wins.

use anyhow::ensure;
use cais_domain::money::Money;

use super::{Walk, amount, text};
use crate::demo::client::Request;

/// The disputed amount. The available balance of a first run covers it.
const DISPUTED: Money = Money::from_centavos(800);

impl Walk {
    /// Runs a dispute of the charge from its start to its end.
    pub(super) async fn dispute(&self, charge: &str) -> anyhow::Result<()> {
        let (available, blocked) = self.parts().await?;
        self.screen.heading("The payer disputes the Pix at her bank (MED; here: at the built-in sandbox)")?;
        let body = format!(r#"{{"reason_code":"SCAM","amount":{DISPUTED}}}"#);
        let path = format!("/v1/sandbox/charges/{charge}/infraction");
        let opened = self.exchange(&post(path, body), 201).await?.json()?;
        let id = text(&opened, "/id")?;
        let (left, held) = self.parts().await?;
        ensure!(
            available.checked_sub(left)? == DISPUTED,
            "{available} was available; after a dispute of {DISPUTED}, {left} is available"
        );
        ensure!(
            held.checked_sub(blocked)? == DISPUTED,
            "{blocked} was blocked; after a dispute of {DISPUTED}, {held} is blocked"
        );
        self.screen.good(&format!("blocked in the same commit: {left} is available, {held} blocked"))?;

        self.screen.heading("The shop submits a defense and wins")?;
        let body = r#"{"defense_text":"Two coffees, handed over at the counter.","defense_evidence_url":"https://shop.example/receipts/7"}"#;
        self.becomes(post(format!("/v1/infractions/{id}/defense"), body.to_owned()), "under_review").await?;
        let body = r#"{"outcome":"won"}"#.to_owned();
        self.becomes(post(format!("/v1/sandbox/infractions/{id}/resolve"), body), "won").await?;
        ensure!(self.parts().await? == (available, blocked), "the balance differs from the balance before the dispute");
        for kind in ["infraction.opened", "infraction.won"] {
            self.webhook(kind, &id).await?;
        }
        self.screen
            .good(&format!("{DISPUTED} is available again; webhooks infraction.opened and infraction.won arrived"))?;
        Ok(())
    }

    /// Sends a request that returns the infraction, and shows only its status.
    async fn becomes(&self, request: Request, status: &str) -> anyhow::Result<()> {
        self.screen.request(&request)?;
        let response = self.client.send(&request).await?;
        if response.status != 200 {
            self.screen.response(&response)?;
        }
        let found = text(&response.json()?, "/status")?;
        ensure!(found == status, "the infraction is {found}, not {status}");
        self.screen.good(&format!("the infraction is {status}"))?;
        Ok(())
    }

    /// Returns the available and the blocked balance.
    async fn parts(&self) -> anyhow::Result<(Money, Money)> {
        let request = Request { method: "GET", path: "/v1/balance".to_owned(), idempotency_key: None, body: None };
        let balance = self.client.send(&request).await?.json()?;
        Ok((amount(&balance, "/available_balance")?, amount(&balance, "/blocked_balance")?))
    }
}

fn post(path: String, body: String) -> Request {
    Request { method: "POST", path, idempotency_key: None, body: Some(body) }
}
