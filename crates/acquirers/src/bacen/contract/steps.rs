//! The steps of a trial.

use std::time::Duration;

use cais_ports::AcquirerError;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use super::rules::{MASK, Rule, field, is_masked, problem, status};
use super::{ContractStep, ContractTrial};
use crate::bacen::api::{Api, CallbackHeader};
use crate::bacen::wire::REMOVED_BY_US;
use crate::deadline::Deadline;
use crate::http::{Reply, encode_segment};

/// The amount of the test charge.
const AMOUNT: &str = "1.00";
/// The amount of the test refund.
const REFUND: &str = "0.01";
/// The time limit of one request.
const STEP: Duration = Duration::from_secs(15);
/// The list of charges covers this time before and after the trial's instant, because the institution's clock may differ by minutes.
const SPAN: SignedDuration = SignedDuration::from_mins(15);
/// The statuses of a charge.
const STATUSES: [&str; 4] = ["ATIVA", "CONCLUIDA", REMOVED_BY_US, "REMOVIDA_PELO_PSP"];
/// The start of the test address if the service has no callback address. RFC 2606 reserves `.invalid`, so no server receives callbacks
/// there.
const NO_RECEIVER: &str = "https://cais-test.invalid/callbacks";
/// The end of each test address. If the registered address has this end, an interrupted trial left it.
const TEST_END: &str = "?cais-contract-test";
/// A txid that no charge has.
const UNKNOWN: &str = "00000000000000000000000000000000";

pub(super) async fn run(api: &Api, trial: &ContractTrial, header: Option<CallbackHeader>) -> Vec<ContractStep> {
    let mut steps = all(api, trial, header).await;
    let key = encode_segment(api.key().as_str());
    for step in &mut steps {
        step.request = step.request.take().map(|request| request.replace(&*key, MASK));
        [&mut step.request_body, &mut step.answer].into_iter().flatten().for_each(mask);
    }
    steps
}

