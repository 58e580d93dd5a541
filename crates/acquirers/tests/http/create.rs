//! Tests the creation of charges: requests, checks of answers, and lost answers.

use std::time::{Duration, Instant};

use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_ports::{Acquirer, UpstreamStatus};
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, CODE, KEY, STATIC_CODE, TXID, acquirer, cob, cob_with, html, json_reply, kind, not_found, order, problem,
    reason,
};
use crate::losses::losses;
use crate::server::{Act, Server};

#[tokio::test]
async fn charge_order_is_written_in_standard_format() {
    let server = Server::start(|_, _| json_reply(201, &cob())).await;
    let mut order = order();
    let long = format!("line one\r\nline two {}", "é".repeat(200));
    order.description = Some(long);
    let document = Document::parse("12ABC34501DE35").unwrap();
    order.payer = Some((document, "Empresa\tde Tal".to_owned()));
    let charge = acquirer(&server.url()).create_charge(&order, BUDGET).await.unwrap();

    let seen = server.seen();
    let [token, put] = seen.as_slice() else { unreachable!("{seen:?}") };
    assert_eq!(token.header("authorization"), "Basic Y2xpZW50Omh1c2g=");
    assert_eq!(token.body, "grant_type=client_credentials");
    assert_eq!((put.method.as_str(), put.path.as_str()), ("PUT", &*format!("/v2/cob/{TXID}")));
    assert_eq!(put.header("authorization"), "Bearer good");
    assert_eq!(put.header("content-type"), "application/json");
    let shown = format!("line one  line two {}", "é".repeat(121));
    let body: Value = serde_json::from_str(&put.body).unwrap();
    assert_eq!(
        body,
        json!({
            "calendario": {"expiracao": 3600},
            "devedor": {"cnpj": "12ABC34501DE35", "nome": "Empresa de Tal"},
            "valor": {"original": "10.50"},
            "chave": KEY,
            "solicitacaoPagador": shown
        })
    );
    assert_eq!(charge.txid, order.txid);
    assert_eq!(charge.amount, order.amount);
    assert_eq!(charge.status, UpstreamStatus::Active);
    assert_eq!(charge.copy_paste.as_deref(), Some(CODE));
    assert_eq!(charge.expires_at.to_string(), "2026-11-20T16:00:00.123456Z");
    assert!(charge.payments.is_empty());
}

#[tokio::test]
async fn absent_optional_fields_are_omitted() {
    let server = Server::start(|_, _| json_reply(201, &cob())).await;
    let mut order = order();
    order.description = Some(" \n ".to_owned());
    order.payer = Some((Document::parse("12345678909").unwrap(), "  ".to_owned()));
    acquirer(&server.url()).create_charge(&order, BUDGET).await.unwrap();
    let body: Value = serde_json::from_str(&server.seen().last().unwrap().body).unwrap();
    assert_eq!(body, json!({"calendario": {"expiracao": 3600}, "valor": {"original": "10.50"}, "chave": KEY}));
}

