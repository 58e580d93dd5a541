//! A charge on the wire.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::external_id::ExternalId;
use cais_domain::text::Text;
use cais_qr_code::QrImages;

use super::object::Object;

/// Room for a charge without its image: one allocation is enough for nearly all.
const CHARGE_BYTES: usize = 768;

/// A charge as a JSON object.
pub(super) fn render(images: &QrImages, charge: &Charge) -> Vec<u8> {
    let status = charge.state.status();
    let issued = charge.state.issued();
    let settlement = charge.state.settlement();
    // A code that can no longer be paid is history: nobody should scan it.
    let image =
        issued.filter(|_| status == ChargeStatus::Pending).and_then(|issued| images.data_url(&issued.copy_paste));
    let room = CHARGE_BYTES.saturating_add(image.as_ref().map_or(0, |image| image.len()));

    let mut object = Object::with_capacity(room);
    object.plain_text("id", &charge.id);
    object.plain_text("txid", &charge.txid);
    object.optional_text("external_id", charge.terms.external_id.as_ref().map(ExternalId::as_str));
    object.money("amount", charge.terms.amount);
    object.plain_text("status", &status.as_str());
    object.optional_text("description", charge.terms.description.as_ref().map(Text::as_str));
    object.open("pix");
    object.optional_text("copy_paste", issued.map(|issued| issued.copy_paste.as_str()));
    object.optional_plain("qr_code_image", image.as_deref());
    object.close();
    object.optional_plain("end_to_end_id", settlement.map(|settlement| settlement.end_to_end_id.as_str()));
    object.optional_instant("paid_at", settlement.map(|settlement| settlement.paid_at));
    object.optional_instant("expires_at", issued.map(|issued| issued.expires_at));
    object.optional_instant("created_at", Some(charge.created_at));
    object.finish()
}
