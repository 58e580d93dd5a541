//! Tests infractions: opened by the tester, listed, defended once, resolved, withdrawn, reopened.

use cais_domain::{end_to_end_id::EndToEndId, infraction::Situation};
use cais_sandbox::{ControlError, InfractionItem, InfractionOutcome, InfractionStatus, NewDispute};
use serde_json::{Value, json};

use crate::bed::{Answer, Bed, instant_sends, money, with_state_file};

const PERIOD: &str = "inicio=2020-01-01T00:00:00Z&fim=2100-01-01T00:00:00Z";
const DAY_S: i64 = 86_400;

/// Starts a simulator with a Pix of that amount and an infraction on it.
async fn disputed(amount: &str, dispute: NewDispute) -> (Bed, EndToEndId, InfractionItem) {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, amount).await;
    let item = bed.control.open_infraction(&e2e, dispute).unwrap();
    (bed, e2e, item)
}

async fn rows(bed: &Bed) -> Vec<Value> {
    let list = bed.get(&format!("/v2/gn/infracoes?{PERIOD}")).await;
    assert_eq!(list.status, 200, "{list:?}");
    list.body["infracoes"].as_array().unwrap().clone()
}

async fn defend(bed: &Bed, id: &str, text: &str) -> Answer {
    let body = json!({ "analise": "rejeitado", "justificativa": text });
    bed.post(&format!("/v2/gn/infracoes/{id}/defesa"), &body).await
}

fn only(bed: &Bed) -> InfractionItem {
    bed.control.ledger().unwrap().infractions.remove(0)
}

/// Returns the returns of the Pix, as `natureza valor status`.
async fn returns(bed: &Bed, e2e: &EndToEndId) -> Vec<String> {
    let pix = bed.get(&format!("/v2/pix/{e2e}")).await.body;
    let returns = pix["devolucoes"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |back: &Value| [&back["natureza"], &back["valor"], &back["status"]].map(text).join(" ");
    returns.iter().map(line).collect()
}

#[tokio::test]
async fn infraction_is_listed_in_efi_format() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let request = json!({ "tipoSituacao": "coerção", "valor": "7.50", "prazo_s": 3600 });
    let opened = bed.post(&format!("/sandbox/pix/{e2e}/infraction"), &request).await;
    assert_eq!((opened.status, &opened.body["status"]), (200, &json!("ABERTA")), "{opened:?}");
    let rows = rows(&bed).await;
    let row = &rows[0];
    assert_eq!((rows.len(), &row["idInfracao"]), (1, &opened.body["idInfracao"]));
    assert_eq!(
        (&row["endToEndId"], &row["status"], &row["tipoSituacao"]),
        (&json!(e2e.as_str()), &json!("ABERTA"), &request["tipoSituacao"])
    );
    assert_eq!(row["valor"].to_string(), "7.50", "a number");
    assert!(row["protocolo"].is_u64() && row["origem"]["conta"].is_u64() && row["destino"]["conta"].is_u64());
    let at = |pointer: &str| row.pointer(pointer).unwrap().as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let deadline = at("/dadosAnalise/prazoFinalizacao").duration_since(at("/dadosAnalise/abertura"));
    assert_eq!(deadline.as_secs(), 3_600);
    assert_eq!(opened.body["prazoFinalizacao"], row["dadosAnalise"]["prazoFinalizacao"]);
    let mut fields: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let required = [
        "atualizadoEm",
        "chave",
        "comentario",
        "criadoEm",
        "dadosAnalise",
        "dataTransacao",
        "destino",
        "endToEndId",
        "idInfracao",
        "identificadorTicket",
        "origem",
        "protocolo",
        "razao",
        "status",
        "tipoSituacao",
        "valor",
    ];
    assert_eq!(fields, required, "no field that Efí's newest client lacks");
}

