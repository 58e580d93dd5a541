//! Reads sent Pix. An answer that contradicts the request is an error. An unreadable Pix of ours in a list is reported, so
//! that no movement of money is missed.

use cais_domain::document::Cpf;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::Recipient;
use cais_domain::pix_key::PixKey;
use cais_ports::{ReturnedPart, UpstreamPayout, UpstreamProgress};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::wire::{Extras, Failure, Favored, Identity, Sent, SentReturn, Times};
use crate::bacen::wire::line;
use crate::http::{Defect, instant, part, text};
use crate::sent::{Expected, MAX_DOCUMENT_CHARS, MAX_NAME_CHARS, MAX_REASON_CHARS};

/// Parses the body of a successful answer.
pub(super) fn payout(body: &[u8], expected: &Expected<'_>) -> Result<UpstreamPayout, Defect> {
    let sent: Sent<'_> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a sent Pix".to_owned()))?;
    match sent.id_envio.and_then(text) {
        Some(id) if id == expected.instruction_id.as_str() => {}
        Some(_) => return Err(Defect::mismatch("idEnvio", "differs from the request")),
        None => return Err(Defect::mismatch("idEnvio", "is missing")),
    }
    let payout = facts("", &sent, expected.instruction_id)?;
    let Some(order) = expected.order else { return Ok(payout) };
    if payout.amount != order.amount {
        return Err(Defect::mismatch("valor", "is not the ordered amount"));
    }
    if !goes_to(&sent, &order.pix_key) {
        return Err(Defect::mismatch("favorecido", "is not the ordered recipient"));
    }
    Ok(payout)
}

/// Parses a row of the list. A Pix whose identifier is missing or has another format is not ours and is skipped. An unreadable Pix with the
/// identifier of another system is skipped too.
pub(super) fn row(at: &str, row: &RawValue) -> Result<Option<UpstreamPayout>, Defect> {
    let sent: Sent<'_> = serde_json::from_str(row.get()).map_err(|_| Defect::mismatch(at, "cannot be read"))?;
    let Some(instruction_id) = sent.id_envio.and_then(text).and_then(|id| InstructionId::parse(&id).ok()) else {
        return Ok(None);
    };
    match facts(&format!("{at}."), &sent, &instruction_id) {
        Ok(payout) => Ok(Some(payout)),
        Err(defect) if instruction_id.payout().is_some() => Err(defect),
        Err(defect) => {
            let reason = defect.reason();
            tracing::warn!(%instruction_id, reason, "sent Pix of another client cannot be read; it is skipped");
            Ok(None)
        }
    }
}

