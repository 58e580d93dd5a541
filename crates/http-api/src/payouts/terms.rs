//! The body of `POST /v1/payouts`, field by field.

use cais_domain::payout::MIN_AMOUNT;
use cais_domain::pix_key::{MAX_LENGTH, PixKey, PixKeyError, PixKeyType};
use cais_domain::text::LineBreaks;
use cais_strict_json::{Complaint, Fields, Issues, Node};
use cais_use_cases::payouts::create::NewPayout;

use crate::rules;

/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 140;
/// Longest document of the recipient as sent, in characters.
pub const MAX_RECIPIENT_DOCUMENT: usize = 20;

/// Reads the body. Problems are added to `issues`; `None` if the body is unusable.
#[must_use]
pub fn read(body: &Node<'_>, issues: &Issues) -> Option<NewPayout> {
    let mut fields = Fields::of(body, "", issues)?;
    let amount = fields.required("amount", |node| rules::money(node, MIN_AMOUNT));
    let kind = fields.optional("pix_key_type", key_type);
    let pix_key = fields.required("pix_key", |node| pix_key(node, kind));
    let recipient_document =
        fields.optional("recipient_document", |node| rules::document(node, MAX_RECIPIENT_DOCUMENT));
    let description = fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
    let external_id = fields.optional("external_id", rules::external_id);
    fields.finish();
    Some(NewPayout { amount: amount?, pix_key: pix_key?, recipient_document, description, external_id })
}

fn key_type(node: &Node<'_>) -> Result<PixKeyType, Complaint> {
    let known = PixKeyType::parse(rules::string(node)?);
    known.ok_or_else(|| format!("must be one of {}", PixKeyType::ALL.map(PixKeyType::as_str).join(", ")).into())
}

/// Reads a key of the given kind, or of the kind that its form implies.
fn pix_key(node: &Node<'_>, kind: Option<PixKeyType>) -> Result<PixKey, Complaint> {
    let text = rules::string(node)?;
    let key = if text.chars().nth(MAX_LENGTH).is_some() {
        Err(PixKeyError::TooLong)
    } else {
        kind.map_or_else(|| PixKey::parse(text), |kind| PixKey::parse_as(text, kind))
    };
    key.map_err(|error| error.to_string().into())
}

#[cfg(test)]
mod tests;