/// Replaces the values of fields with secrets or personal data, in every depth.
fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if is_masked(name) {
                    *value = MASK.into();
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

async fn all(api: &Api, trial: &ContractTrial, header: Option<CallbackHeader>) -> Vec<ContractStep> {
    let token = token(api).await;
    if token.status != Some(200) {
        return vec![token];
    }
    let mut steps = vec![token, create(api, trial).await, read(api, trial).await, repeat(api, trial).await];
    steps.push(unknown(api).await);
    steps.push(list_charges(api, trial).await);
    steps.extend(webhook(api, trial, header).await);
    steps.push(list_received(api, trial).await);
    steps.extend(match &trial.paid {
        Some(pix) => refund(api, pix.as_str(), trial.txid.as_str()).await,
        None => vec![ContractStep::skipped("refund", "no received Pix was given")],
    });
    steps.push(cancel(api, trial).await);
    steps
}

/// Sends one request, and records it with its answer.
async fn call(api: &Api, name: &'static str, method: Method, path: &str, body: Option<Value>) -> ContractStep {
    call_with(api, name, (method, path), (body, None)).await
}

async fn call_with(
    api: &Api,
    name: &'static str,
    (method, path): (Method, &str),
    (body, header): (Option<Value>, Option<CallbackHeader>),
) -> ContractStep {
    let bytes = body.as_ref().map(|body| body.to_string().into_bytes());
    let mut step = ContractStep {
        name,
        request: Some(format!("{method} {}", api.masked_path(path, MASK))),
        request_body: body,
        status: None,
        answer: None,
        divergences: Vec::new(),
        skipped: None,
    };
    record(&mut step, api.send_trial_request(method, path, (bytes.as_deref(), header), Deadline::after(STEP)).await);
    step
}

fn record(step: &mut ContractStep, reply: Result<Reply, AcquirerError>) {
    match reply {
        Ok(reply) => {
            step.status = Some(reply.status.as_u16());
            let text = || Value::String(String::from_utf8_lossy(&reply.body).chars().take(1_000).collect());
            if !reply.body.is_empty() {
                step.answer = Some(serde_json::from_slice(&reply.body).unwrap_or_else(|_| text()));
                if !reply.is_json {
                    step.diverge("the content type is not JSON");
                }
            }
        }
        Err(error) => step.diverge(format_args!("there is no answer: {error}")),
    }
}

fn answer(step: &ContractStep) -> Value {
    step.answer.clone().unwrap_or(Value::Null)
}

async fn token(api: &Api) -> ContractStep {
    let mut step = ContractStep {
        name: "token",
        request: Some("POST (token address)".to_owned()),
        request_body: None,
        status: None,
        answer: None,
        divergences: Vec::new(),
        skipped: None,
    };
    record(&mut step, api.request_trial_token().await);
    if step.answer.as_ref().is_some_and(Value::is_string) {
        step.answer = Some(MASK.into());
    }
    status(&mut step, &[200]);
    let body = answer(&step);
    if !body.get("access_token").is_some_and(Value::is_string) {
        step.diverge("access_token is missing: RFC 6749 requires it");
    }
    if !body.get("token_type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
        step.diverge("token_type is not Bearer: RFC 6749 requires it");
    }
    field(&mut step, &body, "expires_in", Rule::Number);
    step
}

fn charge(api: &Api) -> Value {
    json!({
        "calendario": { "expiracao": 3600 },
        "valor": { "original": AMOUNT },
        "chave": api.key().as_str(),
        "solicitacaoPagador": "Contract test",
    })
}

fn charge_path(trial: &ContractTrial) -> String {
    format!("/v2/cob/{}", trial.txid)
}

/// Checks the fields of the charge in a successful answer. `status_rule` is the rule of its status.
fn check_charge(step: &mut ContractStep, trial: &ContractTrial, status_rule: Rule<'_>) {
    if !step.status.is_some_and(|status| (200..300).contains(&status)) {
        return;
    }
    let body = answer(step);
    for (path, rule) in [
        ("txid", Rule::Is(trial.txid.as_str())),
        ("status", status_rule),
        ("revisao", Rule::Number),
        ("calendario.criacao", Rule::Instant),
        ("calendario.expiracao", Rule::Number),
        ("valor.original", Rule::Is(AMOUNT)),
        ("chave", Rule::Is(step_key(step).as_str())),
    ] {
        field(step, &body, path, rule);
    }
}

/// Checks the BR Code of the charge in a successful answer.
fn check_code(step: &mut ContractStep) {
    let body = answer(step);
    if step.status.is_some_and(|status| (200..300).contains(&status)) {
        field(step, &body, "pixCopiaECola", Rule::Code);
    }
}

/// Returns the Pix key of the request. If the request has none, returns the key of the answer, so that any key passes.
fn step_key(step: &ContractStep) -> String {
    let of = |body: &Option<Value>| body.as_ref()?.get("chave")?.as_str().map(ToOwned::to_owned);
    of(&step.request_body).or_else(|| of(&step.answer)).unwrap_or_default()
}

async fn create(api: &Api, trial: &ContractTrial) -> ContractStep {
    let mut step = call(api, "create", Method::PUT, &charge_path(trial), Some(charge(api))).await;
    status(&mut step, &[201]);
    check_charge(&mut step, trial, Rule::Is("ATIVA"));
    check_code(&mut step);
    step
}

async fn read(api: &Api, trial: &ContractTrial) -> ContractStep {
    let mut step = call(api, "read", Method::GET, &charge_path(trial), None).await;
    status(&mut step, &[200]);
    check_charge(&mut step, trial, Rule::OneOf(&STATUSES));
    check_code(&mut step);
    step
}

/// Sends the same charge again. Institutions answer with the charge (200 or 201), with a conflict (409), or with a refusal (400).
async fn repeat(api: &Api, trial: &ContractTrial) -> ContractStep {
    let mut step = call(api, "repeat", Method::PUT, &charge_path(trial), Some(charge(api))).await;
    status(&mut step, &[200, 201, 400, 409]);
    if step.status.is_some_and(|status| status >= 400) {
        let body = answer(&step);
        problem(&mut step, &body);
    }
    step
}

async fn unknown(api: &Api) -> ContractStep {
    let mut step = call(api, "read unknown", Method::GET, &format!("/v2/cob/{UNKNOWN}"), None).await;
    status(&mut step, &[404]);
    let body = answer(&step);
    problem(&mut step, &body);
    step
}

/// Checks the paging and the period of a list.
fn check_paging(step: &mut ContractStep) {
    let body = answer(step);
    for name in ["paginaAtual", "itensPorPagina", "quantidadeDePaginas", "quantidadeTotalDeItens"] {
        field(step, &body, &format!("parametros.paginacao.{name}"), Rule::Number);
    }
    for name in ["inicio", "fim"] {
        field(step, &body, &format!("parametros.{name}"), Rule::Instant);
    }
}

/// Returns the query of a list. Its period starts at the trial's instant minus `before`, and ends at that instant plus [`SPAN`].
fn period(trial: &ContractTrial, before: SignedDuration) -> String {
    let from = trial.now.saturating_sub(before).unwrap_or(Timestamp::UNIX_EPOCH);
    let to = trial.now.saturating_add(SPAN).unwrap_or(Timestamp::MAX);
    format!("inicio={from:.0}&fim={to:.0}&paginacao.paginaAtual=0&paginacao.itensPorPagina=100")
}

async fn list_charges(api: &Api, trial: &ContractTrial) -> ContractStep {
    let path = format!("/v2/cob?{}", period(trial, SPAN));
    let mut step = call(api, "list charges", Method::GET, &path, None).await;
    status(&mut step, &[200]);
    check_paging(&mut step);
    let body = answer(&step);
    field(&mut step, &body, "cobs", Rule::Array);
    let rows = body.get("cobs").and_then(Value::as_array);
    let has = |row: &Value| row.get("txid").and_then(Value::as_str) == Some(trial.txid.as_str());
    if !rows.is_some_and(|rows| rows.iter().any(has)) {
        step.diverge("cobs has no row with the txid of the new charge");
    }
    step
}

async fn list_received(api: &Api, trial: &ContractTrial) -> ContractStep {
    let path = format!("/v2/pix?{}", period(trial, SignedDuration::from_hours(24)));
    let mut step = call(api, "list received", Method::GET, &path, None).await;
    status(&mut step, &[200]);
    check_paging(&mut step);
    let body = answer(&step);
    field(&mut step, &body, "pix", Rule::Array);
    for row in body.get("pix").and_then(Value::as_array).into_iter().flatten() {
        field(&mut step, row, "endToEndId", Rule::EndToEndId);
        field(&mut step, row, "valor", Rule::Amount);
        field(&mut step, row, "horario", Rule::Instant);
    }
    step
}

/// Registers the test address, reads it, and registers the previous address again. If there was none, the service's own address is
/// registered. If the service has none either, the test address is removed. If the previous address cannot be read, no address is changed.
async fn webhook(api: &Api, trial: &ContractTrial, header: Option<CallbackHeader>) -> Vec<ContractStep> {
    let path = format!("/v2/webhook/{}", encode_segment(api.key().as_str()));
    let mut before = call(api, "registered webhook", Method::GET, &path, None).await;
    let url = answer(&before).get("webhookUrl").and_then(Value::as_str).map(ToOwned::to_owned);
    let url = match (before.status, url) {
        (Some(404), _) => None,
        (Some(200), Some(url)) => Some(url).filter(|url| !url.ends_with(TEST_END)),
        _ => {
            before.diverge("the registered address cannot be read");
            return vec![before, ContractStep::skipped("webhook", "the registered address could not be restored")];
        }
    };
    let test = format!("{}{TEST_END}", trial.own_url.as_deref().unwrap_or(NO_RECEIVER));
    let set = |url: &str| (Some(json!({ "webhookUrl": url })), header.clone());
    let mut put = call_with(api, "webhook", (Method::PUT, &path), set(&test)).await;
    status(&mut put, &[200]);
    let mut get = call(api, "read webhook", Method::GET, &path, None).await;
    status(&mut get, &[200]);
    let body = answer(&get);
    field(&mut get, &body, "webhookUrl", Rule::Is(&test));
    // An institution may have answered 404 although the service's address was registered. So that address is registered again here.
    let mut last = match url.as_ref().or(trial.own_url.as_ref()) {
        Some(url) => call_with(api, "restore webhook", (Method::PUT, &path), set(url)).await,
        None => call(api, "remove webhook", Method::DELETE, &path, None).await,
    };
    status(&mut last, &[200, 204]);
    vec![put, get, last]
}

/// Refunds one centavo of a received Pix, and reads the refund.
async fn refund(api: &Api, pix: &str, id: &str) -> Vec<ContractStep> {
    let path = format!("/v2/pix/{pix}/devolucao/{id}");
    let mut put = call(api, "refund", Method::PUT, &path, Some(json!({ "valor": REFUND }))).await;
    status(&mut put, &[201]);
    let mut get = call(api, "read refund", Method::GET, &path, None).await;
    status(&mut get, &[200]);
    for step in [&mut put, &mut get] {
        let body = answer(step);
        for (path, rule) in [
            ("id", Rule::Is(id)),
            ("rtrId", Rule::ReturnId),
            ("valor", Rule::Is(REFUND)),
            ("horario.solicitacao", Rule::Instant),
            ("status", Rule::OneOf(&["EM_PROCESSAMENTO", "DEVOLVIDO", "NAO_REALIZADO"])),
        ] {
            field(step, &body, path, rule);
        }
    }
    vec![put, get]
}

async fn cancel(api: &Api, trial: &ContractTrial) -> ContractStep {
    let body = json!({ "status": REMOVED_BY_US });
    let mut step = call(api, "cancel", Method::PATCH, &charge_path(trial), Some(body)).await;
    status(&mut step, &[200]);
    check_charge(&mut step, trial, Rule::Is(REMOVED_BY_US));
    step
}
