//! The body of a payout.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::payout::PayoutStatus as Status;
use cais_domain::text::Text;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// The status of a payout.
    // `pending` is listed because the API's contract lists it. Callers never see a payout with this status.
    PayoutStatus ["pending"].into_iter().chain(Status::ALL.into_iter().filter(|status| status.is_visible()).map(Status::as_str))
}

/// The destination of a payout.
#[derive(Serialize, ToSchema)]
pub struct PayoutPix<'a> {
    /// The Pix key in its normal form.
    pub key: &'a str,
    /// The name of the key's owner, once the acquirer has reported it.
    #[schema(required)]
    pub recipient_name: Option<&'a str>,
    /// The CPF or CNPJ of the key's owner as the acquirer reports it. A person's CPF is masked.
    #[schema(required)]
    pub recipient_document: Option<&'a str>,
}

/// A Pix payout.
#[derive(Serialize, ToSchema)]
pub struct Payout<'a> {
    /// Public id, prefix `pyt_`.
    pub id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<&'a str>,
    /// The amount for the recipient, in BRL.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, debited in addition to `amount`.
    #[schema(value_type = Option<Amount>, inline, required)]
    pub fee: Amount,
    /// Equals `amount`.
    #[schema(value_type = Option<Amount>, inline, required)]
    pub net_amount: Amount,
    /// Total debit: amount and fee.
    #[schema(value_type = Option<Amount>, inline, required)]
    pub gross_amount: Option<Amount>,
    /// The status.
    #[schema(value_type = PayoutStatus)]
    pub status: &'static str,
    /// The destination.
    pub pix: PayoutPix<'a>,
    /// Shown to the recipient.
    #[schema(required)]
    pub description: Option<&'a str>,
    /// The end-to-end id of the Pix, once the acquirer has reported it.
    #[schema(required)]
    pub end_to_end_id: Option<&'a str>,
    /// The reason of the failure; null unless `status` is `failed`.
    #[schema(required)]
    pub error_message: Option<&'a str>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
    /// Time at which the recipient received the money.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub completed_at: Option<Instant>,
}

/// A page of payouts.
pub type PayoutPage = Page<Payout<'static>>;

impl<'a> From<&'a cais_domain::payout::Payout> for Payout<'a> {
    fn from(payout: &'a cais_domain::payout::Payout) -> Self {
        let terms = &payout.terms;
        Self {
            id: payout.id.to_string(),
            external_id: terms.external_id.as_ref().map(ExternalId::as_str),
            amount: Amount(terms.amount),
            fee: Amount(terms.fee),
            net_amount: Amount(terms.amount),
            // `ok` never returns `None` here: this sum was debited when the payout was created, so it is a valid amount.
            gross_amount: terms.gross().ok().map(Amount),
            status: payout.state.status().as_str(),
            pix: PayoutPix {
                key: terms.pix_key.as_str(),
                recipient_name: payout.recipient.name.as_deref(),
                recipient_document: payout.recipient.document.as_deref(),
            },
            description: terms.description.as_ref().map(Text::as_str),
            end_to_end_id: payout.state.end_to_end_id().map(EndToEndId::as_str),
            error_message: payout.state.failure(),
            created_at: Instant(payout.created_at),
            completed_at: payout.state.completed_at().map(Instant),
        }
    }
}
