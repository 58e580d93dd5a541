//! The trial of an acquirer for `cais acquirer test`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use cais_acquirers::{BacenAcquirer, ContractReport, ContractStep, ContractTrial, EfiAcquirer};
use cais_cli::AcquirerTest;
use cais_config::{AcquirerKind, Config};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{Acquirer, Clock as _, IdGenerator as _, PayoutOrder, Secret, UpstreamProgress};
use serde_json::{Value, json};

use crate::clock::OffsetClock;
use crate::ids::UuidV7;
use crate::wiring;

/// The address of the test webhook. The institution registers it, and the address before is restored.
const WEBHOOK_URL: &str = "https://example.com/cais-contract-test";
/// The name of the payout's step.
const PAYOUT: &str = "payout";
/// The limit of one call of the payout.
const BUDGET: Duration = Duration::from_secs(15);

/// Runs the trial. Returns the report as JSON, and whether it is clean.
///
/// # Errors
/// The configuration, or an acquirer of another interface.
pub async fn run(config: &Config, name: &AcquirerName, test: &AcquirerTest) -> anyhow::Result<(Value, bool)> {
    let settings = config.acquirers.iter().find(|settings| settings.name == *name);
    let settings = settings.with_context(|| format!("the configuration has no acquirer {name}"))?;
    // A txid has the form of this service's own, and belongs to no charge.
    let clock = Arc::new(OffsetClock::new());
    let ids = UuidV7::new(clock.clone());
    let txid = Txid::parse(&ids.next_uuid().simple().to_string())?;
    let webhook_url = WEBHOOK_URL.to_owned();
    let trial = ContractTrial { txid, webhook_url, now: clock.now(), paid: test.paid.clone() };
    let mut report = match settings.kind {
        AcquirerKind::Bacen => {
            let mut report = BacenAcquirer::new(&wiring::bacen_config(settings)?)?.try_contract(&trial).await;
            report.steps.push(skipped("the kind `bacen` sends no payouts"));
            report
        }
        AcquirerKind::Efi => {
            let acquirer = wiring::efi(settings)?;
            let mut report = acquirer.standard().try_contract(&trial).await;
            report.steps.push(match &test.payout_to {
                Some(key) => payout(&acquirer, key, &ids).await?,
                None => skipped("no key was given"),
            });
            report
        }
        AcquirerKind::Woovi => bail!("the kind `woovi` does not serve the Central Bank's API Pix"),
    };
    mask_key(&mut report, settings.application_key.as_ref().map(Secret::expose));
    let is_clean = report.is_clean();
    let mut value = serde_json::to_value(&report)?;
    if let Value::Object(object) = &mut value {
        object.insert("acquirer".to_owned(), name.as_str().into());
        object.insert("kind".to_owned(), settings.kind.as_str().into());
        object.insert("profile".to_owned(), json!(settings.profile));
        object.insert("clean".to_owned(), is_clean.into());
    }
    Ok((value, is_clean))
}

fn skipped(reason: &str) -> ContractStep {
    step(None, None, Vec::new(), Some(reason.to_owned()))
}

fn step(
    request: Option<String>,
    answer: Option<Value>,
    divergences: Vec<String>,
    skipped: Option<String>,
) -> ContractStep {
    ContractStep { name: PAYOUT, request, request_body: None, status: None, answer, divergences, skipped }
}

/// Sends one centavo, and looks the payout up.
async fn payout(acquirer: &EfiAcquirer, key: &PixKey, ids: &UuidV7) -> anyhow::Result<ContractStep> {
    let order = PayoutOrder {
        instruction_id: InstructionId::parse(&ids.next_uuid().simple().to_string())?,
        amount: Money::from_centavos(1),
        pix_key: key.clone(),
        recipient_document: None,
        description: None,
    };
    let request = Some(format!("payout {} of 0.01", order.instruction_id));
    let mut divergences = Vec::new();
    if let Err(error) = acquirer.send_payout(&order, BUDGET).await {
        divergences.push(format!("the payout was not accepted: {error}"));
    }
    let answer = match acquirer.find_payout(&order.instruction_id, BUDGET).await {
        Ok(Some(found)) => {
            let progress = match found.progress {
                UpstreamProgress::Processing => "processing",
                UpstreamProgress::Done { .. } => "done",
                UpstreamProgress::Failed { .. } => {
                    divergences.push("the payout failed".to_owned());
                    "failed"
                }
            };
            Some(json!({ "progress": progress, "amount": found.amount.to_string() }))
        }
        Ok(None) => {
            divergences.push("the look-up does not find the payout".to_owned());
            None
        }
        Err(error) => {
            divergences.push(format!("the look-up fails: {error}"));
            None
        }
    };
    Ok(step(request, answer, divergences, None))
}

/// Replaces the key of the application in divergences, which may repeat a part of an answer.
fn mask_key(report: &mut ContractReport, key: Option<&str>) {
    let Some(key) = key else { return };
    for divergence in report.steps.iter_mut().flat_map(|step| &mut step.divergences) {
        *divergence = divergence.replace(key, "***");
    }
}
