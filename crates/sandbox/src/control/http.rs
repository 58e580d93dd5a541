//! The control interface over HTTP, under `/sandbox/`. The interface has no authentication, because the server listens
//! on loopback only.

use std::time::Duration;

use actix_web::{HttpResponse, http::StatusCode, web};
use cais_domain::{end_to_end_id::EndToEndId, money::Money, txid::Txid};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Control, ControlError};
use crate::{
    dialect::Dialect,
    efi::views,
    faults::{DEFAULT_LATENCY, Fault, FaultMode, FaultTarget},
    payments::PaidPix,
    pix::{
        Shared, body, json as answer,
        problem::{Kind, Problem},
    },
    wire,
};

/// The value of `acquirer` in `PUT /sandbox/faults` for the crypto processor.
const CRYPTO: &str = "crypto";

/// The value of `acquirer` in `PUT /sandbox/faults` for Woovi's API.
const WOOVI: &str = "woovi";

/// The value of `acquirer` in `PUT /sandbox/faults` for the PTAX service.
const PTAX: &str = "ptax";

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::NotFound(_) => Self::new(Kind::NotFound, error.to_string()),
            ControlError::InvalidState(_) => Self::new(Kind::Conflict, error.to_string()),
            ControlError::OutOfRange { field } => Self::violation(Kind::InvalidRequest, field, "is out of range", ""),
            ControlError::Store(error) => error.into(),
            ControlError::Id => Self::new(Kind::InternalError, error.to_string()),
        }
    }
}

pub(crate) fn control(psp: &Shared) -> Control {
    Control::new(psp.get_ref().clone())
}

/// Parses a JSON body. An empty body counts as an empty object.
pub(crate) async fn read<T: DeserializeOwned>(payload: web::Payload) -> Result<T, Problem> {
    let bytes = body::bytes(payload).await?;
    let bytes = if bytes.is_empty() { &b"{}"[..] } else { &bytes[..] };
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::violation(Kind::InvalidRequest, "body", &error.to_string(), ""))
}

