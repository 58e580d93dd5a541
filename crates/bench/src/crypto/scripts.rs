//! Callers: merchants that request quotes or create deposits, and payers that pay the deposits at the sandbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};

use crate::http::{Answer, Script, Template, post};
use crate::numbers::count;

/// The largest number of requests of a merchant. Each merchant has this many external ids of its own.
const IDS_PER_MERCHANT: u64 = 1_000_000;
const QUOTE: &str = r#"{"side":"deposit","currency":"btc","amount":250.00}"#;
const DEPOSIT: &str = r#"{"amount":100.00,"currency":"usdtbsc","external_id":"deposit-############"}"#;

/// A merchant that sends numbered requests, and expects the status 201 for each.
#[derive(Debug)]
pub struct Merchant {
    template: Template,
    next: u64,
}

/// Returns merchants that request quotes. Merchant `n` uses the key `n % keys.len()`.
#[must_use]
pub fn quoters(keys: &[String], merchants: usize) -> Vec<Merchant> {
    merchants_sending(keys, merchants, |key| post("/v1/crypto/quotes", key, "", QUOTE))
}

/// Returns merchants that create deposits. Merchant `n` uses the key `n % keys.len()`.
#[must_use]
pub fn depositors(keys: &[String], merchants: usize) -> Vec<Merchant> {
    merchants_sending(keys, merchants, |key| post("/v1/crypto/deposits", key, "deposit-############", DEPOSIT))
}

fn merchants_sending(keys: &[String], merchants: usize, request: impl Fn(&str) -> Vec<u8>) -> Vec<Merchant> {
    let keys = keys.iter().cycle().take(merchants).enumerate();
    keys.map(|(number, key)| Merchant {
        template: Template::new(request(key)),
        next: count(number).saturating_mul(IDS_PER_MERCHANT),
    })
    .collect()
}

impl Script for Merchant {
    fn request(&mut self) -> Result<&[u8]> {
        self.next = self.next.saturating_add(1);
        self.template.with(self.next)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        ensure!(answer.status == 201, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(())
    }
}

/// A payer. Each request pays the first of the processor's payments that no payer has requested yet.
#[derive(Debug)]
pub struct Payer {
    payments: Arc<Vec<String>>,
    next: Arc<AtomicUsize>,
    request: Vec<u8>,
}

/// Returns payers that together pay each of the processor's payments once.
#[must_use]
pub fn payers(payments: &Arc<Vec<String>>, payers: usize) -> Vec<Payer> {
    let next = Arc::new(AtomicUsize::new(0));
    let payer = |_| Payer { payments: Arc::clone(payments), next: Arc::clone(&next), request: Vec::new() };
    (0..payers).map(payer).collect()
}

impl Script for Payer {
    fn request(&mut self) -> Result<&[u8]> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let payment = self.payments.get(next).context("no unpaid payment is left")?;
        self.request = post(&format!("/sandbox/payment/{payment}/pay"), "", "", "{}");
        Ok(&self.request)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(())
    }
}
