//! A crypto deposit: coins arrive, and BRL is credited.

use cais_domain::money::Money;
use serde_json::Value;

use super::{Walk, amount, text};
use crate::demo::client::Request;

/// The amount of the deposit, above the minimum of bitcoin.
const DEPOSIT: Money = Money::from_centavos(20_000);

impl Walk {
    /// Receives bitcoin and waits for the credit. Returns the credited amount.
    pub(super) async fn receive_coins(&self) -> anyhow::Result<Money> {
        self.screen.heading("A guest from abroad pays in bitcoin")?;
        let request = Request {
            method: "POST",
            path: "/v1/crypto/deposits".to_owned(),
            idempotency_key: Some(format!("demo-deposit-{}", self.run)),
            body: Some(format!(r#"{{"amount":{DEPOSIT},"currency":"btc","external_id":"deposit-{}"}}"#, self.run)),
        };
        let deposit = self.exchange(&request, 201).await?.json()?;
        let (id, coins) = (text(&deposit, "/id")?, text(&deposit, "/pay_amount")?);
        self.screen.good(&format!("{coins} btc are requested at a locked rate; the wallet reads pay_uri"))?;
        let path = format!("/v1/sandbox/crypto/deposits/{id}/pay");
        self.exchange(&Request { method: "POST", path, idempotency_key: None, body: None }, 200).await?;
        self.screen.heading("The deposit")?;
        let done = |deposit: &Value| text(deposit, "/status").is_ok_and(|status| status == "completed");
        let deposit = self.wait(&format!("/v1/crypto/deposits/{id}"), done).await?;
        let credited = amount(&deposit, "/net_amount")?;
        self.screen.good(&format!("{credited} is credited: the worth of the coins that arrived"))?;
        Ok(credited)
    }
}
