//! The body of `POST /v1/crypto/withdrawals`, field by field.

use cais_domain::charge::Origin;
use cais_domain::crypto::Address;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::CryptoQuoteId;
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::crypto::withdrawals::create::NewWithdrawal;
use utoipa::ToSchema;

use crate::crypto::{Code, MAX_DESCRIPTION, code, quote_id};
use crate::input::JsonBody;
use crate::resources::values::{AmountFrom, AnyAmount};
use crate::rules;

/// Longest address in a request, in characters: longer than the addresses of all supported currencies.
const MAX_ADDRESS: usize = 128;

/// The fields of a new withdrawal.
#[derive(Debug, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCryptoWithdrawal {
    /// The amount that is converted to coins: BRL, at most two decimals. The fee is debited in addition.
    #[schema(inline)]
    pub amount: AnyAmount,
    /// The code of the currency: `trx`, `usdtbsc`, `btc`, `ltc` or `usdterc20`. The code names the network too.
    #[schema(value_type = String, max_length = 20)]
    pub currency: Code,
    /// The recipient's address on the network of the currency. Coins to a wrong address are lost.
    #[schema(max_length = 128)]
    pub address: String,
    /// The caller's own identifier, unique within the account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120)]
    pub external_id: Option<ExternalId>,
    /// Free text.
    #[schema(value_type = Option<String>, max_length = 140)]
    pub description: Option<Text>,
    /// The id of an unused quote for a withdrawal of the same currency and amount; default: the current price.
    #[schema(value_type = Option<String>)]
    pub quote_id: Option<CryptoQuoteId>,
}

impl JsonBody for NewCryptoWithdrawal {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.required("amount", AmountFrom::read);
        let currency = fields.required("currency", code);
        let address = fields.required("address", address);
        let external_id = fields.optional("external_id", rules::external_id);
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        let quote_id = fields.optional("quote_id", quote_id);
        fields.finish();
        Some(Self { amount: amount?, currency: currency?, address: address?, external_id, description, quote_id })
    }
}

impl NewCryptoWithdrawal {
    /// Returns the terms of the withdrawal. `address` is the parsed `self.address`.
    pub fn terms(self, address: Address) -> NewWithdrawal {
        let Self { amount, external_id, description, quote_id, .. } = self;
        let (amount, origin) = (amount.0, Origin::Api);
        NewWithdrawal { amount, address, description, external_id, origin, quote: quote_id }
    }
}

fn address(node: &Node<'_>) -> Result<String, Problem> {
    Ok(rules::text(node, MAX_ADDRESS, LineBreaks::Refused)?.into_string())
}
