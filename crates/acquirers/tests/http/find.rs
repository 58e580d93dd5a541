//! Tests reads of a charge and its payments.

use cais_ports::{Acquirer, AcquirerError, ReturnNature, UpstreamStatus};
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, CODE, NAME, STATIC_CODE, TXID, acquirer, changed, cob, cob_with, devolucao, html, http, json_reply, kind,
    not_found, problem, reason, returned, txid,
};
use crate::server::{Act, Server};

fn pix(tail: &str, valor: &str, horario: &str) -> Value {
    json!({
        "endToEndId": format!("E12345678202611201500{tail}"), "txid": TXID, "valor": valor,
        "horario": horario, "infoPagador": "0123456789", "devolucoes": []
    })
}

fn paid(pix: &Value) -> Value {
    let mut cob = cob_with("/pix", Some(pix.clone()));
    *cob.pointer_mut("/status").unwrap() = json!("CONCLUIDA");
    cob
}

async fn find(answer: Act) -> Result<Option<cais_ports::UpstreamCharge>, AcquirerError> {
    let server = Server::start(move |_, _| answer.clone()).await;
    acquirer(&server.url()).find_charge(&txid(), BUDGET).await
}

#[tokio::test]
async fn payments_are_returned_oldest_first() {
    let pix = json!([
        pix("bbbbbbbbbbb", "10.50", "2026-11-20T15:00:02Z"),
        pix("aaaaaaaaaaa", "0.01", "2026-11-20T12:00:01.5-03:00"),
        pix("bbbbbbbbbbb", "10.50", "2026-11-20T15:00:02Z"),
        pix("ccccccccccc", "9999999999.99", "2026-11-20T15:00:03Z"),
    ]);
    let charge = find(json_reply(200, &paid(&pix))).await.unwrap().unwrap();
    assert_eq!(charge.status, UpstreamStatus::Completed);
    let found: Vec<_> = charge
        .payments
        .iter()
        .map(|pix| (pix.end_to_end_id.to_string(), pix.amount.to_string(), pix.paid_at.to_string()))
        .collect();
    let wanted = [
        ("aaaaaaaaaaa", "0.01", "2026-11-20T15:00:01.5Z"),
        ("bbbbbbbbbbb", "10.50", "2026-11-20T15:00:02Z"),
        ("ccccccccccc", "9999999999.99", "2026-11-20T15:00:03Z"),
    ]
    .map(|(tail, amount, at)| (format!("E12345678202611201500{tail}"), amount.to_owned(), at.to_owned()));
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn returns_are_listed_with_their_payment() {
    const RTR: &str = "D12345678202611201501bbbbbbbbbbb";
    let back = |id: Value, valor: &str, status: &str| {
        json!({
            "id": id, "rtrId": RTR, "valor": valor, "status": status, "motivo": "Conta\nencerrada",
            "horario": {"solicitacao": "2026-11-20T15:01:00Z", "liquidacao": "2026-11-20T12:01:02-03:00"}
        })
    };
    let bare = json!({"id": "m", "rtrId": "D1", "natureza": "MED_FRAUDE", "valor": "0.25", "status": "DEVOLVIDO"});
    for (returns, wanted) in [
        (json!([]), Some(vec![])),
        (Value::Null, Some(vec![])),
        (
            json!([
                back(json!(NAME), "4.00", "DEVOLVIDO"),
                back(json!("x"), "5.00", "NAO_REALIZADO"),
                back(json!("y"), "0.50", "EM_PROCESSAMENTO"),
                back(json!("y"), "0.50", "EM_PROCESSAMENTO"),
                back(json!("z"), "0.75", "SOMETHING_NEW"),
                bare,
            ]),
            Some(vec![
                format!("{NAME} {RTR} 4.00 done 2026-11-20T15:01:02Z ours"),
                format!("x {RTR} 5.00 failed Conta encerrada"),
                format!("y {RTR} 0.50 open"),
                format!("z {RTR} 0.75 open"),
                "m - 0.25 done - med".to_owned(),
            ]),
        ),
        (
            json!([back(Value::Null, "4.00", "DEVOLVIDO")]),
            Some(vec![format!("{RTR} {RTR} 4.00 done 2026-11-20T15:01:02Z")]),
        ),
        (json!([back(json!("x"), "4", "DEVOLVIDO")]), None),
        // An identical duplicate counts once; different facts are a contradiction.
        (
            json!([
                back(json!("x"), "5.00", "EM_PROCESSAMENTO"),
                back(json!("y"), "1.00", "EM_PROCESSAMENTO"),
                back(json!("x"), "5.00", "EM_PROCESSAMENTO"),
            ]),
            Some(vec![format!("x {RTR} 5.00 open"), format!("y {RTR} 1.00 open")]),
        ),
        (
            json!([
                back(json!("x"), "5.00", "EM_PROCESSAMENTO"),
                back(json!("y"), "1.00", "EM_PROCESSAMENTO"),
                back(json!("x"), "5.00", "DEVOLVIDO"),
            ]),
            None,
        ),
    ] {
        let mut one = pix("aaaaaaaaaaa", "10.50", "2026-11-20T15:00:00Z");
        *one.get_mut("devolucoes").unwrap() = returns;
        let found = find(json_reply(200, &paid(&json!([one])))).await.ok().flatten();
        let found =
            found.map(|charge| charge.payments.first().unwrap().returns.iter().map(returned).collect::<Vec<_>>());
        assert_eq!(found, wanted);
    }
}

#[tokio::test]
async fn nature_and_reason_of_return_are_read() {
    for (nature, wanted) in [
        (Some(json!("ORIGINAL")), ReturnNature::Ordinary),
        (Some(json!("RETIRADA")), ReturnNature::Ordinary),
        (Some(json!("MED_FRAUDE")), ReturnNature::Infraction),
        (Some(json!("MED_OPERACIONAL")), ReturnNature::Infraction),
        (Some(json!("MED_PIX_AUTOMATICO")), ReturnNature::Infraction),
        (Some(json!("OUTRA")), ReturnNature::Ordinary),
        (Some(json!({"a": 1})), ReturnNature::Ordinary),
        (Some(Value::Null), ReturnNature::Ordinary),
        (None, ReturnNature::Ordinary),
    ] {
        let mut one = pix("aaaaaaaaaaa", "10.50", "2026-11-20T15:00:00Z");
        *one.get_mut("devolucoes").unwrap() = json!([changed(devolucao(), "/natureza", nature.clone())]);
        let charge = find(json_reply(200, &paid(&json!([one])))).await.unwrap().unwrap();
        assert_eq!(charge.payments.first().unwrap().returns.first().unwrap().nature, wanted, "{nature:?}");
    }
}

#[tokio::test]
async fn unreadable_payment_fails_the_read_by_name() {
    let good = || pix("aaaaaaaaaaa", "10.50", "2026-11-20T15:00:00Z");
    let with = |field: &str, value: Value| {
        let mut pix = good();
        *pix.get_mut(field).unwrap() = value;
        pix
    };
    for (second, named) in [
        (with("endToEndId", json!("E1")), "pix[1].endToEndId"),
        (with("endToEndId", Value::Null), "pix[1].endToEndId"),
        (with("valor", json!("10.5")), "pix[1].valor"),
        (with("valor", json!("0.00")), "pix[1].valor"),
        (with("valor", json!(10.5)), "pix[1]"),
        (with("valor", Value::Null), "pix[1].valor"),
        (with("horario", json!("noon")), "pix[1].horario"),
        (with("horario", Value::Null), "pix[1].horario"),
        (with("txid", json!("99jd8x2m4pe9ktva0c6rzq5w3n")), "pix[1].txid"),
        (json!(7), "pix[1]"),
        (with("valor", json!("10.51")), "repeats an endToEndId with other values"),
    ] {
        let result = find(json_reply(200, &paid(&json!([good(), second])))).await;
        assert_eq!(kind(&result), "unknown", "{second}");
        assert!(reason(&result).contains(named), "{named}: {}", reason(&result));
    }
}

#[tokio::test]
async fn status_and_code_are_read() {
    for (text, status) in [
        ("ATIVA", UpstreamStatus::Active),
        ("CONCLUIDA", UpstreamStatus::Completed),
        ("REMOVIDA_PELO_USUARIO_RECEBEDOR", UpstreamStatus::Removed),
        ("REMOVIDA_PELO_PSP", UpstreamStatus::Removed),
    ] {
        let answer = cob_with("/status", Some(json!(text)));
        let charge = find(json_reply(200, &answer)).await.unwrap().unwrap();
        assert_eq!((charge.status, charge.copy_paste.as_deref()), (status, Some(CODE)));
    }
    let answer = cob_with("/pixCopiaECola", None);
    let charge = find(json_reply(200, &answer)).await.unwrap().unwrap();
    assert_eq!(charge.copy_paste, None);
    let answer = cob_with("/calendario/expiracao", None);
    let charge = find(json_reply(200, &answer)).await.unwrap().unwrap();
    assert_eq!(charge.expires_at.to_string(), "2026-11-21T15:00:00.123456Z");
}

#[tokio::test]
async fn only_a_named_absence_is_absence() {
    let about_blank = r#"{"type":"about:blank","title":"Not Found","status":404}"#;
    let gateway = r#"{"status":404,"error":"Not Found","path":"/v2/cob"}"#;
    for (answer, known_absent) in [
        (not_found(), true),
        (problem(404, "NaoEncontrado"), true),
        (Act::Reply(http(404, "application/json", r#"{"nome":"cobranca_nao_encontrada"}"#)), true),
        (Act::Reply(http(400, "application/json", r#"{"nome":"cobranca_nao_encontrada"}"#)), true),
        (Act::Reply(http(400, "application/json", r#"{"nome":"txid_invalido"}"#)), false),
        (Act::Reply(http(404, "application/json", r#"{"nome":"rota_nao_disponivel"}"#)), false),
        (problem(404, "WebhookNaoEncontrado"), false),
        (html(400), false),
        (Act::Reply(http(404, "application/problem+json", about_blank)), false),
        (Act::Reply(http(404, "application/json", gateway)), false),
        (Act::Reply(http(404, "application/json", "")), false),
        (html(404), false),
    ] {
        let result = find(answer).await;
        assert_eq!(matches!(result, Ok(None)), known_absent, "{result:?}");
        assert_eq!(result.is_err(), !known_absent, "{result:?}");
    }
}

#[tokio::test]
async fn payment_is_read_with_any_code_and_key() {
    let broken = CODE.replace("2BF6", "2BF7");
    let payment = json!([pix("bbbbbbbbbbb", "10.50", "2026-11-20T15:00:02Z")]);
    for (pointer, odd, code) in [
        ("/chave", json!("a@b.example"), Some(CODE)),
        ("/chave", json!("not a key"), Some(CODE)),
        ("/pixCopiaECola", json!(broken), None),
        ("/pixCopiaECola", json!(STATIC_CODE), None),
        ("/pixCopiaECola", json!(""), None),
    ] {
        let answer = changed(paid(&payment), pointer, Some(odd.clone()));
        let charge = find(json_reply(200, &answer)).await.unwrap().unwrap();
        assert_eq!((charge.status, charge.payments.len()), (UpstreamStatus::Completed, 1), "{pointer} {odd}");
        assert_eq!(charge.copy_paste.as_deref(), code, "{pointer} {odd}");
    }
}

#[tokio::test]
async fn answer_that_contradicts_request_is_an_error() {
    for (answer, wanted) in [
        (json_reply(200, &cob_with("/txid", Some(json!("99jd8x2m4pe9ktva0c6rzq5w3n")))), "unknown"),
        (json_reply(200, &cob_with("/valor/original", Some(json!("x")))), "unknown"),
        (json_reply(200, &cob_with("/pix", Some(json!({})))), "unknown"),
        (html(200), "unknown"),
        (problem(400, "CobConsultaInvalida"), "unknown"),
        (problem(500, "ErroInternoDoServidor"), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (problem(429, "X"), "unavailable"),
        (Act::Cut, "unknown"),
        (json_reply(200, &cob()), "ok"),
    ] {
        let result = find(answer).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
    }
}

#[tokio::test]
async fn many_reads_share_one_connection() {
    let server = Server::start(|_, _| json_reply(200, &cob())).await;
    let acquirer = acquirer(&server.url());
    for _ in 0..20 {
        acquirer.find_charge(&txid(), BUDGET).await.unwrap().unwrap();
    }
    assert_eq!(server.connections(), 1);
    assert_eq!(server.tokens(), 1);
}
