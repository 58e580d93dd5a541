//! Lists infractions (MED). Unreadable rows are skipped and reported, so that they do not delay the blocks of other infractions.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_ports::{
    AcquirerError, ListRequest, UpstreamDefense, UpstreamInfraction, UpstreamInfractionStatus, UpstreamPage,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::read::amount;
use crate::bacen::api::Api;
use crate::bacen::list::{self, Rows};
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::http::{Defect, folded, instant, part, text};

/// The longest accepted `idInfracao`, in characters. A UUID has 36.
const MAX_ID_CHARS: usize = 64;
/// The longest kept reason, in characters: the limit of DICT.
const MAX_REASON_CHARS: usize = 2_000;
/// The longest kept defense, in characters. The longest defense that we send, with the address of its evidence, is shorter.
const MAX_DEFENSE_CHARS: usize = 4_000;

/// A row. Texts may be strings or numbers: Efí's documents show strings, and its newest client uses numbers.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "idInfracao")]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "dataTransacao")]
    paid_at: Option<&'a RawValue>,
    valor: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    razao: Option<&'a RawValue>,
    #[serde(borrow, rename = "tipoSituacao")]
    situation: Option<&'a RawValue>,
    comentario: Option<&'a RawValue>,
    defesa: Option<&'a RawValue>,
    #[serde(borrow, rename = "dadosAnalise")]
    analysis: Option<&'a RawValue>,
    #[serde(borrow, rename = "criadoEm")]
    created_at: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Analysis<'a> {
    #[serde(borrow)]
    abertura: Option<&'a RawValue>,
    #[serde(borrow, rename = "prazoFinalizacao")]
    deadline: Option<&'a RawValue>,
    #[serde(borrow, rename = "recebimentoDefesa")]
    defended: Option<&'a RawValue>,
    finalizacao: Option<&'a RawValue>,
}

/// Requests `GET /v2/gn/infracoes`.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
    let row = |at: &str, row: &RawValue| read(at, row).map(Some);
    list::page(api, ("/v2/gn/infracoes", Rows::Infractions), request, deadline, row).await
}

/// Parses a row. Errors contain the position of the row. Fields that affect money are required; the others are optional.
fn read(at: &str, row: &RawValue) -> Result<UpstreamInfraction, Defect> {
    let row: Row<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(at, "cannot be read"))?;
    let id =
        row.id.and_then(id).ok_or_else(|| Defect::mismatch(&format!("{at}.idInfracao"), "is not an infraction id"))?;
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{at} {id} {field}"), what);
    let end_to_end_id = row.end_to_end_id.and_then(text).and_then(|text| EndToEndId::parse(&text).ok());
    let end_to_end_id = end_to_end_id.ok_or_else(|| wrong("endToEndId", "is not an end-to-end id"))?;
    let amount = row.valor.and_then(amount).ok_or_else(|| wrong("valor", "is not an amount"))?;
    let status = row.status.and_then(text).as_deref().and_then(status);
    let status = status.ok_or_else(|| wrong("status", "is not a known status"))?;
    let analysis: Option<Analysis<'_>> = part(row.analysis);
    let analysis = analysis.as_ref();
    // Only `dadosAnalise.abertura` shows a reopening. If the field is missing, another instant of the row is used.
    let reported_at = at_of(analysis.and_then(|analysis| analysis.abertura));
    let opened_at = reported_at
        .or_else(|| at_of(row.created_at))
        .or_else(|| at_of(row.paid_at))
        .ok_or_else(|| wrong("dadosAnalise.abertura", "is not an instant"))?;
    let shown = |value: Option<&RawValue>| value.and_then(text).and_then(|text| line(&text, MAX_REASON_CHARS));
    let reason = shown(row.comentario).or_else(|| shown(row.razao));
    let situation = row.situation.and_then(text).map_or(Situation::Unknown, |word| situation(&word));
    let defense_text = row.defesa.and_then(text).as_deref().and_then(defense_text);
    let defended_at = at_of(analysis.and_then(|analysis| analysis.defended));
    let is_defended = defense_text.is_some() || defended_at.is_some() || status == UpstreamInfractionStatus::Defended;
    Ok(UpstreamInfraction {
        id,
        end_to_end_id,
        amount,
        status,
        reason,
        situation,
        opened_at,
        opened_at_is_reported: reported_at.is_some(),
        deadline_at: at_of(analysis.and_then(|analysis| analysis.deadline)),
        defense: is_defended.then_some(UpstreamDefense { text: defense_text, received_at: defended_at }),
        resolved_at: at_of(analysis.and_then(|analysis| analysis.finalizacao)),
    })
}