/// Parses a sent Pix; `at` is the prefix for field names in errors.
fn facts(at: &str, sent: &Sent<'_>, instruction_id: &InstructionId) -> Result<UpstreamPayout, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{at}{field}"), what);
    let amount = sent.valor.and_then(amount).ok_or_else(|| wrong("valor", "is not an amount"))?;
    let end_to_end_id = end_to_end_id(sent).map_err(|Unusable| wrong("endToEndId", "differs from e2eId"))?;
    let progress = progress(sent).ok_or_else(|| wrong("status", "is not a status of a sent Pix"))?;
    if end_to_end_id.is_none() && matches!(progress, UpstreamProgress::Done { .. }) {
        return Err(wrong("endToEndId", "is missing although the Pix arrived"));
    }
    let mut returned = Vec::new();
    for (index, back) in sent.devolucoes.iter().flatten().enumerate() {
        let back = returned_part(back).map_err(|Unusable| wrong(&format!("devolucoes[{index}]"), "cannot be read"))?;
        returned.extend(back);
    }
    returned.sort_by(|one, other| (one.at, &one.return_id).cmp(&(other.at, &other.return_id)));
    returned.dedup();
    let mut ids: Vec<_> = returned.iter().map(|back| &back.return_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < returned.len() {
        return Err(wrong("devolucoes", "repeats an rtrId with other values"));
    }
    let recipient = recipient(sent);
    Ok(UpstreamPayout {
        instruction_id: instruction_id.clone(),
        end_to_end_id,
        amount,
        recipient,
        progress,
        awaits_approval: false,
        returned,
    })
}

/// Parses an amount by value: Efí writes it with and without decimals, and as a number.
pub(super) fn amount(value: &RawValue) -> Option<Money> {
    text(value).and_then(|text| Money::parse(&text).ok()).filter(|amount| amount.is_positive())
}

/// A part of an answer that is unreadable or contradicts itself.
struct Unusable;

/// Returns the end-to-end id from `endToEndId` or `e2eId`. An invalid id counts as absent. Two different ids are an error.
fn end_to_end_id(sent: &Sent<'_>) -> Result<Option<EndToEndId>, Unusable> {
    let read = |value: Option<&RawValue>| value.and_then(text).and_then(|text| EndToEndId::parse(&text).ok());
    match (read(sent.end_to_end_id), read(sent.e2e_id)) {
        (Some(one), Some(other)) if one != other => Err(Unusable),
        (one, other) => Ok(one.or(other)),
    }
}

fn progress(sent: &Sent<'_>) -> Option<UpstreamProgress> {
    match sent.status.and_then(text)?.as_str() {
        "EM_PROCESSAMENTO" => Some(UpstreamProgress::Processing),
        "REALIZADO" => {
            let times: Option<Times<'_>> = part(sent.horario);
            let settled = times.and_then(|times| times.liquidacao).and_then(text);
            Some(UpstreamProgress::Done { at: settled.as_deref().and_then(instant) })
        }
        "NAO_REALIZADO" => {
            let failure = part(sent.extras).and_then(|extras: Extras<'_>| part(extras.erro));
            Some(UpstreamProgress::Failed { reason: failure.as_ref().and_then(reason) })
        }
        _ => None,
    }
}

/// Returns the reason of a failure: the payment system's code and the text, as far as they are present.
fn reason(failure: &Failure<'_>) -> Option<String> {
    let shown = |value: Option<&RawValue>| value.and_then(text).and_then(|text| line(&text, MAX_REASON_CHARS));
    match (shown(failure.codigo), shown(failure.motivo)) {
        (Some(code), Some(words)) => line(&format!("{code}: {words}"), MAX_REASON_CHARS),
        (code, words) => words.or(code),
    }
}

/// Returns `true` if the recipient in the answer can be the owner of the key. An answer without a recipient, or without
/// the recipient's key and account, is accepted too.
fn goes_to(sent: &Sent<'_>, key: &PixKey) -> bool {
    let Some(favored) = part::<Favored<'_>>(sent.favorecido) else { return true };
    match favored.chave.and_then(text) {
        Some(value) => PixKey::parse_as(&value, key.key_type()).is_ok_and(|value| value == *key),
        None => part::<Identity<'_>>(favored.conta_banco).is_none(),
    }
}

fn recipient(sent: &Sent<'_>) -> Recipient {
    let favored: Option<Favored<'_>> = part(sent.favorecido);
    let identity =
        favored.and_then(|favored| part::<Identity<'_>>(favored.identificacao).or_else(|| part(favored.conta_banco)));
    let Some(identity) = identity else { return Recipient::default() };
    let shown = |value: Option<&RawValue>, max| value.and_then(text).and_then(|text| line(&text, max));
    // Efí usually masks a CPF. An unmasked CPF is masked here.
    let cpf = shown(identity.cpf, MAX_DOCUMENT_CHARS).map(|value| match Cpf::parse(&value) {
        Ok(cpf) => cpf.masked(),
        Err(_) => value,
    });
    Recipient {
        name: shown(identity.nome, MAX_NAME_CHARS),
        document: cpf.or_else(|| shown(identity.cnpj, MAX_DOCUMENT_CHARS)),
    }
}

/// Parses a returned part; `None` for a pending or failed return.
fn returned_part(value: &RawValue) -> Result<Option<ReturnedPart>, Unusable> {
    let back: SentReturn<'_> = part(Some(value)).ok_or(Unusable)?;
    match back.status.and_then(text).as_deref() {
        None | Some("DEVOLVIDO") => {}
        Some("EM_PROCESSAMENTO" | "NAO_REALIZADO") => return Ok(None),
        Some(_) => return Err(Unusable),
    }
    let return_id = back.rtr_id.and_then(text).and_then(|text| ReturnId::parse(&text).ok());
    let amount = back.valor.and_then(amount);
    let at = back.horario.and_then(returned_at);
    let part = return_id.zip(amount).zip(at);
    part.map(|((return_id, amount), at)| Some(ReturnedPart { return_id, amount, at })).ok_or(Unusable)
}

/// Returns the instant of a return. If the value is an object, returns the instant of the settlement. If that instant is
/// unreadable, returns the instant of the request.
fn returned_at(value: &RawValue) -> Option<Timestamp> {
    if let Some(single) = text(value) {
        return instant(&single);
    }
    let times: Times<'_> = part(Some(value))?;
    let read = |value: Option<&RawValue>| value.and_then(text).as_deref().and_then(instant);
    read(times.liquidacao).or_else(|| read(times.solicitacao))
}
