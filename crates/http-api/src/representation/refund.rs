//! A refund on the wire.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::external_id::ExternalId;
use cais_domain::refund::Refund;
use cais_domain::text::Text;

use super::object::Object;

/// Room for a refund: one allocation is enough for nearly all.
const REFUND_BYTES: usize = 384;

/// A refund as a JSON object.
pub(super) fn render(refund: &Refund) -> Vec<u8> {
    let mut object = Object::with_capacity(REFUND_BYTES);
    object.plain_text("id", &refund.id);
    object.plain_text("charge_id", &refund.charge);
    object.optional_text("external_id", refund.external_id.as_ref().map(ExternalId::as_str));
    object.money("amount", refund.amount);
    object.plain_text("status", &refund.state.status().as_str());
    object.optional_text("reason", refund.reason.as_ref().map(Text::as_str));
    object.optional_plain("return_id", refund.state.return_id().map(ReturnId::as_str));
    object.optional_instant("created_at", Some(refund.created_at));
    object.optional_instant("completed_at", refund.state.completed_at());
    object.finish()
}
