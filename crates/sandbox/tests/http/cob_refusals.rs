//! Tests invalid bodies of charges, each with the violated property.

use serde_json::{Value, json};

use crate::bed::{Bed, read, txid};

/// Returns the smallest valid body with one field replaced.
fn with(bed: &Bed, pointer: &str, value: Value) -> Value {
    let mut body = bed.cob("10.00");
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(field.to_owned(), value);
    body
}

#[tokio::test]
async fn each_rule_of_the_charge_body_is_enforced() {
    let bed = Bed::start().await;
    let text = |length| Value::String("x".repeat(length));
    let items = |count| Value::Array(vec![json!({ "nome": "n", "valor": "v" }); count]);
    let cases = [
        ("/calendario/expiracao", json!(0), "cob.calendario.expiracao"),
        ("/calendario/expiracao", json!(-1), "cob.calendario.expiracao"),
        ("/calendario/expiracao", json!("3600"), "cob.calendario.expiracao"),
        ("/calendario/expiracao", json!(1.5), "cob.calendario.expiracao"),
        ("/calendario/expiracao", json!(3_000_000_000_u32), "cob.calendario.expiracao"),
        ("/calendario/criacao", json!("2026-01-01T00:00:00Z"), "cob.calendario.criacao"),
        ("/calendario", json!(3600), "cob.calendario"),
        ("/valor/original", json!(10.00), "cob.valor.original"),
        ("/valor/original", json!("10"), "cob.valor.original"),
        ("/valor/original", json!("10.0"), "cob.valor.original"),
        ("/valor/original", json!("0.00"), "cob.valor.original"),
        ("/valor/original", json!("-1.00"), "cob.valor.original"),
        ("/valor/original", json!("12345678901.00"), "cob.valor.original"),
        ("/valor/modalidadeAlteracao", json!(2), "cob.valor.modalidadeAlteracao"),
        ("/valor/modalidadeAlteracao", json!(true), "cob.valor.modalidadeAlteracao"),
        ("/valor", json!("10.00"), "cob.valor"),
        ("/chave", json!("somebody@example.com"), "cob.chave"),
        ("/chave", json!(1), "cob.chave"),
        ("/chave", text(78), "cob.chave"),
        ("/solicitacaoPagador", text(141), "cob.solicitacaoPagador"),
        ("/solicitacaoPagador", json!("a\u{0}b"), "cob.solicitacaoPagador"),
        ("/solicitacaoPagador", Value::Null, "cob.solicitacaoPagador"),
        ("/infoAdicionais", items(51), "cob.infoAdicionais"),
        ("/infoAdicionais", json!({}), "cob.infoAdicionais"),
        ("/infoAdicionais", json!([{ "nome": "n" }]), "cob.infoAdicionais[0].valor"),
        ("/infoAdicionais", json!([{ "nome": "n", "valor": "v", "x": 1 }]), "cob.infoAdicionais[0].x"),
        ("/infoAdicionais", json!([{ "nome": text(51), "valor": "v" }]), "cob.infoAdicionais[0].nome"),
        ("/infoAdicionais", json!([{ "nome": "n", "valor": text(201) }]), "cob.infoAdicionais[0].valor"),
        ("/devedor", json!({ "cpf": "12345678909" }), "cob.devedor.nome"),
        ("/devedor", json!({ "nome": "n" }), "cob.devedor"),
        ("/devedor", json!({ "cpf": "12345678909", "cnpj": "12345678000195", "nome": "n" }), "cob.devedor"),
        ("/devedor", json!({ "cpf": "12345678900", "nome": "n" }), "cob.devedor.cpf"),
        ("/devedor", json!({ "cpf": "123.456.789-09", "nome": "n" }), "cob.devedor.cpf"),
        ("/devedor", json!({ "cnpj": "12abc34501de35", "nome": "n" }), "cob.devedor.cnpj"),
        ("/devedor", json!({ "cpf": "12345678909", "nome": text(201) }), "cob.devedor.nome"),
        ("/devedor", json!({ "cpf": "12345678909", "nome": "n", "email": "e" }), "cob.devedor.email"),
        ("/loc", json!({ "id": 1 }), "cob.loc.id"),
        ("/loc", json!({ "id": "1" }), "cob.loc.id"),
        ("/loc", json!({}), "cob.loc.id"),
        ("/txid", json!("x"), "cob.txid"),
        ("/status", json!("ATIVA"), "cob.status"),
    ];
    for (pointer, value, property) in cases {
        let answer = bed.put(&format!("/v2/cob/{}", txid(1)), &with(&bed, pointer, value.clone())).await;
        assert_eq!((answer.status, answer.kind()), (400, "CobOperacaoInvalida"), "{pointer} {value}");
        assert_eq!(answer.violated(), [property], "{pointer} {value}");
    }
    assert_eq!(bed.control.ledger().unwrap().cobs, 0);
}

