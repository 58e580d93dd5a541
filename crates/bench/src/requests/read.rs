//! Callers that read charges in turn, with pre-rendered requests.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::Created;
use crate::CALLERS;
use crate::http::{Answer, Script, get};

/// A caller that reads all charges in turn, again and again. Each caller begins at another charge.
#[derive(Debug, Clone)]
pub struct Read {
    requests: Arc<Vec<(Vec<u8>, Created)>>,
    at: usize,
}

/// Returns the callers of a load. Each caller begins at another charge.
#[must_use]
pub fn readers(charges: &[Created]) -> Vec<Read> {
    let requests = charges.iter().map(|charge| (get(&charge.path(), &charge.key), charge.clone()));
    let requests: Arc<Vec<_>> = Arc::new(requests.collect());
    let distance = charges.len().div_ceil(CALLERS);
    (0..CALLERS).map(|number| Read { requests: Arc::clone(&requests), at: number.saturating_mul(distance) }).collect()
}

impl Script for Read {
    fn request(&mut self) -> Result<&[u8]> {
        self.at = self.at.saturating_add(1);
        if self.at >= self.requests.len() {
            self.at = 0;
        }
        self.requests.get(self.at).map(|(request, _)| request.as_slice()).context("no charges")
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        let expected = self.requests.get(self.at).is_some_and(|(_, charge)| charge.is_in(answer.body));
        ensure!(answer.status == 200 && expected, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(())
    }
}
