//! Tests lists of infractions: both of Efí's formats, skipped rows, and failing pages.

use std::sync::Arc;

use cais_acquirers::Router;
use cais_acquirers::breaker::FAILURES_TO_OPEN;
use cais_domain::infraction::Situation;
use cais_ports::{Acquirer, AcquirerError, Acquirers, UpstreamInfraction, UpstreamInfractionStatus, UpstreamPage};
use serde_json::{Value, json};

use crate::answers::{BUDGET, PIX, acquirer, changed, cob, day, efi, html, json_reply, kind, problem, reason, txid};
use crate::server::{Act, Server};

const ID: &str = "cd158e6b-9db3-4a6e-a0b4-c0b4c7d3f1a2";

/// Returns a row as in Efí's documents: strings, and an amount without decimals.
pub fn documented() -> Value {
    json!({
        "idInfracao": ID, "endToEndId": PIX, "protocolo": "10", "dataTransacao": "2026-11-19T15:00:00.000Z",
        "valor": "100", "status": "ABERTA", "razao": "fraude", "tipoSituacao": "golpe",
        "comentario": "Loja\nfalsa", "identificadorTicket": [1, 2],
        "dadosAnalise": {
            "abertura": "2026-11-20T15:00:00.000Z", "prazoFinalizacao": "2026-11-27T12:00:00-03:00"
        },
        "origem": {"nomeParticipante": "A", "conta": "1", "nome": "Ana", "documento": "***.456.789-**"},
        "destino": {"nomeParticipante": "B", "conta": "2", "nome": "Loja", "documento": "12345678000195"},
        "criadoEm": "2026-11-20T15:00:01.000Z", "atualizadoEm": "2026-11-20T15:00:01.000Z"
    })
}

/// Returns the same row as in the schemas of Efí's newest client.
fn of_the_client() -> Value {
    let row = changed(changed(documented(), "/protocolo", Some(json!(10))), "/valor", Some(json!(100)));
    changed(changed(row, "/origem/conta", Some(json!(1))), "/destino/conta", Some(json!(2)))
}

fn with(pointer: &str, value: Option<Value>) -> Value {
    changed(documented(), pointer, value)
}

async fn list(answer: Act) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
    let server = Server::start(move |_, _| answer.clone()).await;
    efi(&server.url()).list_infractions(day(0), BUDGET).await
}

async fn rows(rows: Value) -> Vec<UpstreamInfraction> {
    list(json_reply(200, &json!({"parametros": {}, "infracoes": rows}))).await.unwrap().rows
}

#[tokio::test]
async fn both_formats_give_the_same_infraction() {
    for row in [documented(), of_the_client()] {
        let found = rows(json!([row])).await.remove(0);
        let at = |text: &str| text.parse().unwrap();
        let wanted = UpstreamInfraction {
            id: ID.to_owned(),
            end_to_end_id: crate::answers::pix(),
            amount: cais_domain::money::Money::from_centavos(10_000),
            status: UpstreamInfractionStatus::Open,
            reason: Some("Loja falsa".to_owned()),
            situation: Situation::Scam,
            opened_at: at("2026-11-20T15:00:00Z"),
            opened_at_is_reported: true,
            deadline_at: Some(at("2026-11-27T15:00:00Z")),
            defense: None,
            resolved_at: None,
        };
        assert_eq!(found, wanted, "{row}");
    }
    for (valor, centavos) in
        [(json!("100.00"), 10_000), (json!(0.01), 1), (json!(7.5), 750), (json!("9999999999.99"), 999_999_999_999)]
    {
        assert_eq!(rows(json!([with("/valor", Some(valor))])).await.remove(0).amount.centavos(), centavos);
    }
}

#[tokio::test]
async fn unknown_infraction_status_is_never_guessed() {
    for (word, wanted) in [
        ("ABERTA", Some(UpstreamInfractionStatus::Open)),
        ("EM_DEFESA", Some(UpstreamInfractionStatus::Defended)),
        ("ACEITA", Some(UpstreamInfractionStatus::Accepted)),
        ("REJEITADA", Some(UpstreamInfractionStatus::Rejected)),
        ("CANCELADA_EFI", Some(UpstreamInfractionStatus::Cancelled)),
        ("aberta", None),
        ("CANCELADA", None),
        ("SOMETHING_NEW", None),
        ("", None),
    ] {
        let found = rows(json!([with("/status", Some(json!(word))), documented()])).await;
        let first = found.first().filter(|_| found.len() == 2).map(|row| row.status);
        assert_eq!((first, found.len()), (wanted, 1 + usize::from(wanted.is_some())), "{word}");
    }
}

