//! Tests the table of failures for every call of every adapter: failed connections, defective answers, and the reported outcome.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cais_acquirers::{BacenAcquirer, EfiAcquirer};
use cais_ports::{Acquirer, AcquirerError};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, changed, cob, config, day, devolucao, html, http, instruction_id, json_reply, kind, nome, not_found, order,
    payout_order, pix, problem, reason, refund_order, sent, token, txid,
};
use crate::defenses::order as defense;
use crate::infractions::documented;
use crate::losses::losses;
use crate::server::{Act, FullServer, Seen, Server, closed_port, silent_server};
use crate::tls::TRUSTED;

/// The connect timeout of the adapters under test, so that a server without an answer fails soon.
pub const CONNECT: Duration = Duration::from_millis(300);

/// The operation of the adapter that trusts the system's certificates alone, so that no test server is trusted.
pub const UNTRUSTING: &str = "rate";

/// Runs `call` for every case of the table. `call` receives the address of the server and its budget. `answer` is a correct answer, which
/// the cases lose, distort or precede by other answers.
pub async fn assert_outcomes<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: Value,
    call: impl Fn(String, Duration) -> F,
) {
    assert_outcomes_but(operation, answer, &[], call).await;
}

/// Runs `call` for every case of the table. The answers of the cases in `whole` are complete answers of this operation.
pub async fn assert_outcomes_but<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: Value,
    whole: &[&str],
    call: impl Fn(String, Duration) -> F,
) {
    let throttled = b"HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n".to_vec();
    let certain = [
        ("401 again and again", html(401)),
        ("403 of a doorkeeper", html(403)),
        ("429", problem(429, "X")),
        ("429 with Retry-After", Act::Reply(throttled)),
    ];
    let lost_outcome = |name| if whole.contains(&name) { "ok" } else { "unknown" };
    let lost = losses(&answer).into_iter().map(|(name, act, budget)| (name, act, budget, lost_outcome(name)));
    let lost = lost.chain([("409 of a proxy", html(409), BUDGET, "unknown")]);
    let certain = certain.into_iter().map(|(name, act)| (name, act, BUDGET, "unavailable"));
    join_all(lost.chain(certain).map(async |(name, act, budget, wanted)| {
        let server = Server::start(move |_, _| act.clone()).await;
        let result = call(server.url(), budget).await;
        assert_eq!(kind(&result), wanted, "{operation}, {name}: {}", reason(&result));
    }))
    .await;
    let (silent, task) = silent_server().await;
    let full = FullServer::start();
    for (name, base_url) in
        [("no listener", closed_port().await), ("never connected", full.url()), ("silent at the handshake", silent)]
    {
        let result = call(base_url, BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{operation}, {name}: {}", reason(&result));
    }
    let server = Server::start(|_, _| Act::Cut).await;
    let result = call(server.url(), Duration::ZERO).await;
    assert_eq!((kind(&result), server.methods().as_str()), ("unavailable", ""), "{operation}, no time");
    task.abort();
    let good = answer.clone();
    let server = Server::start(move |_, _| json_reply(201, &good)).await;
    let plain = call(server.url(), BUDGET).await;
    assert_distortions(operation, &answer, &plain, &call).await;
    assert_expired_token(operation, &answer, kind(&plain), &call).await;
    if server.tokens() > 0 {
        assert_lost_tokens(operation, &call).await;
    }
    if operation != UNTRUSTING {
        assert_untrusted_servers(operation, &answer, kind(&plain), &call).await;
    }
}

/// Asserts that no request of the API is sent if the answer to the token request is lost.
async fn assert_lost_tokens<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    call: &impl Fn(String, Duration) -> F,
) {
    let granted = json!({"access_token": "good", "token": "good", "token_type": "Bearer", "expires_in": 3600});
    join_all(losses(&granted).into_iter().map(async |(name, act, budget)| {
        let server = Server::start_raw(None, move |_, _| act.clone()).await;
        let result = call(server.url(), budget).await;
        let wanted = ("unavailable", "");
        let found = (kind(&result), server.methods());
        assert_eq!((found.0, found.1.as_str()), wanted, "{operation}, token, {name}: {}", reason(&result));
    }))
    .await;
}

