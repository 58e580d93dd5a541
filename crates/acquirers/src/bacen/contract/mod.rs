//! The contract trial: a test of whether an institution follows the API Pix 2.9.0. A trial has one step per operation. Each step has its
//! request, its answer and every divergence from the standard.

mod rules;
mod steps;

use std::fmt;

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use self::rules::MASK;
use super::BacenAcquirer;
use super::api::CallbackHeader;

/// The shortest secret that a report masks. The text of a shorter one, such as a branch number, may occur elsewhere by chance.
const MIN_SECRET_BYTES: usize = 8;

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContractReport {
    /// The steps, in order.
    pub steps: Vec<ContractStep>,
}

/// An operation of the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContractStep {
    /// The name of the operation.
    pub name: &'static str,
    /// The method and the path, or the payout that was sent; `None` for a skipped step.
    pub request: Option<String>,
    /// The body of the request.
    pub request_body: Option<Value>,
    /// The HTTP status of the answer; `None` without an answer, and for a payout.
    pub status: Option<u16>,
    /// The body of the answer; a text of at most 1,000 characters if it is not JSON. For a payout: its progress and amount.
    pub answer: Option<Value>,
    /// The divergences from the standard; empty for a step that passed.
    pub divergences: Vec<String>,
    /// The reason for which the step was skipped; `None` if it was not.
    pub skipped: Option<String>,
}

/// The input of a trial.
#[derive(Debug, Clone)]
pub struct ContractTrial {
    /// The txid of the test charge. No charge may have used it before.
    pub txid: Txid,
    /// The service's own callback address, if there is one. The test address is this address with a query.
    pub own_url: Option<String>,
    /// The present instant. Charges are listed from 15 minutes before it, received Pix from one day before it.
    pub now: Timestamp,
    /// A received Pix, of which the trial returns R$ 0.01; `None` skips the refund.
    pub paid: Option<EndToEndId>,
}

impl ContractReport {
    /// Returns `true` if no step has a divergence. A skipped step has none.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.steps.iter().all(|step| step.divergences.is_empty())
    }

    /// Masks a secret in the answers and divergences. An answer may repeat a part of its request. A secret of fewer than 8 bytes is not
    /// masked.
    pub fn mask(&mut self, secret: &str) {
        if secret.len() < MIN_SECRET_BYTES {
            return;
        }
        for step in &mut self.steps {
            step.divergences.iter_mut().for_each(|divergence| *divergence = divergence.replace(secret, MASK));
            step.answer.iter_mut().for_each(|answer| replace(answer, secret));
        }
    }
}

/// Masks a secret in all texts of a value, in every depth.
fn replace(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) => *text = text.replace(secret, MASK),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, secret)),
        Value::Object(fields) => fields.values_mut().for_each(|value| replace(value, secret)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl ContractStep {
    pub(crate) fn new(name: &'static str, request: String) -> Self {
        let request = Some(request);
        Self { name, request, request_body: None, status: None, answer: None, divergences: Vec::new(), skipped: None }
    }

    /// Returns a step that was skipped for a reason.
    #[must_use]
    pub fn skipped(name: &'static str, reason: &str) -> Self {
        let skipped = Some(reason.to_owned());
        Self { name, request: None, request_body: None, status: None, answer: None, divergences: Vec::new(), skipped }
    }

    pub(crate) fn diverge(&mut self, divergence: impl fmt::Display) {
        self.divergences.push(divergence.to_string());
    }
}

impl BacenAcquirer {
    /// Runs a trial with a charge of R$ 1.00. The last step cancels the charge.
    pub async fn try_contract(&self, trial: &ContractTrial) -> ContractReport {
        let mut report = self.try_contract_with(trial, None).await;
        self.mask_credentials(&mut report);
        report
    }

    /// Masks, in `report`, the credentials that our requests contained.
    pub(crate) fn mask_credentials(&self, report: &mut ContractReport) {
        self.api().credentials().iter().for_each(|secret| report.mask(secret));
    }

    /// Runs a trial, and does not mask the credentials in its report. `header` is the header that the institution requires for the
    /// registration of a callback address.
    pub(crate) async fn try_contract_with(
        &self,
        trial: &ContractTrial,
        header: Option<CallbackHeader>,
    ) -> ContractReport {
        ContractReport { steps: steps::run(self.api(), trial, header).await }
    }
}
