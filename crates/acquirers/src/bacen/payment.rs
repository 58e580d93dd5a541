//! Reads a received Pix and its returns.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use cais_ports::{UpstreamPayment, UpstreamReturn};

use super::profile::Dates;
use super::returns;
use super::wire::{Cob, Pix, parse_amount};
use crate::http::Defect;

/// Returns the Pix of a charge, oldest first, without duplicates.
pub(super) fn of_charge(cob: &Cob<'_>, txid: &Txid, dates: Dates) -> Result<Vec<UpstreamPayment>, Defect> {
    let mut payments = Vec::new();
    for (index, pix) in cob.pix.iter().flatten().enumerate() {
        let at = format!("pix[{index}]");
        let pix: Pix<'_> = serde_json::from_str(pix.get()).map_err(|_| Defect::mismatch(&at, "cannot be read"))?;
        if pix.txid.as_deref().is_some_and(|text| text != txid.as_str()) {
            return Err(Defect::mismatch(&format!("{at}.txid"), "differs from the request"));
        }
        payments.push(read(&at, &pix, dates)?);
    }
    payments.sort_by(|one, other| {
        let key = |pix: &UpstreamPayment| (pix.paid_at, pix.end_to_end_id.clone());
        key(one).cmp(&key(other))
    });
    payments.dedup();
    let mut ids: Vec<_> = payments.iter().map(|pix| &pix.end_to_end_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < payments.len() {
        return Err(Defect::mismatch("pix", "repeats an endToEndId with other values"));
    }
    Ok(payments)
}

/// Parses a Pix; `at` is its position in the answer.
pub(super) fn read(at: &str, pix: &Pix<'_>, dates: Dates) -> Result<UpstreamPayment, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{at}.{field}"), what);
    let end_to_end_id = pix
        .end_to_end_id
        .as_deref()
        .and_then(|text| EndToEndId::parse(text).ok())
        .ok_or_else(|| wrong("endToEndId", "is not an end-to-end id"))?;
    let amount = pix
        .valor
        .as_deref()
        .and_then(parse_amount)
        .filter(|amount| amount.is_positive())
        .ok_or_else(|| wrong("valor", "is not an amount"))?;
    let paid_at = pix
        .horario
        .as_deref()
        .and_then(|text| dates.read(text))
        .ok_or_else(|| wrong("horario", "is not an instant"))?;
    let mut returns: Vec<UpstreamReturn> = Vec::new();
    for back in pix.devolucoes.iter().flatten() {
        let back = returns::within_pix(back, dates).ok_or_else(|| wrong("devolucoes", "cannot be read"))?;
        // An identical duplicate counts once.
        if returns.contains(&back) {
            continue;
        }
        if !back.name.is_empty() && returns.iter().any(|known| known.name == back.name) {
            return Err(wrong("devolucoes", "repeats an id with other values"));
        }
        returns.push(back);
    }
    Ok(UpstreamPayment { end_to_end_id, amount, paid_at, returns })
}
