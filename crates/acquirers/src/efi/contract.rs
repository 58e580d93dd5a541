//! The contract trial with Efí: the steps of the standard, and a payout.

use std::time::Duration;

use cais_ports::{Acquirer as _, PayoutOrder, UpstreamProgress};
use serde_json::json;

use super::EfiAcquirer;
use crate::bacen::contract::{ContractReport, ContractStep, ContractTrial};

/// The name of the payout's step.
const PAYOUT: &str = "payout";
/// The time limit of one call.
const BUDGET: Duration = Duration::from_secs(15);

impl EfiAcquirer {
    /// Runs the trial of the standard, and sends the payout if there is one. The registration of the test address has the same extra header
    /// as that of the real callback address.
    pub async fn try_contract(&self, trial: &ContractTrial, payout: Option<&PayoutOrder>) -> ContractReport {
        let mut report = self.bacen.try_contract_with(trial, self.callback_header()).await;
        report.steps.push(match payout {
            Some(order) => self.try_payout(order).await,
            None => ContractStep::skipped(PAYOUT, "no Pix key of a recipient was given"),
        });
        self.bacen.mask_credentials(&mut report);
        report
    }

    /// Sends the payout, and looks it up.
    async fn try_payout(&self, order: &PayoutOrder) -> ContractStep {
        let mut step = ContractStep::new(PAYOUT, format!("payout {} of {}", order.instruction_id, order.amount));
        if let Err(error) = self.send_payout(order, BUDGET).await {
            step.diverge(format_args!("the payout was not accepted: {error}"));
        }
        match self.find_payout(&order.instruction_id, BUDGET).await {
            Ok(Some(found)) => {
                let progress = match found.progress {
                    UpstreamProgress::Processing => "processing",
                    UpstreamProgress::Done { .. } => "done",
                    UpstreamProgress::Failed { .. } => {
                        step.diverge("the payout failed");
                        "failed"
                    }
                };
                step.answer = Some(json!({ "progress": progress, "amount": found.amount.to_string() }));
            }
            Ok(None) => step.diverge("the look-up does not find the payout"),
            Err(error) => step.diverge(format_args!("the look-up fails: {error}")),
        }
        step
    }
}
