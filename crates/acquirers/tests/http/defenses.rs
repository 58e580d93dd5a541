//! Tests defenses: requests, and the classification of answers.

use std::time::Duration;

use cais_ports::{Acquirer, AcquirerError, DefenseOrder, DefenseReceipt};
use serde_json::{Value, json};

use crate::answers::{BUDGET, acquirer, efi, html, http, json_reply, kind, nome, problem, reason};
use crate::losses::losses;
use crate::server::{Act, Server, closed_port};

const ID: &str = "cd158e6b-9db3-4a6e-a0b4-c0b4c7d3f1a2";

pub fn order() -> DefenseOrder {
    DefenseOrder { infraction: ID.to_owned(), text: "It was\ndelivered.".to_owned(), evidence_url: None }
}

async fn send(answer: Act) -> (Result<DefenseReceipt, AcquirerError>, String) {
    let server = Server::start(move |_, _| answer.clone()).await;
    let result = efi(&server.url()).send_defense(&order(), BUDGET).await;
    (result, server.methods())
}

fn empty(status: u16) -> Act {
    Act::Reply(format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n").into_bytes())
}

#[tokio::test]
async fn defense_is_written_in_efi_format() {
    let server = Server::start(|_, _| empty(201)).await;
    let efi = efi(&server.url());
    let with_evidence = DefenseOrder { evidence_url: Some("https://shop.example/proof".to_owned()), ..order() };
    for (order, text) in
        [(order(), "It was\ndelivered."), (with_evidence, "It was\ndelivered.\nhttps://shop.example/proof")]
    {
        assert_eq!(efi.send_defense(&order, BUDGET).await, Ok(DefenseReceipt::Taken));
        let seen = server.seen().into_iter().next_back().unwrap();
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", &*format!("/v2/gn/infracoes/{ID}/defesa")));
        assert_eq!((seen.header("authorization"), seen.header("content-type")), ("Bearer good", "application/json"));
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        assert_eq!(body, json!({"analise": "rejeitado", "justificativa": text}));
    }
}

#[tokio::test]
async fn each_answer_to_a_defense_is_classified() {
    let untyped = |status| json_reply(status, &json!({"type": "about:blank", "title": "Bad"}));
    let invalid = |more: &Value| {
        let mut body = json!({"type": "https://pix.bcb.gov.br/api/v2/error/InfracaoOperacaoInvalida", "status": 422});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json_reply(422, &body)
    };
    for (answer, wanted) in [
        (empty(201), "Taken"),
        (empty(200), "Taken"),
        (Act::Reply(b"HTTP/1.1 204 X\r\n\r\n".to_vec()), "Taken"),
        (json_reply(201, &json!({"idInfracao": ID})), "Taken"),
        (problem(409, "InfracaoOperacaoInvalida"), "AlreadyThere"),
        (nome(409, "defesa_duplicada"), "AlreadyThere"),
        (invalid(&json!({"title": "The deadline is over"})), "TooLate"),
        (invalid(&json!({"title": "Operação inválida.", "detail": "O PRAZO para defesa terminou."})), "TooLate"),
        (
            invalid(&json!({"title": "x", "violacoes": [{"razao": "Infração expirada", "propriedade": "id"}]})),
            "TooLate",
        ),
        // Without words about a deadline, the same kind is a refusal.
        (problem(422, "InfracaoOperacaoInvalida"), "refused"),
        (invalid(&json!({"title": "Operação inválida.", "detail": "A justificativa é muito curta."})), "refused"),
        (invalid(&json!({"violacoes": [{"razao": "wrong owner", "propriedade": "body.infractionId"}]})), "refused"),
        (problem(404, "InfracaoNaoEncontrada"), "unknown"),
        (problem(400, "DefesaDuplicada"), "unknown"),
        (problem(400, "InfracaoOperacaoInvalida"), "refused"),
        (problem(422, "RequisicaoInvalida"), "refused"),
        (html(409), "unknown"),
        (untyped(409), "unknown"),
        (html(422), "unknown"),
        (untyped(400), "unknown"),
        (html(404), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (json_reply(403, &json!({"error": "insufficient_scope"})), "unavailable"),
        (html(429), "unavailable"),
        // The answer of Efí's homologation.
        (json_reply(500, &json!({"nome": "erro_aplicacao", "mensagem": "disabled"})), "unknown"),
        (problem(500, "InfracaoErroInterno"), "unknown"),
        (html(500), "unknown"),
    ] {
        let (result, methods) = send(answer).await;
        let found = result.as_ref().map_or_else(|_| kind(&result).to_owned(), |receipt| format!("{receipt:?}"));
        assert_eq!((found.as_str(), methods.as_str()), (wanted, "POST"), "{}", reason(&result));
    }
}

#[tokio::test]
async fn refused_token_is_certain_and_renewed_once() {
    let (result, methods) = send(json_reply(401, &json!({"error": "invalid_token"}))).await;
    assert_eq!((kind(&result), methods.as_str()), ("unavailable", "POST POST"));
}

#[tokio::test]
async fn lost_answer_leaves_outcome_unknown() {
    // A complete 201 means acceptance, with any JSON.
    let whole = ["another JSON", "an empty 201"];
    for (name, loss, budget) in losses(&json!({"idInfracao": ID, "status": "EM_DEFESA", "padding": "xxxxxxxxxxxx"})) {
        let server = Server::start(move |_, _| loss.clone()).await;
        let result = efi(&server.url()).send_defense(&order(), budget.min(Duration::from_secs(1))).await;
        let wanted = if whole.contains(&name) { "ok" } else { "unknown" };
        assert_eq!(kind(&result), wanted, "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "POST", "{name}: it is sent once");
    }
    let (result, _) = send(Act::Reply(http(201, "text/plain", "ok"))).await;
    assert_eq!(kind(&result), "unknown");
}

#[tokio::test]
async fn unsent_request_is_unavailable() {
    let tokens = Server::start(|_, _| Act::Cut).await;
    let mut config = crate::answers::config(&closed_port().await);
    config.token_url = Some(format!("{}/oauth/token", tokens.url()));
    let closed = cais_acquirers::EfiAcquirer::new(&config).unwrap();
    assert_eq!(kind(&closed.send_defense(&order(), BUDGET).await), "unavailable");

    let server = Server::start(|_, _| empty(201)).await;
    let late = efi(&server.url()).send_defense(&order(), Duration::ZERO).await;
    assert_eq!(kind(&late), "unavailable");
    for name in ["", "..", "a/b", "a?b"] {
        let order = DefenseOrder { infraction: name.to_owned(), ..order() };
        assert_eq!(kind(&efi(&server.url()).send_defense(&order, BUDGET).await), "refused", "{name}");
    }
    assert_eq!(kind(&acquirer(&server.url()).send_defense(&order(), BUDGET).await), "refused");
    // Another test may have taken the port that was free just before.
    assert!(server.seen().iter().all(|seen| !seen.path.contains("/defesa")));
}
