//! A payment that no charge asked for on the wire.

use cais_domain::payment::UnexpectedPayment;

use super::object::Object;

/// Room for such a payment: one allocation is enough.
const PAYMENT_BYTES: usize = 256;

/// An unexpected payment as a JSON object.
pub(super) fn unexpected(payment: &UnexpectedPayment) -> Vec<u8> {
    let mut object = Object::with_capacity(PAYMENT_BYTES);
    object.plain_text("end_to_end_id", &payment.end_to_end_id);
    object.money("amount", payment.amount);
    object.plain_text("reason", &payment.reason.as_str());
    object.plain_text("charge_id", &payment.charge);
    object.optional_instant("received_at", Some(payment.received_at));
    object.finish()
}
