//! Tests payouts: requests, classification of answers, and checks.

use std::time::Duration;

use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_ports::{Acquirer, AcquirerError, UpstreamPayout, UpstreamProgress};
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, KEY, NAME, PIX, RECIPIENT, acquirer, changed, config, efi, html, http, instruction_id, json_reply, kind,
    nome, payout_order, problem, progress, reason, sent,
};
use crate::losses::losses;
use crate::server::{Act, Server, closed_port};

/// Returns the answer to an accepted request.
fn accepted() -> Value {
    json!({
        "idEnvio": NAME, "e2eId": PIX, "valor": "12.34",
        "horario": {"solicitacao": "2026-11-20T15:00:00Z"}, "status": "EM_PROCESSAMENTO"
    })
}

async fn send(put: Act, get: Act) -> (Result<UpstreamPayout, AcquirerError>, String) {
    let server = Server::start(move |seen, _| match seen.method.as_str() {
        "PUT" => put.clone(),
        _ => get.clone(),
    })
    .await;
    let result = efi(&server.url()).send_payout(&payout_order(), BUDGET).await;
    (result, server.methods())
}

#[tokio::test]
async fn payout_order_is_written_in_efi_format() {
    let server = Server::start(|_, _| json_reply(201, &accepted())).await;
    let efi = efi(&server.url());
    let mut order = payout_order();
    order.description = Some(format!("line one\r\nline two {}", "é".repeat(200)));
    order.recipient_document = Some(Document::parse("123.456.789-09").unwrap());
    let payout = efi.send_payout(&order, BUDGET).await.unwrap();
    assert_eq!((payout.instruction_id.as_str(), payout.amount), (NAME, order.amount));
    assert_eq!(payout.end_to_end_id.as_ref().map(ToString::to_string).as_deref(), Some(PIX));
    assert_eq!(payout.progress, UpstreamProgress::Processing);
    assert!(payout.returned.is_empty() && payout.recipient == cais_domain::payout::Recipient::default());

    let seen = server.seen();
    let [token, put] = seen.as_slice() else { unreachable!("{seen:?}") };
    assert_eq!(
        (token.body.as_str(), token.header("content-type")),
        (r#"{"grant_type":"client_credentials"}"#, "application/json")
    );
    assert_eq!((put.method.as_str(), put.path.as_str()), ("PUT", &*format!("/v3/gn/pix/{NAME}")));
    assert_eq!((put.header("authorization"), put.header("content-type")), ("Bearer good", "application/json"));
    let body: Value = serde_json::from_str(&put.body).unwrap();
    let shown = format!("line one  line two {}", "é".repeat(121));
    assert_eq!(
        body,
        json!({
            "valor": "12.34", "pagador": {"chave": KEY, "infoPagador": shown},
            "favorecido": {"chave": RECIPIENT, "cpf": "12345678909"}
        })
    );

    order.description = Some(" \n".to_owned());
    order.recipient_document = Some(Document::parse("12ABC34501DE35").unwrap());
    order.pix_key = PixKey::parse("+5511987654321").unwrap();
    efi.send_payout(&order, BUDGET).await.unwrap();
    let body: Value = serde_json::from_str(&server.seen().last().unwrap().body).unwrap();
    let recipient = json!({"chave": "+5511987654321", "cnpj": "12ABC34501DE35"});
    assert_eq!(body, json!({"valor": "12.34", "pagador": {"chave": KEY}, "favorecido": recipient}));
}

#[tokio::test]
async fn inexpressible_order_is_never_sent() {
    let server = Server::start(|_, _| json_reply(201, &accepted())).await;
    for centavos in [0, -1, 1_000_000_000_000] {
        let mut order = payout_order();
        order.amount = Money::from_centavos(centavos);
        assert_eq!(kind(&efi(&server.url()).send_payout(&order, BUDGET).await), "refused", "{centavos}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn every_form_of_the_answer_is_read() {
    let done = json!({
        "idEnvio": NAME, "endToEndId": PIX, "valor": 12.34, "status": "REALIZADO",
        "horario": {"solicitacao": "2026-11-20T15:00:01Z", "liquidacao": "2026-11-20T12:00:00.5-03:00"}
    });
    let failed = changed(accepted(), "/status", Some(json!("NAO_REALIZADO")));
    for (answer, wanted, named) in [
        (accepted(), "open", true),
        (changed(accepted(), "/endToEndId", Some(json!(PIX))), "open", true),
        (changed(accepted(), "/e2eId", None), "open", false),
        (changed(accepted(), "/e2eId", Some(json!(""))), "open", false),
        (changed(accepted(), "/e2eId", Some(Value::Null)), "open", false),
        (changed(accepted(), "/horario", None), "open", true),
        (changed(accepted(), "/valor", Some(json!("12.340"))), "open", true),
        (changed(accepted(), "/favorecido", Some(json!({"chave": "ANA@example.com"}))), "open", true),
        (done.clone(), "done 2026-11-20T15:00:00.5Z", true),
        (changed(done, "/horario", Some(json!("now"))), "done -", true),
        (failed.clone(), "failed -", true),
        (changed(failed, "/gnExtras", Some(json!({"erro": {"codigo": "AC03"}}))), "failed AC03", true),
    ] {
        let (result, methods) = send(json_reply(201, &answer), Act::Cut).await;
        let payout = result.unwrap();
        assert_eq!((progress(&payout.progress).as_str(), payout.end_to_end_id.is_some()), (wanted, named), "{answer}");
        assert_eq!(methods, "PUT");
    }
}

#[tokio::test]
async fn payout_without_webhook_is_refused_with_a_neutral_text() {
    let message = json!({"nome": "chave_invalida", "mensagem": "A chave do pagador não tem Webhook."});
    let typed = json!({"type": "https://pix.bcb.gov.br/api/v2/error/WebhookNaoEncontrado", "title": "Não há."});
    for (answer, wanted) in [
        (json_reply(400, &message), "refused"),
        (json_reply(404, &typed), "refused"),
        (json_reply(422, &message), "refused"),
        (json_reply(409, &message), "unknown"),
        (json_reply(500, &message), "unknown"),
        (Act::Reply(http(400, "text/html", "<html>webhook</html>")), "unknown"),
        (json_reply(400, &json!({"title": "webhook"})), "unknown"),
    ] {
        let (result, methods) = send(answer, Act::Cut).await;
        assert_eq!((kind(&result), methods.as_str()), (wanted, "PUT"), "{}", reason(&result));
        let is_neutral = reason(&result) == "refused: the institution accepts no payouts at present";
        assert_eq!(is_neutral, wanted == "refused", "{}", reason(&result));
    }
}

#[tokio::test]
async fn refusal_carries_text_for_the_merchant() {
    let schema = json!({"nome": "json_invalido", "mensagem": "Valores inválidos.", "erros": [{"chave": "type"}]});
    for (answer, wanted, message) in [
        (nome(400, "documento_bloqueado"), "refused", "refused: Em português."),
        (nome(400, "chave_nao_pertence_ao_documento"), "refused", "refused: Em português."),
        (nome(404, "chave_favorecido_nao_encontrada"), "refused", "refused: Em português."),
        (nome(422, "pagamento_negado"), "refused", "refused: Em português."),
        (json_reply(400, &schema), "refused", "refused: Valores inválidos."),
        (nome(400, "chave_invalida"), "refused", "refused: Em português."),
        (nome(400, "valor_invalido"), "refused", "refused: Em português."),
        (problem(400, "RequisicaoInvalida"), "unknown", "400 RequisicaoInvalida"),
        (nome(400, "id_envio_duplicado"), "unknown", "400 id_envio_duplicado"),
        (nome(409, "id_envio_duplicado"), "unknown", "409 id_envio_duplicado"),
        (html(409), "unknown", "409"),
        (nome(404, "rota_nao_disponivel"), "unknown", "404 rota_nao_disponivel"),
        (nome(404, "chave_invalida"), "unknown", "404 chave_invalida"),
        (nome(405, "metodo_nao_permitido"), "unknown", "405"),
        (problem(410, "PermanentementeRemovido"), "unknown", "410"),
        (nome(415, "json_invalido"), "unknown", "415"),
        (nome(429, "balde_fichas_vazio"), "unavailable", "balde_fichas_vazio"),
        (nome(400, "balde_fichas_vazio"), "unavailable", "balde_fichas_vazio"),
        (json_reply(403, &json!({"error": "insufficient_scope"})), "unavailable", "403"),
        (problem(403, "AcessoNegado"), "unavailable", "403 AcessoNegado"),
        (html(429), "unavailable", "429"),
        (nome(500, "erro_aplicacao"), "unknown", "500 erro_aplicacao"),
        (json_reply(400, &json!({"type": "about:blank", "title": "Bad Request"})), "unknown", "400"),
        (json_reply(404, &json!({"status": 404, "error": "Not Found"})), "unknown", "404"),
    ] {
        let (result, methods) = send(answer, Act::Cut).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
        assert_eq!(methods, "PUT");
    }
}

#[tokio::test]
async fn lost_answer_leaves_outcome_unknown() {
    for (name, loss, budget) in losses(&accepted()) {
        let server = Server::start(move |_, _| loss.clone()).await;
        let result = efi(&server.url()).send_payout(&payout_order(), budget.min(Duration::from_secs(1))).await;
        assert_eq!(kind(&result), "unknown", "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "PUT", "{name}: it is sent once");
    }
}

#[tokio::test]
async fn payout_without_connection_is_unavailable() {
    let tokens = Server::start(|_, _| Act::Cut).await;
    for base_url in [closed_port().await, "https://no-such-host.invalid".to_owned()] {
        let mut config = config(&base_url);
        config.token_url = Some(format!("{}/oauth/token", tokens.url()));
        let efi = cais_acquirers::EfiAcquirer::new(&config).unwrap();
        let result = efi.send_payout(&payout_order(), BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{base_url}");
        assert!(reason(&result).contains("no connection"), "{}", reason(&result));
    }
    let server = Server::start(|_, _| Act::Cut).await;
    let result = efi(&server.url()).send_payout(&payout_order(), Duration::ZERO).await;
    assert_eq!((kind(&result), server.methods().as_str()), ("unavailable", ""));
}

/// Returns answers that contradict the order.
fn lies() -> Vec<(&'static str, Value)> {
    let lie = |pointer: &str, value: Option<Value>| changed(sent(), pointer, value);
    let account = json!({"contaBanco": {"nome": "Ana", "cpf": "***.456.789-**", "agencia": "1", "conta": "23"}});
    vec![
        ("idEnvio differs from the request", lie("/idEnvio", Some(json!("01jd8x2m4pe9ktva0c6rzq5w3n")))),
        ("idEnvio is missing", lie("/idEnvio", None)),
        ("valor is not the ordered amount", lie("/valor", Some(json!("12.35")))),
        ("valor is not the ordered amount", lie("/valor", Some(json!("1234")))),
        ("valor is not an amount", lie("/valor", Some(json!("12.345")))),
        ("valor is not an amount", lie("/valor", Some(json!("0.00")))),
        ("valor is not an amount", lie("/valor", Some(json!(-12.34)))),
        ("valor is not an amount", lie("/valor", None)),
        ("favorecido is not the ordered recipient", lie("/favorecido/chave", Some(json!("eva@example.com")))),
        ("favorecido is not the ordered recipient", lie("/favorecido/chave", Some(json!("12345678909")))),
        ("favorecido is not the ordered recipient", lie("/favorecido", Some(account))),
        ("is not a status of", lie("/status", Some(json!("OUTRO")))),
        ("is not a status of", lie("/status", None)),
        ("endToEndId differs from e2eId", lie("/e2eId", Some(json!("E12345678202611201500bbbbbbbbbbb")))),
        ("endToEndId is missing", changed(lie("/status", Some(json!("REALIZADO"))), "/endToEndId", Some(json!("E1")))),
        ("devolucoes[0] cannot be read", lie("/devolucoes", Some(json!([{"rtrId": "D1", "valor": "1.00"}])))),
        ("not the JSON of a sent Pix", json!([sent()])),
        ("not the JSON of a sent Pix", json!("REALIZADO")),
        ("idEnvio is missing", json!({"nome": "erro", "mensagem": "x"})),
    ]
}

#[tokio::test]
async fn contradictory_answer_leaves_outcome_unknown() {
    for (message, lie) in lies() {
        let (result, methods) = send(json_reply(201, &lie), Act::Cut).await;
        assert_eq!(kind(&result), "unknown", "{lie}");
        assert!(reason(&result).contains(message), "{message}: {}", reason(&result));
        assert_eq!(methods, "PUT");
    }
}

#[tokio::test]
async fn standard_institution_refuses_payouts() {
    let server = Server::start(|_, _| json_reply(200, &sent())).await;
    let bacen = acquirer(&server.url());
    assert!(!bacen.sends_payouts() && efi(&server.url()).sends_payouts());
    assert_eq!(kind(&bacen.send_payout(&payout_order(), BUDGET).await), "refused");
    // The result is never `None`, because the payout would then be sent again.
    assert_eq!(kind(&bacen.find_payout(&instruction_id(), BUDGET).await), "refused");
    let page = bacen.list_sent(crate::answers::day(0), BUDGET).await.unwrap();
    assert!(page.rows.is_empty() && page.next.is_none());
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn efi_creates_charges_in_standard_format() {
    let server =
        Server::start(|_, _| Act::Reply(http(200, "application/json", &crate::answers::cob().to_string()))).await;
    let efi = efi(&server.url());
    efi.create_charge(&crate::answers::order(), BUDGET).await.unwrap();
    efi.find_charge(&crate::answers::txid(), BUDGET).await.unwrap().unwrap();
    assert_eq!((server.methods().as_str(), server.tokens()), ("PUT GET", 1));
}
