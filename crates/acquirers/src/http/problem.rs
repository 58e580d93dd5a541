//! What a refusal says of itself: RFC 7807 as the API Pix uses it, or the `nome` and `mensagem` that some institutions answer.

use std::fmt;

use serde::Deserialize;

use super::exchange::Reply;

/// Longest piece of an answer that is repeated in a reason, in characters.
const MAX_PIECE_CHARS: usize = 120;
/// Violations that are repeated.
const MAX_VIOLATIONS: usize = 3;
/// The type of a problem without one (RFC 7807, 4.2).
const BLANK_TYPE: &str = "about:blank";

#[derive(Deserialize)]
struct Wire {
    r#type: Option<String>,
    title: Option<String>,
    detail: Option<String>,
    nome: Option<String>,
    mensagem: Option<String>,
    #[serde(default)]
    violacoes: Option<Vec<Violation>>,
}

/// The offending value is left out: it may be a person's.
#[derive(Deserialize)]
struct Violation {
    razao: Option<String>,
    propriedade: Option<String>,
}

/// A refusal that names itself. `Display` is one bounded line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Last part of `type`, or `nome`; `None` when it has only a title, as web servers' own answers have.
    kind: Option<String>,
    text: String,
    /// Its explanation: compared with words that are known, and never repeated, because it may name a person.
    detail: String,
}

impl Problem {
    /// Reads the problem of an answer; `None` when there is none that names what was refused.
    pub(crate) fn read(reply: &Reply) -> Option<Self> {
        if !reply.is_json {
            return None;
        }
        let wire: Wire = serde_json::from_slice(&reply.body).ok()?;
        let kind = wire
            .r#type
            .filter(|kind| kind != BLANK_TYPE)
            .and_then(|kind| kind.rsplit('/').next().map(piece))
            .or_else(|| wire.nome.as_deref().map(piece))
            .filter(|kind| !kind.is_empty());
        let mut text: Vec<String> = wire.title.or(wire.mensagem).as_deref().map(piece).into_iter().collect();
        for violation in wire.violacoes.iter().flatten().take(MAX_VIOLATIONS) {
            let property = violation.propriedade.as_deref().map(piece);
            let reason = violation.razao.as_deref().map(piece);
            text.push(format!("{} ({})", property.unwrap_or_default(), reason.unwrap_or_default()));
        }
        let text = text.join("; ");
        let detail = wire.detail.as_deref().map(piece).unwrap_or_default();
        (kind.is_some() || !text.is_empty()).then_some(Self { kind, text, detail })
    }

    /// Whether it says what it is, and not only that something is.
    pub(crate) fn is_typed(&self) -> bool {
        self.kind.is_some()
    }

    /// Whether it says what it is, and that is this.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Returns true when the problem's kind is exactly one of `kinds`.
    pub(crate) fn is_one_of(&self, kinds: &[&str]) -> bool {
        self.kind.as_deref().is_some_and(|kind| kinds.contains(&kind))
    }

    /// Whether one of these words, in lower case, is in what it says in whatever case.
    pub(crate) fn mentions(&self, words: &[&str]) -> bool {
        [&self.text, &self.detail]
            .into_iter()
            .map(|said| said.to_lowercase())
            .any(|said| words.iter().any(|word| said.contains(word)))
    }

    /// What a merchant may read: the words, or the kind when there are none.
    pub(crate) fn message(&self) -> &str {
        if self.text.is_empty() { self.kind.as_deref().unwrap_or_default() } else { &self.text }
    }
}

/// A bounded, single-line copy.
fn piece(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(MAX_PIECE_CHARS)
        .collect::<String>()
        .trim()
        .to_owned()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) if self.text.is_empty() => f.write_str(kind),
            Some(kind) => write!(f, "{kind}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::{Problem, Reply};

    fn shown(is_json: bool, body: &str) -> Option<String> {
        let reply = Reply { status: StatusCode::BAD_REQUEST, is_json, date: None, body: body.as_bytes().to_vec() };
        Problem::read(&reply).map(|problem| problem.to_string())
    }

    #[test]
    fn only_an_answer_that_names_its_refusal_is_a_problem() {
        let full = r#"{"type":"https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida","title":"Cobrança inválida.","status":400,
            "detail":"of 12345678909","violacoes":[{"razao":"too small","propriedade":"valor.original","valor":"0.00"}]}"#;
        for (is_json, body, wanted) in [
            (true, full, Some("CobOperacaoInvalida: Cobrança inválida.; valor.original (too small)")),
            (true, r#"{"nome":"txid_duplicado","mensagem":"in\nuse"}"#, Some("txid_duplicado: in use")),
            (true, r#"{"type":"about:blank","title":"Bad Request"}"#, Some("Bad Request")),
            (true, r#"{"type":"about:blank"}"#, None),
            (true, r#"{"message":"Forbidden"}"#, None),
            (true, "{}", None),
            (true, r#"{"type":"https://x/Cob"#, None),
            (true, "<html>", None),
            (false, full, None),
        ] {
            assert_eq!(shown(is_json, body).as_deref(), wanted, "{body}");
        }
    }

    #[test]
    fn a_problem_is_repeated_only_so_far() {
        let body = format!(r#"{{"nome":"{0}","mensagem":"{0}"}}"#, "x".repeat(10_000));
        assert!(shown(true, &body).is_some_and(|text| text.len() < 300));
    }
}
