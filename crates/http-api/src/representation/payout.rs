//! A payout on the wire.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::payout::Payout;
use cais_domain::text::Text;

use super::object::Object;

/// Room for a payout: one allocation is enough for nearly all.
const PAYOUT_BYTES: usize = 640;

/// A payout as a JSON object.
pub(super) fn render(payout: &Payout) -> Vec<u8> {
    let terms = &payout.terms;
    let mut object = Object::with_capacity(PAYOUT_BYTES);
    object.plain_text("id", &payout.id);
    object.optional_text("external_id", terms.external_id.as_ref().map(ExternalId::as_str));
    object.money("amount", terms.amount);
    object.money("fee", terms.fee);
    object.money("net_amount", terms.amount);
    // Both were held together when it was made, so their sum is an amount.
    object.optional_money("gross_amount", terms.gross().ok());
    object.plain_text("status", &payout.state.status().as_str());
    object.open("pix");
    object.optional_text("key", Some(terms.pix_key.as_str()));
    object.optional_text("recipient_name", payout.recipient.name.as_deref());
    object.optional_text("recipient_document", payout.recipient.document.as_deref());
    object.close();
    object.optional_text("description", terms.description.as_ref().map(Text::as_str));
    object.optional_plain("end_to_end_id", payout.state.end_to_end_id().map(EndToEndId::as_str));
    object.optional_text("error_message", payout.state.failure());
    object.optional_instant("created_at", Some(payout.created_at));
    object.optional_instant("completed_at", payout.state.completed_at());
    object.finish()
}