/// Returns the id of an infraction. The id becomes part of a path and of our identifiers, so special characters are
/// refused.
pub(super) fn id(value: &RawValue) -> Option<String> {
    text(value).filter(|id| is_id(id))
}

/// Returns whether the text can be the id of an infraction.
pub(crate) fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=MAX_ID_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

fn at_of(value: Option<&RawValue>) -> Option<Timestamp> {
    value.and_then(text).as_deref().and_then(instant)
}

/// Returns the status; `None` for an unknown name. `ACEITA` and `REJEITADA` refer to the payer's dispute, not to the defense.
fn status(word: &str) -> Option<UpstreamInfractionStatus> {
    match word {
        "ABERTA" => Some(UpstreamInfractionStatus::Open),
        "EM_DEFESA" => Some(UpstreamInfractionStatus::Defended),
        "ACEITA" => Some(UpstreamInfractionStatus::Accepted),
        "REJEITADA" => Some(UpstreamInfractionStatus::Rejected),
        "CANCELADA_EFI" => Some(UpstreamInfractionStatus::Cancelled),
        _ => None,
    }
}

/// Parses the Portuguese names of situations, in upper or lower case and with or without accents, and DICT's names.
pub(crate) fn situation(word: &str) -> Situation {
    match folded(word).as_str() {
        "golpe" | "scam" => Situation::Scam,
        "aquisicao da conta" | "account_takeover" => Situation::AccountTakeover,
        "coercao" | "coercion" => Situation::Coercion,
        "acesso fraudulento" | "fraudulent_access" => Situation::FraudulentAccess,
        "outro" | "other" => Situation::Other,
        _ => Situation::Unknown,
    }
}

/// Returns the text of a defense, cut to [`MAX_DEFENSE_CHARS`]. The line breaks stay, because the text is compared with the
/// text that we sent. Other control characters become blanks.
fn defense_text(text: &str) -> Option<String> {
    let harmless = |letter: char| if letter.is_control() && !matches!(letter, '\n' | '\r') { ' ' } else { letter };
    let kept: String = text.chars().take(MAX_DEFENSE_CHARS).map(harmless).collect();
    (!kept.trim().is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use cais_domain::infraction::Situation;

    use super::{defense_text, is_id, situation};

    #[test]
    fn situation_is_parsed_in_every_spelling() {
        for (word, wanted) in [
            ("golpe", Situation::Scam),
            (" GOLPE ", Situation::Scam),
            ("aquisição da conta", Situation::AccountTakeover),
            ("AQUISIÇÃO DA CONTA", Situation::AccountTakeover),
            ("aquisicao da conta", Situation::AccountTakeover),
            ("coerc\u{327}a\u{303}o", Situation::Coercion),
            ("Coerção", Situation::Coercion),
            ("acesso fraudulento", Situation::FraudulentAccess),
            ("outro", Situation::Other),
            ("desconhecido", Situation::Unknown),
            ("SCAM", Situation::Scam),
            ("ACCOUNT_TAKEOVER", Situation::AccountTakeover),
            ("COERCION", Situation::Coercion),
            ("FRAUDULENT_ACCESS", Situation::FraudulentAccess),
            ("OTHER", Situation::Other),
            ("UNKNOWN", Situation::Unknown),
            ("raio", Situation::Unknown),
            ("", Situation::Unknown),
        ] {
            assert_eq!(situation(word), wanted, "{word}");
        }
    }

    #[test]
    fn infraction_id_with_special_characters_is_refused() {
        let (longest, longer) = ("a".repeat(64), "a".repeat(65));
        for (text, wanted) in [
            ("cd158e6b-9db3-4a6e-a0b4-c0b4c7d3f1a2", true),
            ("7", true),
            (longest.as_str(), true),
            (longer.as_str(), false),
            ("", false),
            ("..", false),
            ("a/b", false),
            ("a b", false),
            ("é", false),
        ] {
            assert_eq!(is_id(text), wanted, "{text}");
        }
    }

    #[test]
    fn defense_text_keeps_line_breaks_and_is_bounded() {
        assert_eq!(defense_text("a\r\nb\u{0}\tc").as_deref(), Some("a\r\nb  c"));
        assert_eq!(defense_text(" \n"), None);
        assert_eq!(defense_text(&"é".repeat(5_000)).map(|text| text.chars().count()), Some(4_000));
    }
}
