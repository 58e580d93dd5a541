//! Tries the API Pix of an acquirer step by step, for `cais acquirer test`.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use cais_acquirers::{BacenAcquirer, ContractStep, ContractTrial};
use cais_cli::AcquirerTest;
use cais_config::{AcquirerKind, Config, Pairs};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{Clock as _, IdGenerator as _, PayoutOrder, Secret};
use cais_secrets::{HmacSha256, UuidV7, callback_token};
use serde_json::{Value, json};

use crate::clock::OffsetClock;
use crate::{callbacks, wiring};

/// Runs the trial. Returns the report as JSON, and `true` if no answer diverges from the Central Bank's standard.
///
/// # Errors
/// The configuration is invalid, or the acquirer does not serve the API Pix.
pub async fn run(config: &Config, name: &AcquirerName, test: &AcquirerTest) -> anyhow::Result<(Value, bool)> {
    let settings = config.acquirers.iter().find(|settings| settings.name == *name);
    let settings = settings.with_context(|| format!("the configuration has no acquirer {name}"))?;
    let clock = Arc::new(OffsetClock::new());
    let ids = UuidV7::new(clock.clone());
    let fresh = || ids.next_uuid().simple().to_string();
    // The txid has the format of this service's txids, but the store has no charge with it.
    let txid = Txid::parse(&fresh())?;
    let token = config.find_master_key()?.map(|key| {
        let generation = settings.callback_generation;
        callback_token(&HmacSha256::new(&key), name, generation)
    });
    let own_url = config.public_url.as_deref().zip(token.as_deref());
    let own_url = own_url.map(|(base, token)| callbacks::url(base, name, token));
    let trial = ContractTrial { txid, own_url, now: clock.now(), paid: test.paid.clone() };
    let mut report = match settings.kind {
        AcquirerKind::Bacen => {
            let mut report = BacenAcquirer::new(&wiring::bacen_config(settings)?)?.try_contract(&trial).await;
            report.steps.push(ContractStep::skipped("payout", "the kind `bacen` sends no payouts"));
            report
        }
        AcquirerKind::Efi => {
            let instruction_id = InstructionId::parse(&fresh())?;
            let amount = Money::from_centavos(1);
            let payout = test.payout_to.clone().map(|pix_key| PayoutOrder {
                instruction_id,
                amount,
                pix_key,
                recipient_document: None,
                description: None,
            });
            wiring::efi(settings)?.try_contract(&trial, payout.as_ref()).await
        }
        AcquirerKind::Woovi => bail!("the kind `woovi` does not serve the Central Bank's API Pix"),
    };
    let secrets = [&settings.application_key, &settings.client_secret].into_iter().flatten().map(Secret::expose);
    let headers = settings.extra_headers.iter().flat_map(|Pairs(pairs)| pairs).map(|(_, value)| value.as_str());
    secrets.chain(headers).chain(token.as_deref()).for_each(|secret| report.mask(secret));
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