#[tokio::test]
async fn rules_for_cash_are_enforced() {
    let bed = Bed::start().await;
    let terms =
        |amount: &str| json!({ "valor": amount, "modalidadeAgente": "AGTEC", "prestadorDoServicoDeSaque": "12345678" });
    let agpss = json!({ "valor": "5.00", "modalidadeAgente": "AGPSS", "prestadorDoServicoDeSaque": "12345678" });
    let cases = [
        (json!({ "original": "0.00", "modalidadeAlteracao": 1 }), None),
        (json!({ "original": "0.00", "retirada": { "saque": terms("5.00") } }), None),
        (json!({ "original": "0.00", "retirada": { "saque": agpss } }), None),
        (json!({ "original": "10.00", "retirada": { "troco": terms("5.00") } }), None),
        (json!({ "original": "1.00", "retirada": { "saque": terms("5.00") } }), Some("cob.valor.original")),
        (json!({ "original": "0.00", "retirada": { "troco": terms("5.00") } }), Some("cob.valor.original")),
        (
            json!({ "original": "10.00", "retirada": { "troco": agpss } }),
            Some("cob.valor.retirada.troco.modalidadeAgente"),
        ),
        (json!({ "original": "0.00", "retirada": { "saque": terms("0.00") } }), Some("cob.valor.retirada.saque.valor")),
        (json!({ "original": "1.00", "retirada": {} }), Some("cob.valor.retirada")),
        (
            json!({ "original": "1.00", "retirada": { "saque": terms("1.00"), "troco": terms("1.00") } }),
            Some("cob.valor.retirada"),
        ),
        (
            json!({ "original": "0.00", "modalidadeAlteracao": 1, "retirada": { "saque": terms("5.00") } }),
            Some("cob.valor.modalidadeAlteracao"),
        ),
    ];
    for (value, property) in cases {
        let answer = bed.post("/v2/cob", &with(&bed, "/valor", value.clone())).await;
        assert_eq!(answer.status, if property.is_some() { 400 } else { 201 }, "{value} {answer:?}");
        assert_eq!(answer.violated(), property.into_iter().collect::<Vec<_>>(), "{value}");
    }
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    let bed = Bed::start().await;
    let answer = bed.put(&format!("/v2/cob/{}", txid(1)), &json!({ "x": 1 })).await;
    assert_eq!(answer.violated(), ["cob.calendario", "cob.valor", "cob.chave", "cob.x"]);
}

#[tokio::test]
async fn unreadable_body_or_path_is_refused() {
    let bed = Bed::start().await;
    let put = |txid: &str| bed.client.put(bed.url(&format!("/v2/cob/{txid}"))).bearer_auth(&bed.token);
    let good = txid(1);
    for bad in ["short", &"x".repeat(36), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-1"] {
        let answer = bed.put(&format!("/v2/cob/{bad}"), &bed.cob("1.00")).await;
        assert_eq!((answer.status, answer.violated()), (400, vec!["txid"]), "{bad}");
    }
    let json = "application/json";
    let cases = [
        (json, "{".to_owned(), 400, vec!["body"]),
        (json, String::new(), 400, vec!["body"]),
        (json, "[]".to_owned(), 400, vec!["cob"]),
        (json, " ".repeat(65_537), 413, vec!["body"]),
        ("text/plain", bed.cob("1.00").to_string(), 415, vec![]),
    ];
    for (content_type, body, status, violated) in cases {
        let request = put(good.as_str()).header("content-type", content_type).body(body);
        let answer = read(request.send().await.unwrap()).await;
        assert_eq!((answer.status, answer.violated()), (status, violated), "{answer:?}");
    }
}
