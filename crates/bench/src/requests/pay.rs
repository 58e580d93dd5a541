//! Callers that pay charges in the sandbox. Each payment is answered after the charge is credited.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::Created;
use crate::CALLERS;
use crate::http::{Answer, Script, post};

/// The status of a paid charge in a body.
const PAID: &[u8] = br#""status":"paid""#;

/// Returns a request to pay a charge.
#[must_use]
pub fn request(charge: &Created) -> Vec<u8> {
    let path = format!("/v1/sandbox/charges/{}/pay", String::from_utf8_lossy(&charge.id));
    post(&path, &charge.key, "", "{}")
}

/// Checks that the answer shows a paid charge.
///
/// # Errors
/// The status and the body of any other answer.
pub fn check_answer(answer: Answer<'_>) -> Result<()> {
    ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
    let paid = answer.body.windows(PAID.len()).any(|window| window == PAID);
    ensure!(paid, "not paid: {}", String::from_utf8_lossy(answer.body));
    Ok(())
}

/// A caller that pays every 64th charge. After its last charge the caller pays the first of all again.
#[derive(Debug)]
pub struct Pay {
    charges: Arc<Vec<Created>>,
    next: usize,
    request: Vec<u8>,
}

/// Returns the callers of a load. Each caller begins with another charge.
#[must_use]
pub fn payers(charges: &Arc<Vec<Created>>) -> Vec<Pay> {
    (0..CALLERS).map(|next| Pay { charges: Arc::clone(charges), next, request: Vec::new() }).collect()
}

impl Script for Pay {
    fn request(&mut self) -> Result<&[u8]> {
        let charge = self.charges.get(self.next).or(self.charges.first()).context("no charges")?;
        self.request = request(charge);
        self.next = self.next.saturating_add(CALLERS);
        Ok(&self.request)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        check_answer(answer)
    }
}