#[tokio::test]
async fn inexpressible_order_is_never_sent() {
    let server = Server::start(|_, _| json_reply(201, &cob())).await;
    let acquirer = acquirer(&server.url());
    for (centavos, seconds) in [(0, 60), (-1, 60), (1_000_000_000_000, 60), (100, 0), (100, u32::MAX)] {
        let mut order = order();
        order.amount = Money::from_centavos(centavos);
        order.expires_in_s = seconds;
        let result = acquirer.create_charge(&order, BUDGET).await;
        assert_eq!(kind(&result), "refused", "{centavos} {seconds}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn documented_quirks_are_tolerated() {
    let amount_in_code = CODE.replace("53039865802", "5303986540510.505802");
    let amount_in_code = amount_in_code.strip_suffix("2BF6").unwrap();
    let crc = cais_domain::br_code::crc16(amount_in_code.as_bytes());
    for cob in [
        cob_with("/calendario/expiracao", Some(json!("3600"))),
        cob_with("/chave", None),
        cob_with("/chave", Some(json!(KEY.to_uppercase()))),
        cob_with("/revisao", Some(json!("3"))),
        cob_with("/infoAdicionais", Some(json!([{"nome": "a", "valor": "b"}]))),
        cob_with("/pixCopiaECola", Some(json!(format!("{amount_in_code}{crc:04X}")))),
    ] {
        let answer = cob.clone();
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "ok", "{cob} {}", reason(&result));
    }
}

#[tokio::test]
async fn charge_that_differs_from_order_is_refused() {
    let wrong_amount_code = STATIC_CODE;
    let broken = CODE.replace("2BF6", "2BF7");
    for (pointer, value, field) in [
        ("/txid", Some(json!("99jd8x2m4pe9ktva0c6rzq5w3n")), "txid"),
        ("/txid", None, "txid"),
        ("/valor/original", Some(json!("10.51")), "valor.original"),
        ("/valor/original", Some(json!("1050")), "valor.original"),
        ("/valor/original", Some(json!("10.5")), "valor.original"),
        ("/valor/original", None, "valor.original"),
        ("/valor", None, "valor.original"),
        ("/chave", Some(json!("a@b.example")), "chave"),
        ("/status", Some(json!("OUTRA")), "status"),
        ("/status", None, "status"),
        ("/pixCopiaECola", None, "pixCopiaECola"),
        ("/pixCopiaECola", Some(Value::Null), "pixCopiaECola"),
        ("/pixCopiaECola", Some(json!("")), "pixCopiaECola"),
        ("/pixCopiaECola", Some(json!(broken)), "pixCopiaECola"),
        ("/pixCopiaECola", Some(json!(wrong_amount_code)), "pixCopiaECola"),
        ("/pixCopiaECola", Some(json!(CODE.repeat(4))), "pixCopiaECola"),
        ("/calendario/criacao", Some(json!("yesterday")), "calendario.criacao"),
        ("/calendario", None, "calendario.criacao"),
        ("/calendario/expiracao", Some(json!(0)), "calendario.expiracao"),
        ("/calendario/expiracao", Some(json!(-1)), "calendario.expiracao"),
        ("/calendario/expiracao", Some(json!("soon")), "calendario.expiracao"),
        ("/calendario/expiracao", Some(json!(999_999_999_999_u64)), "calendario.expiracao"),
    ] {
        let answer = cob_with(pointer, value.clone());
        let server = Server::start(move |_, _| json_reply(201, &answer)).await;
        let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "refused", "{pointer} {value:?}");
        let reason = reason(&result);
        assert!(reason.contains(&format!("answer's {field} ")), "{pointer}: {reason}");
        assert_eq!(server.methods(), "PUT");
    }
}

#[tokio::test]
async fn code_with_another_amount_is_refused() {
    let code = CODE.replace("53039865802", "5303986540510.515802");
    let code = code.strip_suffix("2BF6").unwrap();
    let crc = cais_domain::br_code::crc16(code.as_bytes());
    let answer = cob_with("/pixCopiaECola", Some(json!(format!("{code}{crc:04X}"))));
    let server = Server::start(move |_, _| json_reply(201, &answer)).await;
    let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
    assert!(reason(&result).contains("shows another amount"), "{result:?}");
}

