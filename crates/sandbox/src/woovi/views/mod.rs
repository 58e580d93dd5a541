//! The JSON forms of charges, Pix, returns, payments and disputes in Woovi's answers and webhooks.

pub mod charge;
pub mod dispute;
pub mod payment;
pub mod pix;

use cais_domain::document::Document;
use serde_json::{Value, json};

use super::ids;
use crate::{
    efi::infraction_views::{OWN_DOCUMENT, PAYER},
    psp::Psp,
    state::cob::Debtor,
};

/// Returns a tax number with its type, CPF or CNPJ.
#[must_use]
pub fn tax_id(document: &str) -> Value {
    let kind = match Document::parse(document) {
        Ok(Document::Cnpj(_)) => "BR:CNPJ",
        Ok(Document::Cpf(_)) | Err(_) => "BR:CPF",
    };
    json!({ "taxID": document, "type": kind })
}

/// Returns the payer of a Pix: the charge's debtor, or the sandbox's default payer if the charge has none.
#[must_use]
pub fn payer(debtor: Option<&Debtor>) -> Value {
    let debtor = debtor.and_then(|debtor| Some((&*debtor.nome, debtor.cpf.as_deref().or(debtor.cnpj.as_deref())?)));
    let (name, document) = debtor.unwrap_or(PAYER);
    json!({ "name": name, "taxID": tax_id(document) })
}

/// Returns the id of the only account, derived from its Pix key.
#[must_use]
pub fn account_id(psp: &Psp) -> String {
    psp.identity.pix_key.chars().filter(|c| *c != '-').take(24).collect()
}

/// Returns the fields `company` and `account` of webhook bodies.
#[must_use]
pub fn owner(psp: &Psp) -> (Value, Value) {
    let id = account_id(psp);
    let company = json!({ "id": id, "name": psp.merchant.0, "taxID": OWN_DOCUMENT });
    (company, json!({ "accountId": id, "environment": "TESTING" }))
}

/// Returns the `globalID` of a transaction, from the end-to-end id of a Pix or the `rtrId` of a return.
#[must_use]
pub fn transaction_id(end_to_end_id: &str) -> String {
    ids::global("PixTransaction", end_to_end_id)
}
