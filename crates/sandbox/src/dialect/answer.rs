//! Answers of a dialect: their instants, their statuses, and deliberate defects.

use actix_web::{
    body::{BoxBody, to_bytes},
    dev::ServiceResponse,
    http::{
        Method, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
    },
};
use jiff::{
    Timestamp,
    tz::{Offset, TimeZone},
};
use serde_json::{Map, Value, json};

use super::{Defect, Dialect};

/// The names of the fields whose values are instants.
const INSTANTS: [&str; 6] = ["criacao", "horario", "liquidacao", "solicitacao", "inicio", "fim"];
/// The path of the list of charges, with which the path of each charge begins.
const CHARGES: &str = "/v2/cob";

/// An answer that is changed into the form of the dialect.
struct Answer<'a> {
    method: &'a Method,
    path: &'a str,
    status: StatusCode,
    body: Value,
}

/// Changes an answer of this institution into one of the dialect, with the dialect's defect.
pub async fn translate(response: ServiceResponse<BoxBody>, dialect: &Dialect) -> ServiceResponse<BoxBody> {
    let (request, response) = response.into_parts();
    let (mut head, body) = response.into_parts();
    let bytes = to_bytes(body).await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let (path, method) = (request.path().to_owned(), request.method().clone());
    let mut answer = Answer { method: &method, path: &path, status: head.status(), body };
    if dialect.refuses_taken_txid && answer.status == StatusCode::CONFLICT && answer.is_charge() {
        answer.status = StatusCode::BAD_REQUEST;
        answer.body = json!({
            "type": "https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida",
            "title": "Cobrança inválida.", "status": 400, "detail": "The txid is taken.",
        });
    }
    if dialect.local_dates {
        each_instant(&mut answer.body, &local);
    }
    if let Some(defect) = dialect.defect {
        answer.add_defect(defect);
    }
    let is_html = dialect.defect == Some(Defect::HtmlProblem) && answer.status.is_client_error();
    let bytes = match (is_html, answer.body.is_null()) {
        (true, _) => b"<html><body>error</body></html>".to_vec(),
        (false, true) => bytes.to_vec(),
        (false, false) => answer.body.to_string().into_bytes(),
    };
    *head.status_mut() = answer.status;
    let kind = if is_html { "text/html" } else { "application/json" };
    if !bytes.is_empty() && (is_html || answer.status.is_success()) {
        head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    head.headers_mut().remove(CONTENT_LENGTH);
    ServiceResponse::new(request, head.set_body(BoxBody::new(bytes)))
}

impl Answer<'_> {
    fn is_charge(&self) -> bool {
        self.path.strip_prefix(CHARGES).is_some_and(|rest| rest.starts_with('/'))
    }

    fn object(&mut self) -> Option<&mut Map<String, Value>> {
        self.body.as_object_mut()
    }

    /// Adds the defect to the answer, if the defect concerns this answer.
    fn add_defect(&mut self, defect: Defect) {
        let is_charge = self.is_charge() && self.status.is_success();
        let is_return = self.path.contains("/devolucao/");
        match defect {
            Defect::WrongStatus if is_charge && *self.method == Method::PUT => self.status = StatusCode::OK,
            Defect::ReturnStatus if is_return && *self.method == Method::PUT => self.status = StatusCode::OK,
            Defect::MissingField if is_charge => {
                let calendar = self.body.get_mut("calendario").and_then(Value::as_object_mut);
                calendar.and_then(|calendar| calendar.remove("criacao"));
            }
            Defect::WrongDateFormat => each_instant(&mut self.body, &day_first),
            Defect::NumberForText => each_amount(&mut self.body),
            Defect::OtherTxid if is_charge => self.set("txid", json!("z".repeat(32))),
            Defect::OtherAmount if is_charge => self.set("valor", json!({ "original": "99.99" })),
            Defect::UnknownStatus if is_charge => self.set("status", json!("EXPIRADA")),
            Defect::CancelIgnored if is_charge => self.set("status", json!("ATIVA")),
            Defect::WrongChecksum if is_charge => {
                let code = self.body.get("pixCopiaECola").and_then(Value::as_str).map(|code| format!("{code}0"));
                if let Some(code) = code {
                    self.set("pixCopiaECola", code.into());
                }
            }
            Defect::NoPagination => {
                let parameters = self.body.get_mut("parametros").and_then(Value::as_object_mut);
                parameters.and_then(|parameters| parameters.remove("paginacao"));
            }
            Defect::EmptyList if self.path == CHARGES => self.set("cobs", json!([])),
            Defect::WebhookNotRegistered if self.path.starts_with("/v2/webhook/") && *self.method == Method::GET => {
                self.status = StatusCode::NOT_FOUND;
                self.body = json!({
                    "type": "https://pix.bcb.gov.br/api/v2/error/WebhookNaoEncontrado",
                    "title": "Webhook não encontrado.", "status": 404,
                });
            }
            Defect::TokenWithoutLife if self.path == "/oauth/token" => {
                self.object().and_then(|token| token.remove("expires_in"));
            }
            Defect::PixWithoutId => {
                let rows = self.body.get_mut("pix").and_then(Value::as_array_mut);
                for row in rows.into_iter().flatten().filter_map(Value::as_object_mut) {
                    row.remove("endToEndId");
                }
            }
            // The guards above show that the defect does not concern this answer.
            Defect::WrongStatus
            | Defect::ReturnStatus
            | Defect::MissingField
            | Defect::OtherTxid
            | Defect::OtherAmount
            | Defect::UnknownStatus
            | Defect::CancelIgnored
            | Defect::WrongChecksum
            | Defect::EmptyList
            | Defect::WebhookNotRegistered
            | Defect::TokenWithoutLife
            // For this defect, `translate` replaces the body.
            | Defect::HtmlProblem => {}
        }
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Some(object) = self.object().filter(|object| object.contains_key(field)) {
            object.insert(field.to_owned(), value);
        }
    }
}

/// Replaces every instant in `value` by its text in `form`.
fn each_instant(value: &mut Value, form: &impl Fn(Timestamp) -> String) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().and_then(|text| text.parse().ok()) {
                    Some(at) if INSTANTS.contains(&name.as_str()) => *value = form(at).into(),
                    Some(_) | None => each_instant(value, form),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| each_instant(value, form)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces the text of every amount in `value` by a JSON number.
fn each_amount(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let number = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                match number.filter(Value::is_number) {
                    Some(number) if ["original", "valor"].contains(&name.as_str()) => *value = number,
                    Some(_) | None => each_amount(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(each_amount),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the time of Brasília without an offset.
fn local(at: Timestamp) -> String {
    at.to_zoned(TimeZone::fixed(Offset::constant(-3))).strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string()
}

/// Returns an instant in the form `DD/MM/YYYY hh:mm:ss`.
fn day_first(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%d/%m/%Y %H:%M:%S").to_string()
}
