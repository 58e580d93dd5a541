//! Tests reads of sent Pix: progress, recipient and returns.

use cais_ports::{Acquirer, AcquirerError, UpstreamPayout};
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, NAME, PIX, changed, day, efi, html, http, instruction_id, json_reply, kind, nome, problem, progress,
    reason, sent,
};
use crate::server::{Act, Server};

async fn find(answer: Act) -> Result<Option<UpstreamPayout>, AcquirerError> {
    let server = Server::start(move |_, _| answer.clone()).await;
    let result = efi(&server.url()).find_payout(&instruction_id(), BUDGET).await;
    assert_eq!(server.seen().last().unwrap().path, format!("/v2/gn/pix/enviados/id-envio/{NAME}"));
    result
}

async fn found(answer: &Value) -> UpstreamPayout {
    find(json_reply(200, answer)).await.unwrap().unwrap()
}

fn ended(status: &str) -> Value {
    let times = json!({"solicitacao": "2026-11-20T15:00:01Z", "liquidacao": "2026-11-20T15:00:00.123456789Z"});
    changed(changed(sent(), "/status", Some(json!(status))), "/horario", Some(times))
}

#[tokio::test]
async fn sent_pix_is_read_with_its_progress() {
    let failed = |extras: Value| changed(ended("NAO_REALIZADO"), "/gnExtras", Some(extras));
    let long = "x".repeat(300);
    for (answer, wanted) in [
        (sent(), "open".to_owned()),
        (ended("REALIZADO"), "done 2026-11-20T15:00:00.123456Z".to_owned()),
        (changed(ended("REALIZADO"), "/horario/liquidacao", None), "done -".to_owned()),
        (ended("NAO_REALIZADO"), "failed -".to_owned()),
        (
            failed(json!({"erro": {"codigo": "AC03", "motivo": "Conta\ninexistente"}})),
            "failed AC03: Conta inexistente".to_owned(),
        ),
        (failed(json!({"erro": {"codigo": "AC03", "motivo": " "}})), "failed AC03".to_owned()),
        (failed(json!({"erro": {"motivo": long}})), format!("failed {}", "x".repeat(140))),
        (failed(json!({"erro": "?"})), "failed -".to_owned()),
        (failed(json!([])), "failed -".to_owned()),
    ] {
        assert_eq!(progress(&found(&answer).await.progress), wanted, "{answer}");
    }
    let by_number = changed(changed(sent(), "/valor", Some(json!(12.34))), "/endToEndId", None);
    let payout = found(&changed(by_number, "/e2eId", Some(json!(PIX)))).await;
    assert_eq!(payout.end_to_end_id.map(|id| id.to_string()).as_deref(), Some(PIX));
    // A read accepts any amount: the caller compares it with the payout.
    assert_eq!(found(&changed(sent(), "/valor", Some(json!("1")))).await.amount.to_string(), "1.00");
}

#[tokio::test]
async fn recipient_is_read_as_far_as_shown() {
    let person = |identity: Value| json!({"chave": "ana@example.com", "identificacao": identity});
    for (favored, name, document) in [
        (person(json!({"nome": "Ana", "cpf": "***.456.789-**"})), Some("Ana"), Some("***.456.789-**")),
        (person(json!({"nome": "Ana", "cpf": "12345678909"})), Some("Ana"), Some("***.456.789-**")),
        (person(json!({"nome": "Loja\tA", "cnpj": "12ABC34501DE35"})), Some("Loja A"), Some("12ABC34501DE35")),
        (person(json!({"nome": "", "cpf": null})), None, None),
        (person(json!("Ana")), None, None),
        (json!({"chave": "ana@example.com"}), None, None),
        (
            json!({"contaBanco": {"nome": "Ana", "cpf": "***.456.789-**", "conta": "1"}}),
            Some("Ana"),
            Some("***.456.789-**"),
        ),
        (json!("Ana"), None, None),
        (Value::Null, None, None),
    ] {
        let payout = found(&changed(sent(), "/favorecido", Some(favored.clone()))).await;
        let found = (payout.recipient.name.as_deref(), payout.recipient.document.as_deref());
        assert_eq!(found, (name, document), "{favored}");
    }
}

