//! Callers that create charges, each with its own idempotency keys and external ids.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use crate::CALLERS;
use crate::http::{Answer, Script, Template, post};
use crate::numbers::count;

/// The text before a charge's id in a response body.
const START: &[u8] = br#"{"id":""#;
/// The largest number of callers of a round. Each round reserves the external ids of this many callers, so rounds use
/// different external ids.
const MOST_CALLERS: usize = 512;
/// The largest number of requests of a caller in one load. Each caller has this many external ids of its own.
const IDS_PER_CALLER: u64 = 100_000_000;
const BODY: &str = r#"{"amount":10.50,"description":"two coffees and a cake","payer_name":"Ana Souza","payer_document":"12345678909","expires_in":3600,"external_id":"order-############"}"#;

/// A created charge, with the key of its account.
#[derive(Debug, Clone)]
pub struct Created {
    /// The identifier, as bodies contain it.
    pub id: [u8; 30],
    /// The API key of the account.
    pub key: Arc<str>,
}

impl Created {
    /// Returns the charge's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/v1/charges/{}", String::from_utf8_lossy(&self.id))
    }

    /// Returns whether a response body shows this charge.
    #[must_use]
    pub fn is_in(&self, body: &[u8]) -> bool {
        body.strip_prefix(START).is_some_and(|rest| rest.starts_with(&self.id))
    }
}

/// A caller that creates charges.
#[derive(Debug)]
pub struct Create {
    template: Template,
    key: Arc<str>,
    next: u64,
    /// The created charges.
    pub created: Vec<Created>,
}

/// Returns the callers of a load. Caller `n` uses the key `n % keys.len()`. Loads of different rounds never use the
/// same external ids.
#[must_use]
pub fn creators(keys: &[String], round: u64) -> Vec<Create> {
    creators_of(keys, round, CALLERS)
}

/// Works like [`creators`], with the given number of callers, at most 512.
#[must_use]
pub fn creators_of(keys: &[String], round: u64, callers: usize) -> Vec<Create> {
    let keys: Vec<Arc<str>> = keys.iter().map(|key| Arc::from(key.as_str())).collect();
    let callers = keys.iter().cycle().take(callers).enumerate();
    callers
        .map(|(number, key)| {
            let caller = round.saturating_mul(count(MOST_CALLERS)).saturating_add(count(number));
            Create {
                template: Template::new(post("/v1/charges", key, "order-############", BODY)),
                key: Arc::clone(key),
                next: caller.saturating_mul(IDS_PER_CALLER),
                created: Vec::new(),
            }
        })
        .collect()
}

impl Script for Create {
    fn request(&mut self) -> Result<&[u8]> {
        self.next = self.next.saturating_add(1);
        self.template.with(self.next)
    }

    fn answer(&mut self, answer: Answer<'_>) -> Result<()> {
        ensure!(answer.status == 201, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        let id = answer.body.strip_prefix(START).and_then(|rest| rest.first_chunk()).context("no id in the answer")?;
        self.created.push(Created { id: *id, key: Arc::clone(&self.key) });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn created_charge_is_recognized_in_its_body() {
        let body = br#"{"id":"chg_01kb0000000000000000000000","txid":null}"#;
        let mut callers = creators(&["key_a_b".to_owned()], 0);
        let caller = callers.first_mut().map(|caller| {
            let answered = caller.answer(Answer { status: 201, body });
            (answered.is_ok(), caller.created.first().is_some_and(|created| created.is_in(body)))
        });
        assert_eq!((callers.len(), caller), (CALLERS, Some((true, true))));
    }

    #[test]
    fn callers_use_different_names() {
        let mut requests: Vec<Vec<u8>> = [0, 1]
            .into_iter()
            .flat_map(|round| creators(&["key_a_b".to_owned()], round))
            .filter_map(|mut caller| caller.request().map(<[u8]>::to_vec).ok())
            .collect();
        requests.sort();
        requests.dedup();
        assert_eq!(requests.len(), CALLERS * 2);
    }
}