#[tokio::test]
async fn defense_is_read_as_far_as_shown() {
    let found = async |changes: &[(&str, Value)]| {
        let row = changes.iter().fold(documented(), |row, (pointer, value)| changed(row, pointer, Some(value.clone())));
        let defense = rows(json!([row])).await.remove(0).defense;
        defense.map(|defense| (defense.text, defense.received_at.map(|at| at.to_string())))
    };
    let text = "It was delivered.\nhttps://shop.example/proof";
    let at = json!("2026-11-21T12:00:00-03:00");
    let (text_shown, at_shown) = (Some(text.to_owned()), Some("2026-11-21T15:00:00Z".to_owned()));
    assert_eq!(found(&[]).await, None);
    assert_eq!(found(&[("/defesa", json!(" "))]).await, None);
    assert_eq!(found(&[("/defesa", json!(text))]).await, Some((text_shown.clone(), None)));
    assert_eq!(found(&[("/dadosAnalise/recebimentoDefesa", at.clone())]).await, Some((None, at_shown.clone())));
    assert_eq!(found(&[("/status", json!("EM_DEFESA"))]).await, Some((None, None)));
    let all = [("/status", json!("EM_DEFESA")), ("/defesa", json!(text)), ("/dadosAnalise/recebimentoDefesa", at)];
    assert_eq!(found(&all).await, Some((text_shown, at_shown)));
}

#[tokio::test]
async fn invalid_optional_fields_are_ignored() {
    for (row, wanted) in [
        (with("/comentario", None), "fraude Scam 2026-11-20T15:00:00Z 2026-11-27T15:00:00Z"),
        (with("/comentario", Some(json!([1]))), "fraude Scam 2026-11-20T15:00:00Z 2026-11-27T15:00:00Z"),
        (with("/tipoSituacao", None), "Loja falsa Unknown 2026-11-20T15:00:00Z 2026-11-27T15:00:00Z"),
        (with("/tipoSituacao", Some(json!(7))), "Loja falsa Unknown 2026-11-20T15:00:00Z 2026-11-27T15:00:00Z"),
        (
            with("/tipoSituacao", Some(json!("COERÇÃO"))),
            "Loja falsa Coercion 2026-11-20T15:00:00Z 2026-11-27T15:00:00Z",
        ),
        (with("/dadosAnalise/prazoFinalizacao", Some(json!("soon"))), "Loja falsa Scam 2026-11-20T15:00:00Z -"),
        (with("/dadosAnalise/abertura", None), "Loja falsa Scam 2026-11-20T15:00:01Z 2026-11-27T15:00:00Z"),
        (with("/dadosAnalise", Some(json!("?"))), "Loja falsa Scam 2026-11-20T15:00:01Z -"),
        (changed(with("/dadosAnalise", None), "/criadoEm", None), "Loja falsa Scam 2026-11-19T15:00:00Z -"),
    ] {
        let found = rows(json!([row])).await.remove(0);
        let deadline = found.deadline_at.map_or("-".to_owned(), |at| at.to_string());
        let line = format!("{} {:?} {} {deadline}", found.reason.unwrap(), found.situation, found.opened_at);
        assert_eq!(line, wanted, "{row}");
        let is_reported = row.pointer("/dadosAnalise/abertura").is_some();
        assert_eq!(found.opened_at_is_reported, is_reported, "only an own beginning shows a reopening: {row}");
    }
    let bare = changed(with("/comentario", None), "/razao", None);
    assert_eq!(rows(json!([bare])).await.remove(0).reason, None);
    let long = rows(json!([with("/comentario", Some(json!("é\u{0}".repeat(3_000))))])).await.remove(0).reason.unwrap();
    assert!(long.chars().count() <= 2_000 && !long.contains('\u{0}'));
    let settled = with("/dadosAnalise/finalizacao", Some(json!("2026-11-22T15:00:00Z")));
    assert_eq!(rows(json!([settled])).await.remove(0).resolved_at.unwrap().to_string(), "2026-11-22T15:00:00Z");
}

#[tokio::test]
async fn unreadable_infraction_does_not_hide_other_rows() {
    let no_instant = changed(changed(with("/dadosAnalise", None), "/criadoEm", None), "/dataTransacao", Some(json!(1)));
    for broken in [
        with("/idInfracao", None),
        with("/idInfracao", Some(json!("a/../b"))),
        with("/idInfracao", Some(json!({}))),
        with("/endToEndId", None),
        with("/endToEndId", Some(json!("E1"))),
        with("/valor", None),
        with("/valor", Some(json!("0.00"))),
        with("/valor", Some(json!(-1))),
        with("/valor", Some(json!("1.005"))),
        with("/valor", Some(json!("cem"))),
        with("/valor", Some(json!(1e300))),
        with("/status", None),
        with("/status", Some(json!(1))),
        no_instant,
        json!(7),
        json!([]),
        Value::Null,
    ] {
        let found = rows(json!([broken, documented(), broken])).await;
        assert_eq!(found.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), [ID], "{broken}");
    }
}