#[tokio::test]
async fn infractions_are_listed_by_page_and_period() {
    let bed = Bed::start().await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bed.control.open_infraction(&e2e, NewDispute::default()).unwrap().id);
    }
    let mut seen = Vec::new();
    for page in 0..2 {
        let path = format!("/v2/gn/infracoes?{PERIOD}&paginacao.paginaAtual={page}&paginacao.itensPorPagina=2");
        let list = bed.get(&path).await.body;
        let paging =
            json!({ "paginaAtual": page, "itensPorPagina": 2, "quantidadeDePaginas": 2, "quantidadeTotalDeItens": 3 });
        assert_eq!(list["parametros"]["paginacao"], paging);
        seen.extend(
            list["infracoes"].as_array().unwrap().iter().map(|row| row["idInfracao"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(seen, ids);
    let from = |at: &str| format!("/v2/gn/infracoes?inicio={at}&fim=2100-01-01T00:00:00Z");
    assert_eq!(bed.get(&from("2099-01-01T00:00:00Z")).await.body["infracoes"], json!([]));
    for (query, violated) in [
        ("", vec!["inicio", "fim"]),
        ("inicio=yesterday&fim=2026-01-01T00:00:00Z", vec!["inicio"]),
        ("inicio=2026-01-02T00:00:00Z&fim=2026-01-01T00:00:00Z", vec!["fim"]),
        ("inicio=2026-01-02T00:00:00Z&fim=2026-01-03T00:00:00Z&status=ABERTA", vec!["status"]),
    ] {
        let answer = bed.get(&format!("/v2/gn/infracoes?{query}")).await;
        let found = (answer.status, answer.kind(), answer.violated());
        assert_eq!(found, (400, "InfracoesConsultaInvalida", violated), "{query}");
    }
}

#[tokio::test]
async fn single_defense_is_accepted_until_the_deadline() {
    let dispute = NewDispute { deadline_s: Some(7 * 86_400), ..NewDispute::default() };
    let (mut bed, _, item) = disputed("10.00", dispute).await;
    bed.control.set_clock_offset(7 * DAY_S - 60).unwrap();
    bed.authenticate().await;
    let taken = defend(&bed, &item.id, "It was delivered.\nhttps://shop.example/proof").await;
    assert_eq!((taken.status, taken.body), (201, Value::Null));
    let row = rows(&bed).await.remove(0);
    assert_eq!(
        (&row["status"], &row["defesa"]),
        (&json!("EM_DEFESA"), &json!("It was delivered.\nhttps://shop.example/proof"))
    );
    assert!(row["dadosAnalise"]["recebimentoDefesa"].is_string());
    let again = defend(&bed, &item.id, "It was delivered.").await;
    assert_eq!(
        (again.status, again.kind(), again.violated()),
        (409, "InfracaoOperacaoInvalida", vec!["body.infractionId"])
    );
    let item = only(&bed);
    assert_eq!((item.defenses, item.defense_requests, item.status), (1, 2, InfractionStatus::Defended));

    let (mut bed, _, item) = disputed("10.00", dispute).await;
    bed.control.set_clock_offset(7 * DAY_S + 1).unwrap();
    bed.authenticate().await;
    let late = defend(&bed, &item.id, "It was delivered.").await;
    assert_eq!(
        (late.status, late.kind(), late.violated()),
        (422, "InfracaoOperacaoInvalida", vec!["body.infractionId"])
    );
    let item = only(&bed);
    assert_eq!((item.defenses, item.defense_requests, item.status), (0, 1, InfractionStatus::Open));
}

#[tokio::test]
async fn bad_defense_is_refused_without_effect() {
    let (bed, _, item) = disputed("10.00", NewDispute::default()).await;
    let path = format!("/v2/gn/infracoes/{}/defesa", item.id);
    for (body, property) in [
        (json!({ "justificativa": "x" }), "body.analise"),
        (json!({ "analise": "aceito", "justificativa": "x" }), "body.analise"),
        (json!({ "analise": "rejeitado" }), "body.justificativa"),
        (json!({ "analise": "rejeitado", "justificativa": " " }), "body.justificativa"),
        (json!({ "analise": "rejeitado", "justificativa": "x".repeat(4_001) }), "body.justificativa"),
        (json!({ "analise": "rejeitado", "justificativa": "x", "y": 1 }), "body.y"),
        (json!([]), "body"),
    ] {
        let answer = bed.post(&path, &body).await;
        let found = (answer.status, answer.kind(), answer.violated());
        assert_eq!(found, (400, "InfracaoOperacaoInvalida", vec![property]), "{body}");
    }
    let unknown = defend(&bed, "1b2c", "x").await;
    assert_eq!((unknown.status, unknown.kind()), (404, "InfracaoNaoEncontrada"));
    assert_eq!((only(&bed).defenses, only(&bed).defense_requests), (0, 0));
}

#[tokio::test]
async fn lost_infraction_returns_the_rest_under_its_nature() {
    let dispute = NewDispute { amount: Some(money("7.00")), ..NewDispute::default() };
    let (bed, e2e, item) = disputed("10.00", dispute).await;
    assert_eq!(bed.request_refund(&e2e, "r1", "6.00").await.status, 201);
    let lost = bed.control.resolve_infraction(&item.id, InfractionOutcome::Lost).unwrap();
    assert_eq!((lost.status, lost.returns, lost.returned), (InfractionStatus::Accepted, 1, money("4.00")));
    assert_eq!(returns(&bed, &e2e).await, ["ORIGINAL 6.00 EM_PROCESSAMENTO", "MED_FRAUDE 4.00 EM_PROCESSAMENTO"]);
    bed.control.set_clock_offset(2).unwrap();
    assert_eq!(returns(&bed, &e2e).await, ["ORIGINAL 6.00 DEVOLVIDO", "MED_FRAUDE 4.00 DEVOLVIDO"]);
    assert_eq!(bed.request_refund(&e2e, "r2", "0.01").await.status, 400, "the whole Pix is returned already");
    let row = rows(&bed).await.remove(0);
    assert_eq!(row["status"], "ACEITA");
    assert!(row["dadosAnalise"]["finalizacao"].is_string());
    assert_eq!(bed.balance().await, "1000000000.00");
    assert_eq!(defend(&bed, &item.id, "x").await.status, 409);

    // The infraction is lost even if no rest of the Pix remains. A return for an operational flaw has another nature.
    let second = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    let lost = bed.control.resolve_infraction(&second.id, InfractionOutcome::Lost).unwrap();
    assert_eq!((lost.status, lost.returns, lost.returned), (InfractionStatus::Accepted, 0, money("0.00")));
    let (_, other) = bed.paid(2, "3.00").await;
    let body = json!({ "natureza": "MED_OPERACIONAL" });
    let opened = bed.post(&format!("/sandbox/pix/{other}/infraction"), &body).await.body;
    bed.control.resolve_infraction(opened["idInfracao"].as_str().unwrap(), InfractionOutcome::Lost).unwrap();
    assert_eq!(returns(&bed, &other).await, ["MED_OPERACIONAL 3.00 EM_PROCESSAMENTO"]);
}

#[tokio::test]
async fn lost_infraction_returns_at_most_the_balance() {
    let (bed, e2e, item) = disputed("10.00", NewDispute::default()).await;
    bed.control.set_balance(money("2.50")).unwrap();
    let lost = bed.control.resolve_infraction(&item.id, InfractionOutcome::Lost).unwrap();
    assert_eq!((lost.returned, bed.balance().await.as_str()), (money("2.50"), "0.00"));
    bed.control.set_clock_offset(2).unwrap();
    assert_eq!(returns(&bed, &e2e).await, ["MED_FRAUDE 2.50 DEVOLVIDO"]);
}

#[tokio::test]
async fn each_outcome_is_allowed_only_from_valid_states() {
    use InfractionOutcome::{Cancelled, Lost, Reopened, Won};
    for (steps, wanted) in [
        (&[Won][..], Ok("REJEITADA")),
        (&[Cancelled], Ok("CANCELADA_EFI")),
        (&[Won, Won], Err("the infraction is resolved")),
        (&[Won, Lost], Err("the infraction is resolved")),
        (&[Cancelled, Won], Err("the infraction is resolved")),
        (&[Lost, Cancelled], Ok("CANCELADA_EFI")),
        (&[Cancelled, Cancelled], Err("the infraction is cancelled")),
        (&[Reopened], Err("the infraction is open")),
        (&[Won, Reopened], Ok("ABERTA")),
        (&[Lost, Reopened, Won], Ok("REJEITADA")),
        (&[Cancelled, Reopened, Lost], Ok("ACEITA")),
    ] {
        let (bed, _, item) = disputed("10.00", NewDispute::default()).await;
        let results: Vec<_> = steps.iter().map(|step| bed.control.resolve_infraction(&item.id, *step)).collect();
        let found = match results.last().unwrap() {
            Ok(item) => Ok(serde_json::to_value(item.status).unwrap()),
            Err(ControlError::InvalidState(why)) => Err(*why),
            Err(other) => unreachable!("{other}"),
        };
        assert_eq!(found, wanted.map(Value::from), "{steps:?}");
    }
}

#[tokio::test]
async fn reopened_infraction_restarts_its_analysis() {
    let (mut bed, e2e, item) = disputed("10.00", NewDispute::default()).await;
    assert_eq!(defend(&bed, &item.id, "first").await.status, 201);
    bed.control.resolve_infraction(&item.id, InfractionOutcome::Lost).unwrap();
    bed.control.set_clock_offset(30 * DAY_S).unwrap();
    bed.authenticate().await;
    let again = bed.control.resolve_infraction(&item.id, InfractionOutcome::Reopened).unwrap();
    assert_eq!((again.status, again.defense.clone()), (InfractionStatus::Open, None));
    assert!(again.opened_at > item.deadline_at);
    assert_eq!(again.deadline_at.duration_since(again.opened_at), item.deadline_at.duration_since(item.opened_at));
    let recent = format!("/v2/gn/infracoes?inicio={}&fim=2100-01-01T00:00:00Z", again.opened_at);
    let row = bed.get(&recent).await.body["infracoes"][0].clone();
    assert_eq!((&row["idInfracao"], &row["status"], &row["defesa"]), (&json!(item.id), &json!("ABERTA"), &Value::Null));
    assert_eq!(defend(&bed, &item.id, "second").await.status, 201);
    let lost = bed.control.resolve_infraction(&item.id, InfractionOutcome::Lost).unwrap();
    assert_eq!((lost.defenses, lost.returns, lost.returned), (2, 1, money("10.00")), "the Pix went back before");
    assert_eq!(returns(&bed, &e2e).await, ["MED_FRAUDE 10.00 DEVOLVIDO"]);
}

#[tokio::test]
async fn bad_dispute_is_refused() {
    let (bed, e2e, item) = disputed("10.00", NewDispute::default()).await;
    for body in [
        json!({ "valor": "0.00" }),
        json!({ "valor": "10.01" }),
        json!({ "valor": "x" }),
        json!({ "prazo_s": 0 }),
        json!({ "prazo_s": 31_536_001 }),
        json!({ "prazo_s": -1 }),
        json!({ "tipoSituacao": "raio" }),
        json!({ "natureza": "ORIGINAL" }),
        json!({ "x": 1 }),
    ] {
        assert_eq!(bed.post(&format!("/sandbox/pix/{e2e}/infraction"), &body).await.status, 400, "{body}");
    }
    let unknown = "E".repeat(32);
    assert_eq!(bed.post(&format!("/sandbox/pix/{unknown}/infraction"), &json!({})).await.status, 404);
    assert_eq!(bed.post("/sandbox/pix/E1/infraction", &json!({})).await.status, 404);
    let resolve = |id: &str| format!("/sandbox/infractions/{id}/resolve");
    assert_eq!(bed.post(&resolve("x"), &json!({ "outcome": "won" })).await.status, 404);
    assert_eq!(bed.post(&resolve(&item.id), &json!({ "outcome": "drawn" })).await.status, 400);
    assert_eq!(bed.post(&resolve(&item.id), &json!({})).await.status, 400);
    let won = bed.post(&resolve(&item.id), &json!({ "outcome": "won" })).await;
    assert_eq!((won.status, &won.body["status"]), (200, &json!("REJEITADA")));
    assert_eq!(bed.post(&resolve(&item.id), &json!({ "outcome": "won" })).await.status, 409);
    assert_eq!(bed.control.ledger().unwrap().infractions.len(), 1);
    let dispute = NewDispute { situation: Some(Situation::Other), ..NewDispute::default() };
    bed.control.open_infraction(&e2e, dispute).unwrap();
    assert_eq!(rows(&bed).await[1]["tipoSituacao"], "outro");
}

#[tokio::test]
async fn infractions_survive_kill_and_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = Bed::with(with_state_file(&path, instant_sends())).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let open = |amount: &str| {
        let dispute = NewDispute { amount: Some(money(amount)), ..NewDispute::default() };
        bed.control.open_infraction(&e2e, dispute).unwrap().id
    };
    let (lost, defended, again) = (open("4.00"), open("5.00"), open("6.00"));
    assert_eq!(defend(&bed, &defended, "a\nb").await.status, 201);
    assert_eq!(defend(&bed, &defended, "c").await.status, 409);
    bed.control.resolve_infraction(&lost, InfractionOutcome::Lost).unwrap();
    bed.control.resolve_infraction(&again, InfractionOutcome::Cancelled).unwrap();
    bed.control.resolve_infraction(&again, InfractionOutcome::Reopened).unwrap();
    // The return settles a second later, before or after the kill.
    bed.control.set_clock_offset(2).unwrap();
    let facts = async |bed: &Bed| {
        let rows = rows(bed).await;
        (rows, bed.control.ledger().unwrap().infractions, returns(bed, &e2e).await, bed.balance().await)
    };
    let before = facts(&bed).await;
    assert_eq!(before.2, ["MED_FRAUDE 4.00 DEVOLVIDO"]);
    // A kill leaves the file unchanged, so a copy of the file simulates it.
    let copy = folder.path().join("copy.jsonl");
    std::fs::copy(&path, &copy).unwrap();
    // The second start reads the compacted file of the first.
    for _ in 0..2 {
        let killed = Bed::with(with_state_file(&copy, instant_sends())).await;
        killed.control.set_clock_offset(2).unwrap();
        assert_eq!(facts(&killed).await, before);
        killed.sandbox.stop().await;
    }
    let mut bed = Bed::with(with_state_file(&copy, instant_sends())).await;
    bed.authenticate().await;
    assert_eq!(defend(&bed, &defended, "d").await.status, 409);
    assert_eq!(defend(&bed, &again, "d").await.status, 201);
    let items = bed.control.ledger().unwrap().infractions;
    assert_eq!(
        items.iter().map(|item| (item.defenses, item.defense_requests)).collect::<Vec<_>>(),
        [(0, 0), (1, 3), (1, 1)]
    );
}