/// A `PUT` whose txid is taken, or may be taken, by the answer to the following `GET`.
#[tokio::test]
async fn taken_txid_is_looked_up() {
    let other = cob_with("/valor/original", Some(json!("99.00")));
    for (get, wanted) in [
        (json_reply(200, &cob()), "ok"),
        (json_reply(200, &other), "refused"),
        (json_reply(200, &cob_with("/pixCopiaECola", None)), "refused"),
        (not_found(), "absent"),
        (html(404), "unknown"),
        (problem(500, "ErroInternoDoServidor"), "unknown"),
        (problem(403, "AcessoNegado"), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        // Only a refusal that need not mean a taken txid is certain without a charge.
        for (conflict, absent) in [
            (problem(409, "txid_duplicado"), "unknown"),
            (html(409), "unknown"),
            (problem(400, "CobOperacaoInvalida"), "refused"),
        ] {
            let (get, wanted) = (get.clone(), if wanted == "absent" { absent } else { wanted });
            let server = Server::start(move |seen, _| match seen.method.as_str() {
                "PUT" => conflict.clone(),
                _ => get.clone(),
            })
            .await;
            let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
            assert_eq!(kind(&result), wanted, "{}", reason(&result));
            assert_eq!(server.methods(), "PUT GET");
        }
    }
}

#[tokio::test]
async fn charge_with_lost_answer_is_found_by_txid() {
    for (name, loss, budget) in losses(&cob()) {
        let server = Server::start(move |seen, _| match seen.method.as_str() {
            "PUT" => loss.clone(),
            _ => json_reply(200, &cob()),
        })
        .await;
        let result = acquirer(&server.url()).create_charge(&order(), budget).await;
        assert_eq!(kind(&result), "ok", "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "PUT GET", "{name}");
    }
}

#[tokio::test]
async fn absent_charge_is_resent_with_same_txid() {
    for (name, loss, budget) in losses(&cob()) {
        let server = Server::start(move |seen, nth| match (seen.method.as_str(), nth) {
            ("PUT", 0) => loss.clone(),
            ("PUT", _) => json_reply(201, &cob()),
            _ => not_found(),
        })
        .await;
        let result = acquirer(&server.url()).create_charge(&order(), budget).await;
        assert_eq!(kind(&result), "ok", "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "PUT GET PUT", "{name}");
        let paths: Vec<_> = server.seen().into_iter().skip(1).map(|seen| seen.path).collect();
        assert!(paths.iter().all(|path| *path == format!("/v2/cob/{TXID}")), "{paths:?}");
    }
}

/// After a lost answer, only a found charge is certain, equal to the order or not.
#[tokio::test]
async fn refusal_after_lost_answer_proves_nothing() {
    let other = cob_with("/valor/original", Some(json!("99.00")));
    for (name, get, second, wanted, methods) in [
        ("refused at last", not_found(), problem(400, "RequisicaoInvalida"), "unknown", "PUT GET PUT"),
        ("invalid at last", not_found(), problem(400, "CobOperacaoInvalida"), "unknown", "PUT GET PUT GET"),
        ("overloaded", not_found(), problem(429, "X"), "unknown", "PUT GET PUT"),
        ("lost again", not_found(), Act::Cut, "unknown", "PUT GET PUT"),
        ("made another", not_found(), json_reply(201, &other), "refused", "PUT GET PUT"),
        ("no problem in the 404", html(404), Act::Cut, "unknown", "PUT GET"),
        ("not to be read", html(500), Act::Cut, "unknown", "PUT GET"),
        ("not readable JSON", json_reply(200, &json!("x")), Act::Cut, "unknown", "PUT GET"),
        ("doorkeeper", html(403), Act::Cut, "unknown", "PUT GET"),
        ("cut", Act::Cut, Act::Cut, "unknown", "PUT GET"),
        ("another charge", json_reply(200, &other), Act::Cut, "refused", "PUT GET"),
    ] {
        let server = Server::start(move |seen, nth| match (seen.method.as_str(), nth) {
            ("PUT", 0) => Act::Cut,
            ("PUT", _) => second.clone(),
            _ => get.clone(),
        })
        .await;
        let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), wanted, "{name}: {}", reason(&result));
        assert_eq!(server.methods(), methods, "{name}");
    }
}

#[tokio::test]
async fn late_first_creation_is_found_after_resend() {
    let server = Server::start(|seen, nth| match (seen.method.as_str(), nth) {
        ("PUT", 0) => Act::Cut,
        ("PUT", _) => problem(409, "txid_duplicado"),
        (_, 0) => not_found(),
        (_, _) => json_reply(200, &cob()),
    })
    .await;
    let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
    assert_eq!(kind(&result), "ok", "{}", reason(&result));
    assert_eq!(server.methods(), "PUT GET PUT GET");
}

#[tokio::test]
async fn budget_is_respected() {
    let server = Server::start(|_, _| Act::Hang).await;
    let started = Instant::now();
    let result = acquirer(&server.url()).create_charge(&order(), Duration::from_millis(600)).await;
    assert_eq!(kind(&result), "unknown");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(server.methods(), "PUT GET");
}
