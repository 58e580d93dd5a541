//! Judges what an institution says of a charge: nothing is believed that contradicts what was asked, nothing is left out.

use cais_domain::br_code::BrCode;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{ChargeOrder, UpstreamCharge, UpstreamPayment, UpstreamStatus};
use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;

use super::wire::{Cob, NOT_RETURNED, Pix, REMOVED_BY_US, parse_amount};

/// `expiracao` when an answer leaves it out, in seconds (API Pix).
const DEFAULT_EXPIRATION_S: i64 = 86_400;
/// Longest `expiracao` that is believed, in seconds: ten years.
const MAX_EXPIRATION_S: i64 = 10 * 365 * 86_400;

/// What an answer must agree with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    txid: &'a Txid,
    /// The amount, and that the code is there.
    order: Option<&'a ChargeOrder>,
}

/// Why an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// It is not the JSON of a charge.
    Unreadable(String),
    /// It is one, and says something that cannot be.
    Mismatch(String),
}

impl<'a> Expected<'a> {
    /// Any charge of that name.
    pub(super) fn charge(txid: &'a Txid) -> Self {
        Self { txid, order: None }
    }

    /// The charge that was ordered, with its code.
    pub(super) fn ordered(order: &'a ChargeOrder) -> Self {
        Self { txid: &order.txid, order: Some(order) }
    }

    pub(super) fn txid(&self) -> &'a Txid {
        self.txid
    }
}

impl Defect {
    pub(super) fn reason(self) -> String {
        match self {
            Self::Unreadable(reason) | Self::Mismatch(reason) => reason,
        }
    }
}

fn mismatch(field: &str, what: &str) -> Defect {
    Defect::Mismatch(format!("the answer's {field} {what}"))
}

/// Reads the body of a successful answer.
pub(super) fn charge(body: &[u8], expected: &Expected<'_>, key: &PixKey) -> Result<UpstreamCharge, Defect> {
    let cob: Cob<'_> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a charge".to_owned()))?;
    match cob.txid.as_deref() {
        Some(txid) if txid == expected.txid.as_str() => {}
        Some(_) => return Err(mismatch("txid", "is another")),
        None => return Err(mismatch("txid", "is missing")),
    }
    let is_ours = |text: &str| PixKey::parse_as(text, key.key_type()).is_ok_and(|parsed| parsed == *key);
    if cob.chave.as_deref().is_some_and(|text| !is_ours(text)) {
        return Err(mismatch("chave", "is another"));
    }
    let amount = amount(&cob, expected)?;
    Ok(UpstreamCharge {
        txid: expected.txid.clone(),
        amount,
        status: status(&cob)?,
        copy_paste: copy_paste(&cob, expected, amount)?,
        expires_at: expires_at(&cob)?,
        payments: payments(&cob, expected.txid)?,
    })
}

fn amount(cob: &Cob<'_>, expected: &Expected<'_>) -> Result<Money, Defect> {
    let original = cob.valor.as_ref().and_then(|valor| valor.original.as_deref());
    let original = original.ok_or_else(|| mismatch("valor.original", "is missing"))?;
    let amount = parse_amount(original).ok_or_else(|| mismatch("valor.original", "is not an amount"))?;
    if expected.order.is_some_and(|order| order.amount != amount) {
        return Err(mismatch("valor.original", "is not what was ordered"));
    }
    Ok(amount)
}

fn status(cob: &Cob<'_>) -> Result<UpstreamStatus, Defect> {
    match cob.status.as_deref() {
        Some("ATIVA") => Ok(UpstreamStatus::Active),
        Some("CONCLUIDA") => Ok(UpstreamStatus::Completed),
        Some(REMOVED_BY_US | "REMOVIDA_PELO_PSP") => Ok(UpstreamStatus::Removed),
        Some(_) => Err(mismatch("status", "is not one of the API Pix")),
        None => Err(mismatch("status", "is missing")),
    }
}

