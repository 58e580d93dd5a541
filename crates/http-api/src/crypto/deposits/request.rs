//! The body of `POST /v1/crypto/deposits`, field by field.

use cais_domain::charge::Origin;
use cais_domain::crypto::Currency;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::CryptoQuoteId;
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Fields, Issues, Node};
use cais_use_cases::crypto::deposits::create::NewDeposit;
use utoipa::ToSchema;

use crate::crypto::{Code, MAX_DESCRIPTION, code, quote_id};
use crate::input::JsonBody;
use crate::resources::values::{AmountFrom, AnyAmount};
use crate::rules;

/// Longest `postback_url`, in characters.
const MAX_POSTBACK_URL: usize = 500;

/// The fields of a new deposit.
#[derive(Debug, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCryptoDeposit {
    /// The requested amount: BRL, at most two decimals. The fee is part of it.
    #[schema(inline)]
    pub amount: AnyAmount,
    /// The code of the currency: `trx`, `usdtbsc`, `btc`, `ltc` or `usdterc20`. The code names the network too.
    #[schema(value_type = String, max_length = 20)]
    pub currency: Code,
    /// Free text.
    #[schema(value_type = Option<String>, max_length = 140)]
    pub description: Option<Text>,
    /// The caller's own identifier, unique within the account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120)]
    pub external_id: Option<ExternalId>,
    /// The URL of an active webhook endpoint of the account, which receives the events of this deposit.
    #[schema(format = "uri", max_length = 500)]
    pub postback_url: Option<String>,
    /// The id of an unused quote for a deposit of the same currency and amount; default: the current price.
    #[schema(value_type = Option<String>)]
    pub quote_id: Option<CryptoQuoteId>,
}

impl JsonBody for NewCryptoDeposit {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.required("amount", AmountFrom::read);
        let currency = fields.required("currency", code);
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        let external_id = fields.optional("external_id", rules::external_id);
        let postback_url = fields.optional("postback_url", |node| {
            rules::text(node, MAX_POSTBACK_URL, LineBreaks::Refused).map(Text::into_string)
        });
        let quote_id = fields.optional("quote_id", quote_id);
        fields.finish();
        Some(Self { amount: amount?, currency: currency?, description, external_id, postback_url, quote_id })
    }
}

impl NewCryptoDeposit {
    /// Returns the terms of the deposit. `currency` is the supported currency with the code in `self.currency`.
    pub fn terms(self, currency: Currency) -> NewDeposit {
        let Self { amount, description, external_id, postback_url, quote_id, .. } = self;
        let (amount, origin) = (amount.0, Origin::Api);
        NewDeposit { amount, currency, description, external_id, origin, postback_url, quote: quote_id }
    }
}
