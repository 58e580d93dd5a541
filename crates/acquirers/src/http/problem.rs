//! The content of a refusal. Four shapes are read:
//!
//! - RFC 7807, as the API Pix uses it
//! - `nome` and `mensagem`
//! - `nome`, `mensagem`, and in `erros` the violations of a schema
//! - `error` and `error_description` (RFC 6749, 5.2)

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::exchange::Reply;
use super::json::{part, text};

/// The longest text of an answer that a [`Problem`] keeps, in characters. Longer texts are cut.
const MAX_PIECE_CHARS: usize = 120;
/// The largest number of violations that a [`Problem`] keeps.
const MAX_VIOLATIONS: usize = 3;
/// The `type` that stands for a problem without a type (RFC 7807, 4.2).
const BLANK_TYPE: &str = "about:blank";

#[derive(Deserialize)]
struct Wire<'a> {
    r#type: Option<String>,
    title: Option<String>,
    detail: Option<String>,
    nome: Option<String>,
    mensagem: Option<String>,
    violacoes: Option<Vec<Violation>>,
    // The next three fields are parsed leniently, because other servers use the same names for other values.
    #[serde(borrow)]
    erros: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    error_description: Option<&'a RawValue>,
}

/// An item of `violacoes`. Its field `valor` is not read, because the value may be personal data.
#[derive(Deserialize)]
struct Violation {
    razao: Option<String>,
    propriedade: Option<String>,
}

/// An item of `erros`: a violation of a schema.
#[derive(Deserialize)]
struct SchemaError {
    caminho: Option<String>,
    mensagem: Option<String>,
}

/// A named refusal. `Display` is one bounded line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The kind: the last part of `type`, or `nome`, or `error`. `None` if the answer has only a title, as answers of web servers do.
    kind: Option<String>,
    text: String,
    /// The field `detail`. The text is searched for known words but never shown, because it may name a person.
    detail: String,
}

impl Problem {
    /// Reads the problem of an answer; `None` if the answer names no refusal.
    pub(crate) fn read(reply: &Reply) -> Option<Self> {
        if !reply.is_json {
            return None;
        }
        let wire: Wire<'_> = serde_json::from_slice(&reply.body).ok()?;
        // `error` without a description may be the text of any web server, so it does not count.
        let description = wire.error_description.and_then(text);
        let error = wire.error.and_then(text).filter(|_| description.is_some());
        let kind = wire
            .r#type
            .filter(|kind| kind != BLANK_TYPE)
            .and_then(|kind| kind.rsplit('/').next().map(piece))
            .or_else(|| wire.nome.or(error).as_deref().map(piece))
            .filter(|kind| !kind.is_empty());
        let title = wire.title.or(wire.mensagem).or(description.filter(|_| kind.is_some()));
        let mut texts: Vec<String> = title.as_deref().map(piece).into_iter().collect();
        let violations = wire.violacoes.iter().flatten().map(|found| (&found.propriedade, &found.razao));
        let errors: Vec<SchemaError> = part(wire.erros).unwrap_or_default();
        let errors = errors.iter().map(|found| (&found.caminho, &found.mensagem));
        for (property, reason) in violations.chain(errors).take(MAX_VIOLATIONS) {
            let shown = |text: &Option<String>| text.as_deref().map(piece).unwrap_or_default();
            texts.push(format!("{} ({})", shown(property), shown(reason)));
        }
        let text = texts.join("; ");
        let detail = wire.detail.as_deref().map(piece).unwrap_or_default();
        (kind.is_some() || !text.is_empty()).then_some(Self { kind, text, detail })
    }

    /// Creates a problem from an answer of another shape.
    pub(crate) fn new(kind: &str, text: &str) -> Self {
        Self { kind: Some(piece(kind)), text: piece(text), detail: String::new() }
    }

    /// Returns whether the problem has a kind.
    pub(crate) fn is_typed(&self) -> bool {
        self.kind.is_some()
    }

    /// Returns whether the problem is of this kind.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Returns whether the problem's kind is exactly one of `kinds`.
    pub(crate) fn is_one_of(&self, kinds: &[&str]) -> bool {
        self.kind.as_deref().is_some_and(|kind| kinds.contains(&kind))
    }

    /// Returns whether the kind or a text contains one of `words`, in upper or lower case. `words` must be in lower case.
    pub(crate) fn mentions(&self, words: &[&str]) -> bool {
        let kind = self.kind.as_deref().unwrap_or_default();
        [kind, &self.text, &self.detail]
            .into_iter()
            .map(str::to_lowercase)
            .any(|text| words.iter().any(|word| text.contains(word)))
    }

    /// Returns the text for merchants, or the kind if there is no text.
    pub(crate) fn message(&self) -> &str {
        if self.text.is_empty() { self.kind.as_deref().unwrap_or_default() } else { &self.text }
    }
}

/// Returns a bounded, single-line copy.
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
    fn answer_without_named_refusal_is_no_problem() {
        let full = r#"{"type":"https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida","title":"Cobrança inválida.","status":400,
            "detail":"of 12345678909","violacoes":[{"razao":"too small","propriedade":"valor.original","valor":"0.00"}]}"#;
        for (is_json, body, wanted) in [
            (true, full, Some("CobOperacaoInvalida: Cobrança inválida.; valor.original (too small)")),
            (true, r#"{"nome":"txid_duplicado","mensagem":"in\nuse"}"#, Some("txid_duplicado: in use")),
            (
                true,
                r#"{"nome":"json_invalido","mensagem":"Inválido.","erros":[{"chave":"type","caminho":".body.valor","mensagem":"is no string"},{}]}"#,
                Some("json_invalido: Inválido.; .body.valor (is no string);  ()"),
            ),
            (
                true,
                r#"{"error":"insufficient_scope","error_description":"needs pix.send"}"#,
                Some("insufficient_scope: needs pix.send"),
            ),
            (true, r#"{"error":"Not Found","message":"no route","statusCode":404}"#, None),
            (true, r#"{"error_description":"needs pix.send"}"#, None),
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
    fn problem_text_is_bounded() {
        let body = format!(r#"{{"nome":"{0}","mensagem":"{0}"}}"#, "x".repeat(10_000));
        assert!(shown(true, &body).is_some_and(|text| text.len() < 300));
    }
}
