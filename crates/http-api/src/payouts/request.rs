//! The body of `POST /v1/payouts`, field by field.

use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::payout::MIN_AMOUNT;
use cais_domain::pix_key::{MAX_LENGTH, PixKey, PixKeyError, PixKeyType as KeyType};
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::payouts::create;
use utoipa::ToSchema;

use crate::input::JsonBody;
use crate::resources::values::{AmountFrom, closed_list};
use crate::rules;

/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 140;
/// The longest CPF or CNPJ of the recipient in a request, in characters, punctuation included.
pub const MAX_RECIPIENT_DOCUMENT: usize = 20;

closed_list! {
    /// A kind of Pix key.
    PixKeyType KeyType::ALL.map(KeyType::as_str)
}

/// The amount of a payout: at least R$ 0.01.
pub type PayoutAmount = AmountFrom<{ MIN_AMOUNT.centavos() }>;

/// The fields of a new payout.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPayout {
    /// The amount for the recipient: BRL, at most two decimals.
    #[schema(inline)]
    pub amount: PayoutAmount,
    /// The recipient's Pix key: CPF, CNPJ, e-mail, phone beginning with `+`, or random key.
    #[schema(value_type = String, max_length = 77)]
    pub pix_key: PixKey,
    /// The type of the key; default: derived from its form.
    #[schema(value_type = Option<PixKeyType>)]
    pub pix_key_type: Option<KeyType>,
    /// The CPF or CNPJ that the key's owner must have. If the key has another owner, the payout fails.
    #[schema(value_type = Option<String>, max_length = 20)]
    pub recipient_document: Option<Document>,
    /// Shown to the recipient.
    #[schema(value_type = Option<String>, max_length = 140)]
    pub description: Option<Text>,
    /// The caller's own identifier, unique within the account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120)]
    pub external_id: Option<ExternalId>,
}

impl JsonBody for NewPayout {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.required("amount", AmountFrom::read);
        let pix_key_type = fields.optional("pix_key_type", key_type);
        let pix_key = fields.required("pix_key", |node| pix_key(node, pix_key_type));
        let recipient_document =
            fields.optional("recipient_document", |node| rules::document(node, MAX_RECIPIENT_DOCUMENT));
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        let external_id = fields.optional("external_id", rules::external_id);
        fields.finish();
        Some(Self { amount: amount?, pix_key: pix_key?, pix_key_type, recipient_document, description, external_id })
    }
}

impl From<NewPayout> for create::NewPayout {
    fn from(NewPayout { amount, pix_key, recipient_document, description, external_id, .. }: NewPayout) -> Self {
        let (amount, origin) = (amount.0, Origin::Api);
        Self { amount, pix_key, recipient_document, description, external_id, origin }
    }
}

fn key_type(node: &Node<'_>) -> Result<KeyType, Problem> {
    let known = KeyType::parse(rules::string(node)?);
    known.ok_or_else(|| format!("must be one of {}", KeyType::ALL.map(KeyType::as_str).join(", ")).into())
}

/// Reads a key of type `kind`. Without `kind`, the type is derived from the key's form.
fn pix_key(node: &Node<'_>, kind: Option<KeyType>) -> Result<PixKey, Problem> {
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
