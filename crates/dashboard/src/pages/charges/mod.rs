//! Charges: the page of a charge with its refunds, and the form of a new one.

mod confirm_refund;
pub(crate) mod facts;
pub(crate) mod json;
mod new;
mod pay;
mod refund;
pub(crate) mod shares;
mod show;
mod timeline;

pub(crate) use confirm_refund::{confirm_refund, send_refund};
pub(crate) use new::{form, submit};
pub(crate) use pay::pay;
pub(crate) use refund::refund;
pub(crate) use show::show;

use cais_domain::merchant::account::NotPermitted;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_ports::Fingerprint;

use crate::form::Form;
use crate::texts::charges::ChargesTexts;

/// The purpose of the keyed hash that identifies the content of a form.
const FINGERPRINT_PURPOSE: &str = "dashboard-request";
/// The form field that contains the idempotency key.
const KEY_FIELD: &str = "key";

/// Returns the idempotency key of a form.
fn key_of(form: &Form) -> Option<IdempotencyKey> {
    IdempotencyKey::parse(form.get(KEY_FIELD)).ok()
}

/// Returns the fingerprint of a form: a keyed hash of its path and of the values of `fields`.
fn fingerprint(form: &Form, path: &str, fields: &[&str]) -> Fingerprint {
    let values = fields.iter().map(|field| form.get(field));
    // The length before each value ensures that different values never form the same text.
    let lengths = [path].into_iter().chain(values).map(|value| (value.len(), value));
    let text = lengths.fold(String::new(), |text, (length, value)| text + &length.to_string() + ":" + value);
    let hash = form.context.dashboard.logins.ports.keyed_hash.hash(FINGERPRINT_PURPOSE, text.as_bytes());
    Fingerprint(hash.0)
}

const fn not_permitted(t: &ChargesTexts, reason: NotPermitted) -> &'static str {
    match reason {
        NotPermitted::Suspended => t.suspended,
        NotPermitted::KycNotApproved => t.kyc,
        NotPermitted::FeatureDisabled(_) => t.feature,
    }
}