#[tokio::test]
async fn returns_of_sent_pix_are_read_oldest_first() {
    let back = |tail: &str, valor: Value, horario: Value| json!({"rtrId": format!("D12345678202611201501{tail}"), "valor": valor, "horario": horario});
    let with_status = |status: &str| {
        changed(back("ddddddddddd", json!("1.00"), json!("2026-11-20T15:00:09Z")), "/status", Some(json!(status)))
    };
    let two_times = json!({"solicitacao": "2026-11-20T15:00:04Z", "liquidacao": "2026-11-20T12:00:05-03:00"});
    let returns = json!([
        back("bbbbbbbbbbb", json!("2.00"), two_times),
        back("aaaaaaaaaaa", json!(1.5), json!("2026-11-20T15:00:03Z")),
        back("bbbbbbbbbbb", json!("2.00"), json!("2026-11-20T15:00:05Z")),
        back("ccccccccccc", json!("3.00"), json!({"solicitacao": "2026-11-20T15:00:06Z"})),
        with_status("NAO_REALIZADO"),
        with_status("EM_PROCESSAMENTO"),
    ]);
    let payout = found(&changed(ended("REALIZADO"), "/devolucoes", Some(returns))).await;
    let found: Vec<_> = payout
        .returned
        .iter()
        .map(|part| format!("{} {} {}", part.return_id.as_str().split_at(21).1, part.amount, part.at))
        .collect();
    assert_eq!(
        found,
        [
            "aaaaaaaaaaa 1.50 2026-11-20T15:00:03Z",
            "bbbbbbbbbbb 2.00 2026-11-20T15:00:05Z",
            "ccccccccccc 3.00 2026-11-20T15:00:06Z"
        ]
    );

    let good = || back("aaaaaaaaaaa", json!("1.00"), json!("2026-11-20T15:00:03Z"));
    for wrong in [
        changed(good(), "/rtrId", Some(json!("D1"))),
        changed(good(), "/rtrId", None),
        changed(good(), "/valor", Some(json!("0.00"))),
        changed(good(), "/valor", None),
        changed(good(), "/horario", Some(json!("noon"))),
        changed(good(), "/horario", None),
        with_status("SOMETHING_NEW"),
        json!(1),
        changed(good(), "/valor", Some(json!("1.01"))),
    ] {
        let result =
            find(json_reply(200, &changed(ended("REALIZADO"), "/devolucoes", Some(json!([good(), wrong]))))).await;
        assert_eq!(kind(&result), "unknown", "{wrong}");
        assert!(reason(&result).contains("devolucoes"), "{}", reason(&result));
    }
}

#[tokio::test]
async fn only_a_named_absence_proves_absence() {
    for (answer, wanted) in [
        (problem(404, "PixEnviadoNaoEncontrado"), "none"),
        (nome(404, "pix_nao_encontrado"), "none"),
        (nome(400, "pix_nao_encontrado"), "none"),
        (nome(404, "rota_nao_disponivel"), "unknown"),
        (problem(404, "NaoEncontrado"), "unknown"),
        (problem(404, "PixNaoEncontrado"), "unknown"),
        (json_reply(404, &json!({"type": "about:blank", "title": "Not Found"})), "unknown"),
        (Act::Reply(http(404, "application/json", "")), "unknown"),
        (html(404), "unknown"),
        (nome(400, "id_envio_invalido"), "unknown"),
        (problem(500, "ErroInternoDoServidor"), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (nome(429, "balde_fichas_vazio"), "unavailable"),
        (html(200), "unknown"),
        (json_reply(200, &changed(sent(), "/idEnvio", Some(json!("1")))), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        let result = find(answer).await;
        let found = if matches!(result, Ok(None)) { "none" } else { kind(&result) };
        assert_eq!(found, wanted, "{}", reason(&result));
    }
}

#[tokio::test]
async fn list_of_sent_pix_includes_other_clients() {
    let row = |id: Value, status: &str| changed(changed(sent(), "/idEnvio", Some(id)), "/status", Some(json!(status)));
    let rows = json!([
        row(json!(NAME), "REALIZADO"),
        row(json!(42), "NAO_REALIZADO"),
        row(Value::Null, "REALIZADO"),
        row(json!("not one!"), "REALIZADO"),
        row(json!("other"), "SOMETHING_NEW"),
    ]);
    let list = json!({"parametros": {"paginacao": {"paginaAtual": 3, "quantidadeDePaginas": 5}}, "pix": rows});
    let server = Server::start(move |_, _| json_reply(200, &list)).await;
    let page = efi(&server.url()).list_sent(day(3), BUDGET).await.unwrap();
    let found: Vec<_> =
        page.rows.iter().map(|payout| format!("{} {}", payout.instruction_id, progress(&payout.progress))).collect();
    assert_eq!(found, [format!("{NAME} done -"), "42 failed -".to_owned()]);
    assert_eq!(page.next, Some(4));
    let path = server.seen().last().unwrap().path.clone();
    let query = "inicio=2026-11-20T00%3A00%3A00Z&fim=2026-11-21T00%3A00%3A00Z&paginacao.paginaAtual=3&paginacao.itensPorPagina=1000";
    assert_eq!(path, format!("/v2/gn/pix/enviados?{query}"));

    let list = json!({"pix": [row(json!(NAME), "SOMETHING_NEW"), row(json!(42), "REALIZADO"), 1]});
    let server = Server::start(move |_, _| json_reply(200, &list)).await;
    let page = efi(&server.url()).list_sent(day(0), BUDGET).await.unwrap();
    let unreadable: Vec<_> = page.unreadable.iter().map(|row| row.name.as_str()).collect();
    assert_eq!((page.rows.len(), unreadable), (1, vec![NAME, "pix[2]"]));

    for answer in [
        json_reply(200, &json!({})),
        html(200),
        problem(400, "PixEnviadoConsultaInvalida"),
        problem(404, "NaoEncontrado"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = efi(&server.url()).list_sent(day(0), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{}", reason(&result));
    }
}
