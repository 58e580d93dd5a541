//! Disputes. Each endpoint and the webhooks show other fields and statuses, so each has its own view.

use serde_json::{Value, json};

use crate::{
    efi::infraction_views::{PAYER, situation},
    state::infraction::{Infraction, InfractionStatus},
    wire::instant,
};

/// The e-mail address and the telephone number of every payer.
const CONTACT: (&str, &str) = ("pagador@sandbox.cais", "+5511999999999");

/// Returns a dispute as `GET /dispute/{id}` shows one of the type `MED`: without amount and reason.
#[must_use]
pub fn one(infraction: &Infraction) -> Value {
    json!({
        "type": "MED",
        "status": status(infraction.status, "CREATED"),
        "endToEndId": infraction.end_to_end_id,
        "id": infraction.id,
    })
}

/// Returns a dispute as a row of `GET /dispute`.
#[must_use]
pub fn row(infraction: &Infraction) -> Value {
    let mut view = detailed(infraction, "IN_REVIEW");
    if let Some(fields) = view.as_object_mut() {
        fields.insert("type".to_owned(), "MED".into());
        fields.insert("createdAt".to_owned(), instant(infraction.created_at).into());
        fields.insert("updatedAt".to_owned(), instant(infraction.changed_at()).into());
    }
    view
}

/// Returns a dispute as webhooks show it; `open` is the status of an unresolved dispute.
#[must_use]
pub fn detailed(infraction: &Infraction, open: &'static str) -> Value {
    let (email, phone) = CONTACT;
    json!({
        "status": status(infraction.status, open),
        "endToEndId": infraction.end_to_end_id,
        "id": infraction.id,
        "name": PAYER.0,
        "email": email,
        "phoneNumber": phone,
        "value": infraction.amount.centavos(),
        "disputeReason": situation(infraction.situation),
    })
}

const fn status(status: InfractionStatus, open: &'static str) -> &'static str {
    match status {
        InfractionStatus::Open | InfractionStatus::Defended => open,
        InfractionStatus::Accepted => "ACCEPTED",
        InfractionStatus::Rejected => "REJECTED",
        InfractionStatus::Cancelled => "CANCELED",
    }
}