/// The code, whose checksum holds and which names the address of a charge. Its own amount is informative, but must not differ.
fn copy_paste(cob: &Cob<'_>, expected: &Expected<'_>, amount: Money) -> Result<Option<String>, Defect> {
    const FIELD: &str = "pixCopiaECola";
    let Some(text) = cob.pix_copia_e_cola.as_deref().map(str::trim) else {
        return match expected.order {
            Some(_) => Err(mismatch(FIELD, "is missing")),
            None => Ok(None),
        };
    };
    match BrCode::parse(text) {
        Ok(BrCode::Dynamic(code)) if code.amount.is_none_or(|shown| shown == amount) => Ok(Some(text.to_owned())),
        Ok(BrCode::Dynamic(_)) => Err(mismatch(FIELD, "shows another amount")),
        Ok(BrCode::Static(_)) => Err(mismatch(FIELD, "is not the code of a charge")),
        Err(error) => Err(mismatch(FIELD, &format!("cannot be used: {error}"))),
    }
}

fn expires_at(cob: &Cob<'_>) -> Result<Timestamp, Defect> {
    let calendar = cob.calendario.as_ref();
    let created = calendar.and_then(|calendar| calendar.criacao.as_deref());
    let created = created.ok_or_else(|| mismatch("calendario.criacao", "is missing"))?;
    let created = instant(created).ok_or_else(|| mismatch("calendario.criacao", "is not an instant"))?;
    let wrong = || mismatch("calendario.expiracao", "is not a time to pay");
    let seconds = match calendar.and_then(|calendar| calendar.expiracao) {
        Some(text) => text.get().trim_matches('"').parse().map_err(|_| wrong())?,
        None => DEFAULT_EXPIRATION_S,
    };
    if !(1..=MAX_EXPIRATION_S).contains(&seconds) {
        return Err(wrong());
    }
    created.checked_add(SignedDuration::from_secs(seconds)).map_err(|_| wrong())
}

/// Every Pix, oldest first; the same one told twice is one.
fn payments(cob: &Cob<'_>, txid: &Txid) -> Result<Vec<UpstreamPayment>, Defect> {
    let mut payments = cob
        .pix
        .iter()
        .flatten()
        .enumerate()
        .map(|(index, pix)| payment(index, pix, txid))
        .collect::<Result<Vec<_>, _>>()?;
    payments.sort_by(|one, other| {
        let key = |pix: &UpstreamPayment| (pix.paid_at, pix.end_to_end_id.clone());
        key(one).cmp(&key(other))
    });
    payments.dedup();
    let mut ids: Vec<_> = payments.iter().map(|pix| &pix.end_to_end_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < payments.len() {
        return Err(mismatch("pix", "has one endToEndId with different facts"));
    }
    Ok(payments)
}

fn payment(index: usize, pix: &RawValue, txid: &Txid) -> Result<UpstreamPayment, Defect> {
    let wrong = |field: &str, what: &str| mismatch(&format!("pix[{index}]{field}"), what);
    let pix: Pix<'_> = serde_json::from_str(pix.get()).map_err(|_| wrong("", "cannot be read"))?;
    let end_to_end_id = pix
        .end_to_end_id
        .as_deref()
        .and_then(|text| EndToEndId::parse(text).ok())
        .ok_or_else(|| wrong(".endToEndId", "is not one"))?;
    if pix.txid.as_deref().is_some_and(|text| text != txid.as_str()) {
        return Err(wrong(".txid", "is another"));
    }
    let amount = pix
        .valor
        .as_deref()
        .and_then(parse_amount)
        .filter(|amount| amount.is_positive())
        .ok_or_else(|| wrong(".valor", "is not an amount"))?;
    let paid_at = pix.horario.as_deref().and_then(instant).ok_or_else(|| wrong(".horario", "is not an instant"))?;
    let returned = returned(&pix).ok_or_else(|| wrong(".devolucoes", "cannot be read"))?;
    Ok(UpstreamPayment { end_to_end_id, amount, paid_at, returned })
}

/// What went back of a Pix; a return under way counts, because it may not be credited meanwhile.
fn returned(pix: &Pix<'_>) -> Option<Money> {
    let moved = pix.devolucoes.iter().flatten().filter(|back| back.status.as_deref() != Some(NOT_RETURNED));
    let amounts: Option<Vec<Money>> = moved.map(|back| back.valor.as_deref().and_then(parse_amount)).collect();
    Money::sum(amounts?).ok()
}

/// RFC 3339, cut to the microseconds that are stored.
fn instant(text: &str) -> Option<Timestamp> {
    let instant: Timestamp = text.parse().ok()?;
    Timestamp::from_microsecond(instant.as_microsecond()).ok()
}