/// Creates a charge whose txid exists already, and asserts the outcome by the answer to the look-up. `conflict` is the answer to the
/// creation, `found` the charge of the order, `other` a charge of another amount, and `absent` the answer without a charge.
pub async fn assert_existing_txid<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    adapter: &str,
    conflict: Act,
    (found, other, absent): (&Value, &Value, Act),
    create: impl Fn(String, Duration) -> F,
) {
    let lost = losses(found).into_iter().map(|(name, act, budget)| (name, act, budget, "unknown"));
    let throttled = ("429", problem(429, "X"), BUDGET, "unknown");
    let answered = [
        ("the same charge", json_reply(200, found), BUDGET, "ok"),
        ("another charge", json_reply(200, other), BUDGET, "refused"),
        ("no charge", absent, BUDGET, "unknown"),
        throttled,
    ];
    join_all(lost.chain(answered).map(async |(name, act, budget, wanted)| {
        let conflict = conflict.clone();
        let script = move |seen: &Seen, _| if seen.method == "GET" { act.clone() } else { conflict.clone() };
        let server = Server::start(script).await;
        let result = create(server.url(), budget).await;
        assert_eq!(kind(&result), wanted, "{adapter}, existing txid, {name}: {}", reason(&result));
        let creations = server.seen().iter().filter(|seen| seen.method != "GET" && !seen.is_token_request()).count();
        assert_eq!(creations, 1, "{adapter}, {name}: the charge is not created again");
    }))
    .await;
}

/// Asserts that a server with a wrong name or an expired certificate is not trusted. With a correct certificate, the call has the outcome
/// of a `plain` connection.
async fn assert_untrusted_servers<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: &Value,
    plain: &str,
    call: &impl Fn(String, Duration) -> F,
) {
    for (name, year, is_trusted) in
        [("localhost", 2100, true), ("other.example", 2100, false), ("localhost", 2020, false)]
    {
        let answer = answer.clone();
        let script = move |seen: &Seen, _| match seen.path.as_str() {
            "/oauth/token" => token("good", "3600"),
            "/v1/auth" => json_reply(200, &json!({"token": "good"})),
            _ => json_reply(201, &answer),
        };
        let server = Server::start_raw(Some(TRUSTED.open_acceptor(name, year)), script).await;
        let result = call(server.url(), BUDGET).await;
        let (wanted, place) =
            (if is_trusted { plain } else { "unavailable" }, format!("{operation}, {name} until {year}"));
        assert_eq!((kind(&result), server.seen().is_empty()), (wanted, !is_trusted), "{place}: {}", reason(&result));
    }
}

/// Returns `value` with a text for every number.
fn numbers_as_texts(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Array(items) => items.iter().map(numbers_as_texts).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), numbers_as_texts(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Asserts that the server's clock does not change the outcome of the `plain` answer. A number in the form of a text is read as the number,
/// or the outcome is unknown.
async fn assert_distortions<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: &Value,
    plain: &Result<T, AcquirerError>,
    call: &impl Fn(String, Duration) -> F,
) {
    let dated = |date: &str| {
        let text = answer.to_string();
        let head = format!("HTTP/1.1 201 X\r\ndate: {date}\r\ncontent-type: application/json\r\n");
        Act::Reply(format!("{head}content-length: {}\r\n\r\n{text}", text.len()).into_bytes())
    };
    let texts = http(201, "application/json", &numbers_as_texts(answer).to_string());
    for (name, act) in [
        ("numbers as texts", Act::Reply(texts)),
        ("clock years behind", dated("Mon, 01 Jan 2001 00:00:00 GMT")),
        ("clock years ahead", dated("Fri, 01 Jan 2100 00:00:00 GMT")),
        ("unreadable clock", dated("now")),
    ] {
        let server = Server::start(move |_, _| act.clone()).await;
        let result = call(server.url(), BUDGET).await;
        if name == "numbers as texts" {
            let is_same = format!("{result:?}") == format!("{plain:?}");
            assert!(is_same || kind(&result) == "unknown", "{operation}, {name}: {result:?}, not {plain:?}");
        } else {
            assert_eq!(kind(&result), kind(plain), "{operation}, {name}: {}", reason(&result));
        }
    }
}

/// Asserts that a refused token is renewed and the request repeated once. Other credentials are not renewed.
async fn assert_expired_token<T: Debug, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: &Value,
    plain: &str,
    call: &impl Fn(String, Duration) -> F,
) {
    let (answer, is_refused) = (answer.clone(), Arc::new(AtomicBool::new(false)));
    let script = move |_: &Seen, _| {
        if is_refused.swap(true, Ordering::SeqCst) { json_reply(201, &answer) } else { problem(401, "AcessoNegado") }
    };
    let server = Server::start(script).await;
    let result = call(server.url(), BUDGET).await;
    let first = server.seen().into_iter().find(|seen| !seen.is_token_request()).unwrap();
    let has_token = first.header("authorization").starts_with("Bearer ");
    let wanted = if has_token { (plain, 2) } else { ("unavailable", 0) };
    assert_eq!((kind(&result), server.tokens()), wanted, "{operation}, expired token: {}", reason(&result));
}

fn bacen(base_url: &str) -> BacenAcquirer {
    let mut config = config(base_url);
    config.timeouts.connect = CONNECT;
    BacenAcquirer::new(&config).unwrap()
}