/// Returns the txid of the charge whose txid or `correlationID` is `id`.
fn txid(psp: &Shared, id: &str) -> Result<Txid, Problem> {
    let found = psp.read().books().find_named_cob(id).and_then(|(_, cob)| Txid::parse(&cob.txid).ok());
    found.ok_or_else(|| Problem::new(Kind::NotFound, "the charge does not exist"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AmountBody {
    valor: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaidView<'a> {
    end_to_end_id: &'a str,
    txid: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    #[serde(serialize_with = "wire::serialize_instant")]
    horario: Timestamp,
}

/// `POST /sandbox/cob/{txid}/pay` `{valor?}`: pays `valor`, by default the charge's amount; 200 with the Pix. The path may contain the
/// charge's `correlationID` of Woovi's API instead of the txid.
///
/// # Errors
/// 404 for an unknown txid, 400 for a bad amount.
pub async fn pay(path: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: AmountBody = read(payload).await?;
    let amount = body.valor.as_ref().map(|value| amount("valor", value)).transpose()?;
    let PaidPix { end_to_end_id, txid, amount, paid_at } = control(&psp).pay(&txid(&psp, &path)?, amount)?;
    let view = PaidView { end_to_end_id: end_to_end_id.as_str(), txid: txid.as_str(), valor: amount, horario: paid_at };
    answer(StatusCode::OK, &view)
}

/// Parses an amount with at most two decimals from a JSON string or number.
pub(super) fn amount(field: &str, value: &Value) -> Result<Money, Problem> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    wire::parse_lenient_amount(&text).ok_or_else(|| {
        let reason = "must be an amount with at most two decimals";
        Problem::violation(Kind::InvalidRequest, field, reason, &value.to_string())
    })
}

/// `POST /sandbox/cob/{txid}/expire`: moves the charge's expiry into the past; 204.
///
/// # Errors
/// 404 for an unknown txid.
pub async fn expire(path: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    control(&psp).expire(&txid(&psp, &path)?)?;
    Ok(HttpResponse::NoContent().finish())
}

/// `POST /sandbox/pix/{e2eid}/devolucao/{id}/fail`: ends the return as `NAO_REALIZADO`; 204.
///
/// # Errors
/// 404 for an unknown Pix or return, 409 if the return is final.
pub async fn fail_refund(path: web::Path<(String, String)>, psp: Shared) -> Result<HttpResponse, Problem> {
    let (e2eid, id) = path.into_inner();
    let e2eid = EndToEndId::parse(&e2eid).map_err(|_| Problem::new(Kind::NotFound, "the Pix does not exist"))?;
    control(&psp).fail_refund(&e2eid, &id)?;
    Ok(HttpResponse::NoContent().finish())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SentReturnView<'a> {
    id_envio: &'a str,
    #[serde(flatten)]
    back: views::SentReturnView<'a>,
}

/// `POST /sandbox/sent/{idEnvio}/return` `{valor?}`: simulates that the recipient returns `valor` of the sent Pix, by default the part that
/// is not returned yet; 200 with the return.
///
/// # Errors
/// 404 for an unknown `idEnvio`, 409 if the Pix is not `REALIZADO` or was returned in full, 400 for a bad amount.
pub async fn return_sent(id: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: AmountBody = read(payload).await?;
    let amount = body.valor.as_ref().map(|value| amount("valor", value)).transpose()?;
    let back = control(&psp).return_sent(&id, amount)?;
    answer(StatusCode::OK, &SentReturnView { id_envio: &id, back: views::sent_return(&back) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BalanceBody {
    saldo: Value,
}

/// `PUT /sandbox/saldo` `{saldo}`: sets the account's balance; 200 with the balance.
///
/// # Errors
/// 400 for a bad amount.
pub async fn balance(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: BalanceBody = read(payload).await?;
    let balance = amount("saldo", &body.saldo)?;
    control(&psp).set_balance(balance)?;
    answer(StatusCode::OK, &json!({ "saldo": balance.to_string() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultsBody {
    mode: FaultMode,
    latency_ms: Option<u64>,
    acquirer: Option<String>,
    path: Option<String>,
}

/// `PUT /sandbox/faults` `{mode, latency_ms?, acquirer?, path?}`: sets the fault of one system; 200 with `mode` and `latency_ms`.
///
/// `acquirer` names the system: `crypto`, `ptax` or `woovi`. Any other name means the institution, and so does an absent `acquirer`. With
/// `path`, only requests whose path contains that text have the fault.
///
/// # Errors
/// 400 for an unknown mode or a latency above a minute.
pub async fn faults(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: FaultsBody = read(payload).await?;
    let target = match body.acquirer.as_deref() {
        Some(CRYPTO) => FaultTarget::Crypto,
        Some(PTAX) => FaultTarget::Ptax,
        Some(WOOVI) => FaultTarget::Woovi,
        Some(_) | None => FaultTarget::Institution,
    };
    let latency = body.latency_ms.map_or(DEFAULT_LATENCY, Duration::from_millis);
    control(&psp).set_faults_of(target, Fault { mode: body.mode, latency }, body.path.as_deref())?;
    let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    answer(StatusCode::OK, &json!({ "mode": body.mode, "latency_ms": latency_ms }))
}

/// `PUT /sandbox/dialect`: sets the dialect of the API Pix; 200 with that dialect. An empty object restores the institution's own dialect.
///
/// # Errors
/// 400 for an unknown field.
pub async fn dialect(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let dialect: Dialect = read(payload).await?;
    control(&psp).set_dialect(dialect.clone());
    answer(StatusCode::OK, &dialect)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockBody {
    offset_s: i64,
}

/// `PUT /sandbox/clock` `{offset_s}`: sets the offset of the simulator's clock; 200 with the simulated instant.
///
/// # Errors
/// 400 for an offset of more than about ten years in either direction.
pub async fn clock(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: ClockBody = read(payload).await?;
    control(&psp).set_clock_offset(body.offset_s)?;
    answer(StatusCode::OK, &json!({ "offset_s": body.offset_s, "now": wire::instant(psp.clock.now()) }))
}

/// `GET /sandbox/ledger`: applies the changes that are due by now; 200 with the ledger.
///
/// # Errors
/// 500 if these changes cannot be recorded.
pub async fn ledger(psp: Shared) -> Result<HttpResponse, Problem> {
    answer(StatusCode::OK, &control(&psp).ledger()?)
}
