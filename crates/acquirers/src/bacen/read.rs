//! Reads charges. An answer that contradicts the request is an error. An answer with an unreadable payment is an error too, so that no
//! payment is skipped.
//!
//! The Pix key and the BR Code are checked only in the answer to an order. Payments in later answers are credited even if
//! those answers show another key or code.

use cais_domain::br_code::BrCode;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{ChargeOrder, UpstreamCharge, UpstreamStatus};
use jiff::{SignedDuration, Timestamp};

use super::payment;
use super::profile::Dates;
use super::wire::{Cob, REMOVED_BY_US, parse_amount};
use crate::http::Defect;

/// The `expiracao` of an answer without that field, in seconds (API Pix).
const DEFAULT_EXPIRATION_S: i64 = 86_400;
/// The longest accepted `expiracao`, in seconds: ten years.
const MAX_EXPIRATION_S: i64 = 10 * 365 * 86_400;

/// The expected values of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    txid: &'a Txid,
    /// The order, if the answer belongs to a creation. Then the answer must have the ordered amount and a usable BR Code, and
    /// no other Pix key than the configured one. `None` for other reads.
    order: Option<&'a ChargeOrder>,
}

impl<'a> Expected<'a> {
    /// Expects any charge with the txid.
    pub(super) fn charge(txid: &'a Txid) -> Self {
        Self { txid, order: None }
    }

    /// Expects the ordered charge with a usable code.
    pub(super) fn ordered(order: &'a ChargeOrder) -> Self {
        Self { txid: &order.txid, order: Some(order) }
    }

    pub(super) fn txid(&self) -> &'a Txid {
        self.txid
    }
}

fn mismatch(field: &str, what: &str) -> Defect {
    Defect::mismatch(field, what)
}

/// Parses the body of a successful answer.
pub(super) fn charge(
    body: &[u8],
    expected: &Expected<'_>,
    (key, dates): (&PixKey, Dates),
) -> Result<UpstreamCharge, Defect> {
    let cob: Cob<'_> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a charge".to_owned()))?;
    match cob.txid.as_deref() {
        Some(txid) if txid == expected.txid.as_str() => {}
        Some(_) => return Err(mismatch("txid", "differs from the request")),
        None => return Err(mismatch("txid", "is missing")),
    }
    let amount = amount(&cob, expected)?;
    // Only an answer to an order is compared with the configured key. That key may change, and charges ordered under the old key stay
    // valid.
    let copy_paste = match expected.order {
        Some(_) => {
            check_key(&cob, key)?;
            Some(copy_paste(&cob, amount)?)
        }
        None => copy_paste(&cob, amount).ok(),
    };
    Ok(UpstreamCharge {
        txid: expected.txid.clone(),
        amount,
        status: status(&cob)?,
        copy_paste,
        expires_at: expires_at(&cob, dates)?,
        payments: payment::of_charge(&cob, expected.txid, dates)?,
        answered_at: None,
    })
}

fn amount(cob: &Cob<'_>, expected: &Expected<'_>) -> Result<Money, Defect> {
    let original = cob.valor.as_ref().and_then(|valor| valor.original.as_deref());
    let original = original.ok_or_else(|| mismatch("valor.original", "is missing"))?;
    let amount = parse_amount(original).ok_or_else(|| mismatch("valor.original", "is not an amount"))?;
    if expected.order.is_some_and(|order| order.amount != amount) {
        return Err(mismatch("valor.original", "is not the ordered amount"));
    }
    Ok(amount)
}

fn status(cob: &Cob<'_>) -> Result<UpstreamStatus, Defect> {
    match cob.status.as_deref() {
        Some("ATIVA") => Ok(UpstreamStatus::Active),
        Some("CONCLUIDA") => Ok(UpstreamStatus::Completed),
        // The text of the standard contains both spellings, `REMOVIDA_…` and `REMOVIDO_…`.
        Some(REMOVED_BY_US | "REMOVIDA_PELO_PSP" | "REMOVIDO_PELO_USUARIO_RECEBEDOR" | "REMOVIDO_PELO_PSP") => {
            Ok(UpstreamStatus::Removed)
        }
        Some(_) => Err(mismatch("status", "is not a status of the API Pix")),
        None => Err(mismatch("status", "is missing")),
    }
}

fn check_key(cob: &Cob<'_>, key: &PixKey) -> Result<(), Defect> {
    let is_ours = |text: &str| PixKey::parse_as(text, key.key_type()).is_ok_and(|parsed| parsed == *key);
    if cob.chave.as_deref().is_some_and(|text| !is_ours(text)) {
        Err(mismatch("chave", "differs from the request"))
    } else {
        Ok(())
    }
}

/// Returns the BR Code after three checks: the checksum is valid, the code is dynamic, and an amount in the code is the charge's amount.
fn copy_paste(cob: &Cob<'_>, amount: Money) -> Result<String, Defect> {
    const FIELD: &str = "pixCopiaECola";
    let text = cob.pix_copia_e_cola.as_deref().map(str::trim).ok_or_else(|| mismatch(FIELD, "is missing"))?;
    match BrCode::parse(text) {
        Ok(BrCode::Dynamic(code)) if code.amount.is_none_or(|shown| shown == amount) => Ok(text.to_owned()),
        Ok(BrCode::Dynamic(_)) => Err(mismatch(FIELD, "shows another amount")),
        Ok(BrCode::Static(_)) => Err(mismatch(FIELD, "is not the code of a charge")),
        Err(error) => Err(mismatch(FIELD, &format!("cannot be used: {error}"))),
    }
}

fn expires_at(cob: &Cob<'_>, dates: Dates) -> Result<Timestamp, Defect> {
    let calendar = cob.calendario.as_ref();
    let created = calendar.and_then(|calendar| calendar.criacao.as_deref());
    let created = created.ok_or_else(|| mismatch("calendario.criacao", "is missing"))?;
    let created = dates.read(created).ok_or_else(|| mismatch("calendario.criacao", "is not an instant"))?;
    let wrong = || mismatch("calendario.expiracao", "is not a valid number of seconds");
    let seconds = match calendar.and_then(|calendar| calendar.expiracao) {
        Some(text) => text.get().trim_matches('"').parse().map_err(|_| wrong())?,
        None => DEFAULT_EXPIRATION_S,
    };
    if !(1..=MAX_EXPIRATION_S).contains(&seconds) {
        return Err(wrong());
    }
    created.checked_add(SignedDuration::from_secs(seconds)).map_err(|_| wrong())
}