#[tokio::test]
async fn infraction_pages_are_requested_and_bounded() {
    let server = Server::start(|seen, _| {
        let number = u32::from(!seen.path.contains("paginaAtual=0"));
        let paging = json!({"paginaAtual": number, "quantidadeDePaginas": 2});
        json_reply(200, &json!({"parametros": {"paginacao": paging}, "infracoes": [documented()]}))
    })
    .await;
    let efi = efi(&server.url());
    assert_eq!(efi.list_infractions(day(0), BUDGET).await.unwrap().next, Some(1));
    assert_eq!(efi.list_infractions(day(1), BUDGET).await.unwrap().next, None);
    let query = "inicio=2026-11-20T00%3A00%3A00Z&fim=2026-11-21T00%3A00%3A00Z&paginacao.paginaAtual=1&paginacao.itensPorPagina=40";
    assert_eq!(server.seen().last().unwrap().path, format!("/v2/gn/infracoes?{query}"));

    // The longest texts of both sides, forty times, escaped.
    let long = |count: usize| Some(Value::from("\u{1}".repeat(count)));
    let longest = changed(changed(documented(), "/comentario", long(2_000)), "/defesa", long(2_501));
    let longest = changed(longest, "/justificativaAnalista", long(2_000));
    let list_of = |count: usize| json!({"infracoes": vec![longest.clone(); count]});
    let page = list(json_reply(200, &list_of(40))).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (40, Some(1)));
    assert_eq!(kind(&list(json_reply(200, &list_of(60))).await), "unknown", "more rows than requested, too large");
}

#[tokio::test]
async fn answer_that_is_no_list_is_an_error() {
    for (answer, wanted) in [
        (json_reply(200, &json!({"infracoes": []})), "ok"),
        (json_reply(200, &json!({"parametros": {}})), "unknown"),
        (json_reply(200, &json!({"pix": []})), "unknown"),
        (json_reply(200, &json!({"infracoes": {}})), "unknown"),
        (json_reply(200, &json!({"parametros": {"paginacao": {"paginaAtual": 1}}, "infracoes": []})), "unknown"),
        (json_reply(200, &json!([])), "unknown"),
        (html(200), "unknown"),
        (problem(400, "InfracoesConsultaInvalida"), "unknown"),
        (problem(404, "NaoEncontrado"), "unknown"),
        // The answer of Efí's homologation, and of the sandbox with that fault.
        (json_reply(500, &json!({"nome": "erro_aplicacao", "mensagem": "disabled"})), "unknown"),
        (problem(500, "InfracaoErroInterno"), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (json_reply(403, &json!({"error": "insufficient_scope"})), "unavailable"),
        (html(429), "unavailable"),
        (Act::Cut, "unknown"),
    ] {
        let result = list(answer).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
    }
    let server = Server::start(|_, _| json_reply(200, &json!({"infracoes": [documented()]}))).await;
    let bacen = acquirer(&server.url());
    assert!(!bacen.reports_infractions() && efi(&server.url()).reports_infractions());
    let page = bacen.list_infractions(day(0), BUDGET).await.unwrap();
    assert!(page.rows.is_empty() && page.next.is_none() && server.seen().is_empty());
}

#[tokio::test]
async fn failing_infractions_do_not_open_breaker_for_charges() {
    let server = Server::start(|seen, _| {
        if seen.path.contains("infracoes") {
            return json_reply(500, &json!({"nome": "erro_aplicacao", "mensagem": "disabled"}));
        }
        json_reply(200, &cob())
    })
    .await;
    let efi = efi(&server.url());
    let router = Router::new(vec![Arc::new(efi)]);
    let guarded = router.named(&router.first(&[]).unwrap()).unwrap();
    assert!(guarded.reports_infractions());
    for _ in 0..FAILURES_TO_OPEN {
        assert_eq!(kind(&guarded.list_infractions(day(0), BUDGET).await), "unknown");
        assert_eq!(kind(&guarded.send_defense(&crate::defenses::order(), BUDGET).await), "unknown");
    }
    assert!(router.first(&[]).is_some(), "the breaker does not count these calls");
    assert!(guarded.find_charge(&txid(), BUDGET).await.is_ok());
}
