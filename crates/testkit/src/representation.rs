//! Resources as short JSON objects, for tests that ask what was stored and not how it looks.

use cais_domain::charge::Charge;
use cais_ports::Representation;
use serde_json::json;

/// A charge is `{"id", "external_id", "status", "amount"}`, the amount in text.
#[derive(Debug, Default, Clone, Copy)]
pub struct TextRepresentation;

impl Representation for TextRepresentation {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        let external_id = charge.terms.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": charge.id.to_string(),
            "external_id": external_id,
            "status": charge.state.status().as_str(),
            "amount": charge.terms.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }
}
