//! The body of a payment that does not match its charge.

use cais_domain::payment::UnexpectedReason as Reason;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, closed_list};

closed_list! {
    /// The reason why a payment does not match its charge.
    UnexpectedReason [Reason::Overpaid, Reason::Duplicate, Reason::Underpaid, Reason::Late].map(Reason::as_str)
}

/// The data of `payment.unexpected`: money that was credited although the charge did not request it. `POST
/// /v1/charges/{charge_id}/refunds` with this `end_to_end_id` and `amount` refunds exactly this money.
#[derive(Serialize, ToSchema)]
pub struct UnexpectedPayment {
    /// The end-to-end id of the Pix.
    pub end_to_end_id: String,
    /// The unexpected part. For an overpayment, the excess; for any other payment, the whole amount.
    #[schema(inline)]
    pub amount: Amount,
    /// The reason why the payment is unexpected.
    #[schema(value_type = UnexpectedReason)]
    pub reason: &'static str,
    /// The charge that the Pix referred to.
    pub charge_id: String,
    /// Time at which the acquirer received the Pix.
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Instant,
}

impl From<&cais_domain::payment::UnexpectedPayment> for UnexpectedPayment {
    fn from(payment: &cais_domain::payment::UnexpectedPayment) -> Self {
        Self {
            end_to_end_id: payment.end_to_end_id.to_string(),
            amount: Amount(payment.amount),
            reason: payment.reason.as_str(),
            charge_id: payment.charge.to_string(),
            received_at: Instant(payment.received_at),
        }
    }
}
