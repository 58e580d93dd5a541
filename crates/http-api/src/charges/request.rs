//! The body of `POST /v1/charges`, field by field.

use cais_domain::charge::{DEFAULT_EXPIRES_IN_S, MAX_EXPIRES_IN_S, MIN_AMOUNT, MIN_EXPIRES_IN_S, Origin};
use cais_domain::external_id::ExternalId;
use cais_domain::split::MAX_SHARES;
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::charges::create::{self, RequestedShare};
pub use cais_use_cases::charges::create::{MAX_DESCRIPTION, MAX_PAYER_DOCUMENT, MAX_PAYER_NAME};
use utoipa::ToSchema;

use super::split::{self, SplitItem};
use crate::input::JsonBody;
use crate::resources::values::AmountFrom;
use crate::rules;

/// The longest postback URL, in characters.
pub const MAX_POSTBACK_URL: usize = 500;

/// The amount of a charge: at least R$ 2.00.
pub type ChargeAmount = AmountFrom<{ MIN_AMOUNT.centavos() }>;

/// The fields of a new charge.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCharge {
    /// BRL, at most two decimals.
    #[schema(inline)]
    pub amount: ChargeAmount,
    /// Shown to the payer.
    #[schema(value_type = Option<String>, max_length = 140)]
    pub description: Option<Text>,
    /// The payer's name.
    #[schema(value_type = Option<String>, max_length = 200)]
    pub payer_name: Option<Text>,
    /// The payer's document.
    #[schema(value_type = Option<String>, max_length = 20)]
    pub payer_document: Option<Text>,
    /// Seconds until the charge expires; 3600 when absent.
    #[schema(minimum = 60, maximum = 86400)]
    pub expires_in: Option<u32>,
    /// The caller's own order identifier, unique within the account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120)]
    pub external_id: Option<ExternalId>,
    /// The URL of an active webhook endpoint of the account, which receives the events of this charge.
    #[schema(format = "uri", max_length = 500)]
    pub postback_url: Option<String>,
    /// Other accounts that receive a part of the net value. Their percentages sum to at most 100.
    #[schema(value_type = Option<Vec<SplitItem>>, max_items = 5)]
    pub split: Vec<SplitItem>,
    /// `true` if `split_rule_id` was sent, which is not supported.
    #[schema(ignore)]
    pub split_rule: bool,
}

impl JsonBody for NewCharge {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.required("amount", AmountFrom::read);
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        let payer_name = fields.optional("payer_name", |node| rules::text(node, MAX_PAYER_NAME, LineBreaks::Refused));
        let payer_document =
            fields.optional("payer_document", |node| rules::text(node, MAX_PAYER_DOCUMENT, LineBreaks::Allowed));
        let expires_in = fields.optional("expires_in", expires_in);
        let external_id = fields.optional("external_id", rules::external_id);
        let postback_url = fields.optional("postback_url", |node| {
            // The form of the URL is not checked here. The creation rejects every text that is not the URL of a registered endpoint.
            rules::text(node, MAX_POSTBACK_URL, LineBreaks::Refused).map(Text::into_string)
        });
        let split = fields.optional("split", |node| rules::list(node, MAX_SHARES));
        let split = split.map(|items| split::read(items, issues)).unwrap_or_default();
        let split_rule = fields.take("split_rule_id").is_some();
        fields.finish();
        Some(Self {
            amount: amount?,
            description,
            payer_name,
            payer_document,
            expires_in,
            external_id,
            postback_url,
            split,
            split_rule,
        })
    }
}

impl From<NewCharge> for create::NewCharge {
    fn from(new: NewCharge) -> Self {
        Self {
            amount: new.amount.0,
            description: new.description,
            payer_name: new.payer_name,
            payer_document: new.payer_document,
            expires_in_s: new.expires_in.unwrap_or(DEFAULT_EXPIRES_IN_S),
            external_id: new.external_id,
            postback_url: new.postback_url,
            split: new.split.into_iter().map(RequestedShare::from).collect(),
            origin: Origin::Api,
        }
    }
}

fn expires_in(node: &Node<'_>) -> Result<u32, Problem> {
    let bounds = i64::from(MIN_EXPIRES_IN_S)..=i64::from(MAX_EXPIRES_IN_S);
    let seconds = rules::integer(node, &bounds)?;
    u32::try_from(seconds).map_err(|error| error.to_string().into())
}

#[cfg(test)]
mod tests;
