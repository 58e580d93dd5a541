//! Callers: payers that pay charges at the institution, and merchants that send payouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use cais_domain::ids::ChargeId;
use cais_domain::txid::Txid;
use tokio::time::{Instant, sleep_until};

use crate::http::{Answer, Connection, Script, Template, post};
use crate::numbers::count;
use crate::requests::Created;

/// Returns a request to the institution's control interface that pays a charge.
///
/// # Errors
/// If the charge's id is invalid.
fn payment(charge: &Created) -> Result<Vec<u8>> {
    let id = ChargeId::parse(&String::from_utf8_lossy(&charge.id))?;
    Ok(post(&format!("/sandbox/cob/{}/pay", Txid::of_charge(id)), "", "", "{}"))
}

/// A payer. Each request pays the next charge of a list that all payers share.
#[derive(Debug)]
pub struct Payer {
    charges: Arc<Vec<Created>>,
    next: Arc<AtomicUsize>,
    request: Vec<u8>,
}

/// Returns payers that together pay each charge once.
#[must_use]
pub fn payers(charges: &Arc<Vec<Created>>, payers: usize) -> Vec<Payer> {
    let next = Arc::new(AtomicUsize::new(0));
    let payer = |_| Payer { charges: Arc::clone(charges), next: Arc::clone(&next), request: Vec::new() };
    (0..payers).map(payer).collect()
}

impl Script for Payer {
    fn request(&mut self) -> Result<&[u8]> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.request = payment(self.charges.get(next).context("no unpaid charge is left")?)?;
        Ok(&self.request)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(())
    }
}

/// Pays the charges one after another at the given rate.
///
/// # Errors
/// If the institution refuses a payment.
pub async fn pay_at(address: std::net::SocketAddr, charges: &[Created], per_second: u32) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    let began = Instant::now();
    let pause = Duration::from_secs(1) / per_second;
    for (number, charge) in charges.iter().enumerate() {
        sleep_until(began + pause.saturating_mul(u32::try_from(number)?)).await;
        let answer = connection.ask(&payment(charge)?).await?;
        ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
    }
    Ok(())
}

/// A merchant that sends payouts.
#[derive(Debug)]
pub struct PayOut {
    template: Template,
    next: u64,
}

/// Returns merchants that send payouts. Merchant `n` uses the key `n % keys.len()`.
#[must_use]
pub fn merchants(keys: &[String], merchants: usize) -> Vec<PayOut> {
    const BODY: &str = r#"{"amount":1.00,"pix_key":"ana@example.com","external_id":"out-############"}"#;
    // The largest number of requests of a merchant. Each merchant has this many external ids of its own.
    const IDS_PER_MERCHANT: u64 = 1_000_000;
    let merchant = |(number, key): (usize, &String)| {
        let template = Template::new(post("/v1/payouts", key, "out-############", BODY));
        PayOut { template, next: count(number).saturating_mul(IDS_PER_MERCHANT) }
    };
    keys.iter().cycle().take(merchants).enumerate().map(merchant).collect()
}

impl Script for PayOut {
    fn request(&mut self) -> Result<&[u8]> {
        self.next = self.next.saturating_add(1);
        self.template.with(self.next)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        ensure!(answer.status == 201, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(())
    }
}
