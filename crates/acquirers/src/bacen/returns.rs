//! Reads the return of a received Pix (devolução), as a record of its own or within its Pix.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::money::Money;
use cais_ports::{ReturnNature, UpstreamProgress, UpstreamReturn};

use super::profile::Dates;
use super::wire::{Return, line, parse_amount};
use crate::http::Defect;

/// The longest kept `motivo`, in characters (API Pix).
const MAX_REASON_CHARS: usize = 140;

/// Parses the return in an answer to `PUT` or `GET`; `name` is the requested id.
///
/// # Errors
/// [`Defect`] if the body is not a return, has another id, has an unknown status, or has another amount than a given `amount`.
pub(super) fn read(body: &[u8], name: &str, (amount, dates): (Option<Money>, Dates)) -> Result<UpstreamReturn, Defect> {
    let wire: Return<'_> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a return".to_owned()))?;
    match wire.id.as_deref() {
        Some(id) if id == name => {}
        Some(_) => return Err(Defect::mismatch("id", "differs from the request")),
        None => return Err(Defect::mismatch("id", "is missing")),
    }
    let found = wire.valor.as_deref().and_then(parse_amount);
    let found =
        found.filter(|amount| amount.is_positive()).ok_or_else(|| Defect::mismatch("valor", "is not an amount"))?;
    if amount.is_some_and(|amount| amount != found) {
        return Err(Defect::mismatch("valor", "is not the ordered amount"));
    }
    let progress = progress(&wire, dates).ok_or_else(|| Defect::mismatch("status", "is not a status of a return"))?;
    let (name, return_id, nature) = (name.to_owned(), return_id(&wire), nature(&wire));
    Ok(UpstreamReturn { name, return_id, nature, amount: found, progress })
}

/// Parses a return within its Pix, including returns that other systems requested; `None` for an unreadable amount.
///
/// A return with an unknown status counts as in flight, so the service does not credit the returned amount to the merchant.
pub(super) fn within_pix(wire: &Return<'_>, dates: Dates) -> Option<UpstreamReturn> {
    let name = wire.id.as_deref().or(wire.rtr_id.as_deref()).unwrap_or_default();
    Some(UpstreamReturn {
        name: name.to_owned(),
        return_id: return_id(wire),
        nature: nature(wire),
        amount: wire.valor.as_deref().and_then(parse_amount)?,
        progress: progress(wire, dates).unwrap_or(UpstreamProgress::Processing),
    })
}

fn return_id(wire: &Return<'_>) -> Option<ReturnId> {
    wire.rtr_id.as_deref().and_then(|text| ReturnId::parse(text).ok())
}

/// Returns the nature of a return from the field `natureza` (API Pix). With `MED_…`, an institution took the amount because of an
/// infraction. Receivers request only `ORIGINAL` and `RETIRADA`.
fn nature(wire: &Return<'_>) -> ReturnNature {
    match wire.natureza.and_then(|found| serde_json::from_str::<String>(found.get()).ok()) {
        Some(word) if word.starts_with("MED_") => ReturnNature::Infraction,
        Some(_) | None => ReturnNature::Ordinary,
    }
}

fn progress(wire: &Return<'_>, dates: Dates) -> Option<UpstreamProgress> {
    match wire.status.as_deref()? {
        "EM_PROCESSAMENTO" => Some(UpstreamProgress::Processing),
        "DEVOLVIDO" => {
            let settled = wire.horario.as_ref().and_then(|times| times.liquidacao.as_deref());
            Some(UpstreamProgress::Done { at: settled.and_then(|text| dates.read(text)) })
        }
        "NAO_REALIZADO" => {
            let reason = wire.motivo.as_deref().and_then(|text| line(text, MAX_REASON_CHARS));
            Some(UpstreamProgress::Failed { reason })
        }
        _ => None,
    }
}
