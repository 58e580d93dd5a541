//! Tests refunds: requests, classification of answers, and checks.

use std::time::Duration;

use cais_domain::money::Money;
use cais_ports::{Acquirer, AcquirerError, UpstreamReturn};
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, NAME, PIX, acquirer, changed, devolucao, efi, html, json_reply, kind, nome, pix, problem, reason,
    refund_order, returned,
};
use crate::losses::losses;
use crate::server::{Act, Server};

const RTR: &str = "D12345678202611201501bbbbbbbbbbb";

async fn send(put: Act, get: Act) -> (Result<UpstreamReturn, AcquirerError>, String) {
    let server = Server::start(move |seen, _| match seen.method.as_str() {
        "PUT" => put.clone(),
        _ => get.clone(),
    })
    .await;
    let result = acquirer(&server.url()).send_refund(&refund_order(), BUDGET).await;
    let asked = server.seen().into_iter().filter(|seen| seen.path != "/oauth/token");
    let paths: Vec<_> = asked.map(|seen| seen.path).collect();
    assert!(paths.iter().all(|path| *path == format!("/v2/pix/{PIX}/devolucao/{NAME}")), "{paths:?}");
    (result, server.methods())
}

#[tokio::test]
async fn refund_order_is_written_in_standard_format() {
    let server = Server::start(|_, _| json_reply(201, &devolucao())).await;
    let mut order = refund_order();
    order.description = Some(format!("não\nserviu {}", "é".repeat(200)));
    let both: [(Box<dyn Acquirer>, &str); 2] = [
        (Box::new(acquirer(&server.url())), "grant_type=client_credentials"),
        (Box::new(efi(&server.url())), r#"{"grant_type":"client_credentials"}"#),
    ];
    for (acquirer, grant) in both {
        let before = server.seen().len();
        let found = acquirer.send_refund(&order, BUDGET).await.unwrap();
        assert_eq!(returned(&found), format!("{NAME} {RTR} 4.00 open ours"));
        let seen = server.seen().split_off(before);
        let [token, put] = seen.as_slice() else { unreachable!("{seen:?}") };
        assert_eq!(token.body, grant);
        assert_eq!((put.method.as_str(), put.path.as_str()), ("PUT", &*format!("/v2/pix/{PIX}/devolucao/{NAME}")));
        let body: Value = serde_json::from_str(&put.body).unwrap();
        assert_eq!(body, json!({"valor": "4.00", "descricao": format!("não serviu {}", "é".repeat(129))}));
    }
    acquirer(&server.url()).send_refund(&refund_order(), BUDGET).await.unwrap();
    assert_eq!(server.seen().last().unwrap().body, r#"{"valor":"4.00"}"#);
    let asked = server.seen().len();
    order.amount = Money::ZERO;
    assert_eq!(kind(&acquirer(&server.url()).send_refund(&order, BUDGET).await), "refused");
    assert_eq!(server.seen().len(), asked);
}

#[tokio::test]
async fn progress_of_refund_is_read() {
    let ended = |status: &str| changed(devolucao(), "/status", Some(json!(status)));
    let settled = json!({"solicitacao": "2026-11-20T15:01:00Z", "liquidacao": "2026-11-20T12:01:02-03:00"});
    for (answer, wanted) in [
        (devolucao(), format!("{NAME} {RTR} 4.00 open ours")),
        (ended("DEVOLVIDO"), format!("{NAME} {RTR} 4.00 done - ours")),
        (
            changed(ended("DEVOLVIDO"), "/horario", Some(settled)),
            format!("{NAME} {RTR} 4.00 done 2026-11-20T15:01:02Z ours"),
        ),
        (ended("NAO_REALIZADO"), format!("{NAME} {RTR} 4.00 failed - ours")),
        (
            changed(ended("NAO_REALIZADO"), "/motivo", Some(json!("Conta encerrada"))),
            format!("{NAME} {RTR} 4.00 failed Conta encerrada ours"),
        ),
        (changed(devolucao(), "/rtrId", None), format!("{NAME} - 4.00 open ours")),
        (changed(devolucao(), "/rtrId", Some(json!("D1"))), format!("{NAME} - 4.00 open ours")),
    ] {
        let (sent, methods) = send(json_reply(201, &answer), Act::Cut).await;
        assert_eq!((returned(&sent.unwrap()), methods.as_str()), (wanted.clone(), "PUT"));
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let found = acquirer(&server.url()).find_refund(&pix(), refund_order().id, BUDGET).await;
        assert_eq!(returned(&found.unwrap().unwrap()), wanted);
        let seen = server.seen().into_iter().next_back().unwrap();
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", &*format!("/v2/pix/{PIX}/devolucao/{NAME}")));
    }
}

#[tokio::test]
async fn refund_is_refused_only_by_a_listed_kind() {
    for (put, wanted, message) in [
        (problem(400, "PixDevolucaoInvalida"), "refused", "refused: Recusado."),
        (problem(400, "RequisicaoInvalida"), "refused", "refused: Recusado."),
        (nome(422, "valor_invalido"), "refused", "refused: Em português."),
        (problem(404, "PixNaoEncontrado"), "unknown", "404 PixNaoEncontrado"),
        (nome(400, "pix_nao_encontrado"), "unknown", "400 pix_nao_encontrado"),
        (nome(404, "rota_nao_disponivel"), "unknown", "404 rota_nao_disponivel"),
        (nome(409, "devolucao_id_duplicado"), "unknown", "409 devolucao_id_duplicado"),
        (nome(400, "devolucao_id_duplicado"), "unknown", "400 devolucao_id_duplicado"),
        (html(409), "unknown", "409"),
    ] {
        let (result, methods) = send(put, Act::Cut).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
        assert_eq!(methods, "PUT", "sent once");
    }
}

#[tokio::test]
async fn certain_and_unknown_failures_are_distinguished() {
    for (answer, wanted, methods) in [
        (problem(403, "AcessoNegado"), "unavailable", "PUT"),
        (problem(401, "AcessoNegado"), "unavailable", "PUT PUT"),
        (html(429), "unavailable", "PUT"),
        (json_reply(400, &json!({"type": "about:blank", "title": "Bad Request"})), "unknown", "PUT"),
        (problem(503, "ServicoIndisponivel"), "unknown", "PUT"),
    ] {
        let (result, asked) = send(answer, Act::Cut).await;
        assert_eq!((kind(&result), asked.as_str()), (wanted, methods), "{}", reason(&result));
    }
    for (name, loss, budget) in losses(&devolucao()) {
        let server = Server::start(move |_, _| loss.clone()).await;
        let budget = budget.min(Duration::from_secs(1));
        let result = acquirer(&server.url()).send_refund(&refund_order(), budget).await;
        assert_eq!(kind(&result), "unknown", "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "PUT", "{name}: sent once");
    }
}

#[tokio::test]
async fn contradictory_answer_leaves_outcome_unknown() {
    let lie = |pointer: &str, value: Option<Value>| changed(devolucao(), pointer, value);
    for (message, lie, is_seen_by_a_find) in [
        ("id differs from the request", lie("/id", Some(json!("x"))), true),
        ("id is missing", lie("/id", None), true),
        ("valor is not the ordered amount", lie("/valor", Some(json!("4.01"))), false),
        ("valor is not an amount", lie("/valor", Some(json!("4"))), true),
        ("valor is not an amount", lie("/valor", Some(json!("0.00"))), true),
        ("valor is not an amount", lie("/valor", None), true),
        ("is not a status of", lie("/status", Some(json!("OUTRO"))), true),
        ("is not a status of", lie("/status", None), true),
        ("not the JSON of a return", json!([devolucao()]), true),
        ("not the JSON of a return", lie("/valor", Some(json!(4.0))), true),
    ] {
        let (result, _) = send(json_reply(201, &lie), Act::Cut).await;
        assert_eq!(kind(&result), "unknown", "{lie}");
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
        let found = lie.clone();
        let server = Server::start(move |_, _| json_reply(200, &found)).await;
        let found = acquirer(&server.url()).find_refund(&pix(), refund_order().id, BUDGET).await;
        assert_eq!(found.is_err(), is_seen_by_a_find, "{lie}");
    }
}

#[tokio::test]
async fn only_a_named_absence_proves_absence() {
    for (answer, wanted) in [
        (problem(404, "PixDevolucaoNaoEncontrada"), "none"),
        (problem(404, "PixNaoEncontrado"), "none"),
        (nome(400, "pix_nao_encontrado"), "none"),
        (problem(404, "NaoEncontrado"), "unknown"),
        (nome(404, "rota_nao_disponivel"), "unknown"),
        (problem(400, "PixConsultaInvalida"), "unknown"),
        (html(404), "unknown"),
        (problem(500, "ErroInternoDoServidor"), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (html(200), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = acquirer(&server.url()).find_refund(&pix(), refund_order().id, BUDGET).await;
        let found = if matches!(result, Ok(None)) { "none" } else { kind(&result) };
        assert_eq!(found, wanted, "{}", reason(&result));
    }
}
