//! The body of `POST /v1/charges`, field by field.

use cais_domain::charge::{DEFAULT_EXPIRES_IN_S, MAX_EXPIRES_IN_S, MIN_AMOUNT, MIN_EXPIRES_IN_S};
use cais_domain::split::MAX_SHARES;
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Complaint, Fields, Issues, Node};
use cais_use_cases::charges::create::NewCharge;

use super::split;
use crate::rules;

/// Longest texts, in characters.
pub const MAX_DESCRIPTION: usize = 140;
/// See [`MAX_DESCRIPTION`].
pub const MAX_PAYER_NAME: usize = 200;
/// See [`MAX_DESCRIPTION`].
pub const MAX_PAYER_DOCUMENT: usize = 20;
/// See [`MAX_DESCRIPTION`].
pub const MAX_POSTBACK_URL: usize = 500;

/// The body of a request for a charge.
pub struct Asked {
    /// The charge.
    pub terms: NewCharge,
    /// `true` if `split_rule_id` was sent, which is not supported.
    pub split_rule: bool,
}

/// Reads the body. Problems are added to `issues`; `None` if the body is unusable.
#[must_use]
pub fn read(body: &Node<'_>, issues: &Issues) -> Option<Asked> {
    let mut fields = Fields::of(body, "", issues)?;
    let amount = fields.required("amount", |node| rules::money(node, MIN_AMOUNT));
    let description = fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
    let payer_name = fields.optional("payer_name", |node| rules::text(node, MAX_PAYER_NAME, LineBreaks::Refused));
    let payer_document =
        fields.optional("payer_document", |node| rules::text(node, MAX_PAYER_DOCUMENT, LineBreaks::Allowed));
    let expires_in_s = fields.optional("expires_in", expires_in);
    let external_id = fields.optional("external_id", rules::external_id);
    let postback_url = fields.optional("postback_url", |node| {
        // A text that is not a URL cannot be registered, and is rejected for that reason.
        rules::text(node, MAX_POSTBACK_URL, LineBreaks::Refused).map(Text::into_string)
    });
    let split = fields.optional("split", |node| rules::list(node, MAX_SHARES));
    let split = split.map(|items| split::read(items, issues)).unwrap_or_default();
    let split_rule = fields.take("split_rule_id").is_some();
    fields.finish();
    let terms = NewCharge {
        amount: amount?,
        description,
        payer_name,
        payer_document,
        expires_in_s: expires_in_s.unwrap_or(DEFAULT_EXPIRES_IN_S),
        external_id,
        postback_url,
        split,
    };
    Some(Asked { terms, split_rule })
}

fn expires_in(node: &Node<'_>) -> Result<u32, Complaint> {
    let bounds = i64::from(MIN_EXPIRES_IN_S)..=i64::from(MAX_EXPIRES_IN_S);
    let seconds = rules::integer(node, &bounds)?;
    u32::try_from(seconds).map_err(|error| error.to_string().into())
}

#[cfg(test)]
mod tests;
