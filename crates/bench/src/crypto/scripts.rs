//! Callers: merchants with quotes and deposits, and payers at the processor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};

use crate::http::{Answer, Script, Template, post};
use crate::numbers::count;

/// The largest number of requests of a caller.
const ROOM: u64 = 1_000_000;
const QUOTE: &str = r#"{"side":"deposit","currency":"btc","amount":250.00}"#;
const DEPOSIT: &str = r#"{"amount":100.00,"currency":"usdtbsc","external_id":"deposit-############"}"#;

/// A merchant with numbered requests, each answered with 201.
#[derive(Debug)]
pub struct Merchant {
    template: Template,
    next: u64,
}

/// Returns merchants that request quotes. The merchants use the keys in turn.
#[must_use]
pub fn quoters(keys: &[String], merchants: usize) -> Vec<Merchant> {
    of(keys, merchants, |key| post("/v1/crypto/quotes", key, "", QUOTE))
}

/// Returns merchants that create deposits. The merchants use the keys in turn.
#[must_use]
pub fn depositors(keys: &[String], merchants: usize) -> Vec<Merchant> {
    of(keys, merchants, |key| post("/v1/crypto/deposits", key, "deposit-############", DEPOSIT))
}

fn of(keys: &[String], merchants: usize, request: impl Fn(&str) -> Vec<u8>) -> Vec<Merchant> {
    let keys = keys.iter().cycle().take(merchants).enumerate();
    keys.map(|(number, key)| Merchant {
        template: Template::new(request(key)),
        next: count(number).saturating_mul(ROOM),
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

/// A payer. Each request pays the next payment record that no payer has paid yet.
#[derive(Debug)]
pub struct Payer {
    payments: Arc<Vec<String>>,
    next: Arc<AtomicUsize>,
    request: Vec<u8>,
}

/// Returns payers that together pay each payment record once.
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
