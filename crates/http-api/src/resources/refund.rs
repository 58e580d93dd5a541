//! The body of a refund.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::external_id::ExternalId;
use cais_domain::refund::RefundStatus as Status;
use cais_domain::text::Text;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// The status of a refund.
    RefundStatus Status::ALL.into_iter().filter(|status| status.is_visible()).map(Status::as_str)
}

/// A refund of a charge, in full or in part.
#[derive(Serialize, ToSchema)]
pub struct Refund<'a> {
    /// Public id, prefix `rfd_`.
    pub id: String,
    /// The id of the refunded charge.
    pub charge_id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<&'a str>,
    /// The refunded amount, in BRL.
    #[schema(inline)]
    pub amount: Amount,
    /// The status.
    #[schema(value_type = RefundStatus)]
    pub status: &'static str,
    /// Shown to the payer.
    #[schema(required)]
    pub reason: Option<&'a str>,
    /// The id of the refund in the Pix system (`rtrId`), once the acquirer has reported it.
    #[schema(required)]
    pub return_id: Option<&'a str>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
    /// Time at which the payer received the money.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub completed_at: Option<Instant>,
}

/// A page of refunds.
pub type RefundPage = Page<Refund<'static>>;

impl<'a> From<&'a cais_domain::refund::Refund> for Refund<'a> {
    fn from(refund: &'a cais_domain::refund::Refund) -> Self {
        Self {
            id: refund.id.to_string(),
            charge_id: refund.charge.to_string(),
            external_id: refund.external_id.as_ref().map(ExternalId::as_str),
            amount: Amount(refund.amount),
            status: refund.state.status().as_str(),
            reason: refund.reason.as_ref().map(Text::as_str),
            return_id: refund.state.return_id().map(ReturnId::as_str),
            created_at: Instant(refund.created_at),
            completed_at: refund.state.completed_at().map(Instant),
        }
    }
}