fn efi(base_url: &str) -> EfiAcquirer {
    let mut config = config(base_url);
    config.timeouts.connect = CONNECT;
    EfiAcquirer::new(&config).unwrap()
}

/// Runs the table for a call of the standard, of both adapters that have it.
macro_rules! assert_standard {
    ($operation:literal, $answer:expr, |$acquirer:ident, $budget:ident| $call:expr) => {
        assert_standard!($operation, $answer, [], |$acquirer, $budget| $call);
    };
    ($operation:literal, $answer:expr, $whole:expr, |$acquirer:ident, $budget:ident| $call:expr) => {
        assert_outcomes_but(concat!("bacen: ", $operation), $answer, &$whole, |url, $budget| async move {
            let $acquirer = bacen(&url);
            $call.await
        })
        .await;
        assert_outcomes_but(concat!("efi: ", $operation), $answer, &$whole, |url, $budget| async move {
            let $acquirer = efi(&url);
            $call.await
        })
        .await;
    };
}

fn received() -> Value {
    json!({"endToEndId": pix().as_str(), "txid": txid().as_str(), "valor": "10.50", "horario": "2026-11-20T15:00:00.000Z"})
}

#[tokio::test]
async fn calls_about_charges_report_the_right_outcome() {
    assert_standard!("create", cob(), |acquirer, budget| acquirer.create_charge(&order(), budget));
}

#[tokio::test]
async fn existing_txid_is_looked_up_by_both_adapters() {
    let (found, other) = (cob(), changed(cob(), "/valor/original", Some(json!("99.00"))));
    for (conflict, absent) in [
        (problem(409, "txid_duplicado"), not_found()),
        (nome(409, "txid_duplicado"), nome(404, "cobranca_nao_encontrada")),
    ] {
        let books = || (&found, &other, absent.clone());
        assert_existing_txid("bacen", conflict.clone(), books(), |url, budget| async move {
            bacen(&url).create_charge(&order(), budget).await
        })
        .await;
        assert_existing_txid("efi", conflict, books(), |url, budget| async move {
            efi(&url).create_charge(&order(), budget).await
        })
        .await;
    }
}

#[tokio::test]
async fn registrations_report_the_right_outcome() {
    let url = "https://pay.example/callbacks/main/an-unguessable-token";
    // The standard answers a registration without a body.
    assert_standard!("register", json!({"webhookUrl": url}), ["an empty 201"], |acquirer, budget| {
        acquirer.register_callback(url, budget)
    });
}

#[tokio::test]
async fn reads_of_charges_report_the_right_outcome() {
    let removed = || changed(cob(), "/status", Some(json!("REMOVIDA_PELO_USUARIO_RECEBEDOR")));
    assert_standard!("find", cob(), |acquirer, budget| acquirer.find_charge(&txid(), budget));
    assert_standard!("cancel", removed(), |acquirer, budget| acquirer.cancel_charge(&txid(), budget));
}

#[tokio::test]
async fn reads_of_received_pix_report_the_right_outcome() {
    let list =
        || json!({"parametros": {"paginacao": {"paginaAtual": 0, "quantidadeDePaginas": 1}}, "pix": [received()]});
    assert_standard!("list received", list(), |acquirer, budget| acquirer.list_received(day(0), budget));
    assert_standard!("find received", received(), |acquirer, budget| acquirer.find_received(&pix(), budget));
}

#[tokio::test]
async fn calls_about_refunds_report_the_right_outcome() {
    assert_standard!("refund", devolucao(), |acquirer, budget| acquirer.send_refund(&refund_order(), budget));
    let id = refund_order().id;
    assert_standard!("find refund", devolucao(), |acquirer, budget| acquirer.find_refund(&pix(), id, budget));
}

#[tokio::test]
async fn calls_of_efi_report_the_right_outcome() {
    let paging = json!({"paginacao": {"paginaAtual": 0, "quantidadeDePaginas": 1}});
    let infractions = json!({"parametros": paging, "infracoes": [documented()]});
    tokio::join!(
        assert_outcomes(
            "send",
            sent(),
            |url, budget| async move { efi(&url).send_payout(&payout_order(), budget).await }
        ),
        assert_outcomes("find sent", sent(), |url, budget| async move {
            efi(&url).find_payout(&instruction_id(), budget).await
        }),
        assert_outcomes("list sent", json!({"parametros": paging, "pix": [sent()]}), |url, budget| async move {
            efi(&url).list_sent(day(0), budget).await
        }),
        assert_outcomes("list infractions", infractions, |url, budget| async move {
            efi(&url).list_infractions(day(0), budget).await
        }),
        // A complete 201 means acceptance, with any JSON or none.
        assert_outcomes_but("defense", documented(), &["an empty 201", "another JSON"], |url, budget| async move {
            efi(&url).send_defense(&defense(), budget).await
        }),
    );
}
