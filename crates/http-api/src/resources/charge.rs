//! The body of a charge.

use cais_domain::charge::ChargeStatus as Status;
use cais_domain::external_id::ExternalId;
use cais_domain::text::Text;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// The status of a charge.
    ChargeStatus Status::ALL.into_iter().filter(|status| status.is_visible()).map(Status::as_str)
}

/// The code with which a payer pays a charge.
#[derive(Serialize, ToSchema)]
pub struct ChargePix<'a> {
    /// Pix copy-and-paste code (EMV).
    #[schema(required)]
    pub copy_paste: Option<&'a str>,
    /// QR code of the Pix code, a PNG as data URL; only while the charge can be paid.
    #[schema(required)]
    pub qr_code_image: Option<&'a str>,
}

/// A Pix charge.
#[derive(Serialize, ToSchema)]
pub struct Charge<'a> {
    /// Public id, prefix `chg_`.
    #[schema(required)]
    pub id: Option<String>,
    /// The identifier of the charge at its acquirer.
    #[schema(required)]
    pub txid: Option<String>,
    /// The caller's own identifier of the charge.
    #[schema(required)]
    pub external_id: Option<&'a str>,
    /// BRL, two decimals.
    #[schema(inline)]
    pub amount: Amount,
    /// The status.
    #[schema(value_type = ChargeStatus)]
    pub status: &'static str,
    /// Shown to the payer.
    #[schema(required)]
    pub description: Option<&'a str>,
    /// The code that the payer needs.
    pub pix: ChargePix<'a>,
    /// The end-to-end id of the Pix that paid the charge.
    #[schema(required)]
    pub end_to_end_id: Option<&'a str>,
    /// Time of the payment.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub paid_at: Option<Instant>,
    /// End of the time in which the charge can be paid.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub expires_at: Option<Instant>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// A page of charges.
pub type ChargePage = Page<Charge<'static>>;

impl<'a> Charge<'a> {
    /// Returns the body of `charge`. `image` is the QR code as a data URL; `None` unless the charge is pending.
    pub fn of(charge: &'a cais_domain::charge::Charge, image: Option<&'a str>) -> Self {
        let issued = charge.state.issued();
        let settlement = charge.state.settlement();
        Self {
            id: Some(charge.id.to_string()),
            txid: Some(charge.txid.to_string()),
            external_id: charge.terms.external_id.as_ref().map(ExternalId::as_str),
            amount: Amount(charge.terms.amount),
            status: charge.state.status().as_str(),
            description: charge.terms.description.as_ref().map(Text::as_str),
            pix: ChargePix { copy_paste: issued.map(|issued| issued.copy_paste.as_str()), qr_code_image: image },
            end_to_end_id: settlement.map(|settlement| settlement.end_to_end_id.as_str()),
            paid_at: settlement.map(|settlement| Instant(settlement.paid_at)),
            expires_at: issued.map(|issued| Instant(issued.expires_at)),
            created_at: Instant(charge.created_at),
        }
    }
}
