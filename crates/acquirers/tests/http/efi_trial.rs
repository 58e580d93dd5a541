//! Tests the trial of Efí against the sandbox: the steps of the standard, and a payout.

use cais_acquirers::{ContractReport, ContractTrial, EfiAcquirer};
use cais_domain::txid::Txid;
use cais_ports::{Acquirer as _, PayoutOrder};
use cais_sandbox::{Sandbox, SandboxConfig};
use jiff::Timestamp;

use crate::answers::{BUDGET, payout_order, sandbox_config};

async fn run(payout: Option<&PayoutOrder>) -> ContractReport {
    let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
    let txid = Txid::parse(&"d".repeat(32)).unwrap();
    let trial = ContractTrial { txid, own_url: None, now: Timestamp::UNIX_EPOCH, paid: None };
    let efi = EfiAcquirer::new(&sandbox_config(&sandbox.credentials())).unwrap();
    // Efí sends payouts only for a key with a callback address, which the trial restores.
    efi.register_callback("https://shop.example/before", BUDGET).await.unwrap();
    efi.try_contract(&trial, payout).await
}

#[tokio::test]
async fn trial_of_efi_sends_the_payout_and_looks_it_up() {
    let order = payout_order();
    let report = run(Some(&order)).await;
    let step = report.steps.last().unwrap();
    assert_eq!((step.name, &step.divergences, &step.skipped), ("payout", &Vec::new(), &None));
    assert_eq!(step.request, Some(format!("payout {} of {}", order.instruction_id, order.amount)));
    assert_eq!(step.answer.as_ref().unwrap()["amount"], order.amount.to_string());
}

#[tokio::test]
async fn trial_of_efi_without_a_key_skips_the_payout() {
    let mut report = run(None).await;
    let step = report.steps.last_mut().unwrap();
    assert_eq!((step.name, step.skipped.as_deref()), ("payout", Some("no Pix key of a recipient was given")));
    step.divergences.push("the answer repeats hush-123 and hush-123".to_owned());
    step.answer = Some(serde_json::json!({"headers": ["x: hush-123", 1]}));
    report.mask("hush-123");
    let step = report.steps.last().unwrap();
    assert_eq!(step.divergences, ["the answer repeats *** and ***"]);
    assert_eq!(step.answer, Some(serde_json::json!({"headers": ["x: ***", 1]})));
}
