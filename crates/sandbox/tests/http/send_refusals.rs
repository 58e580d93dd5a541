//! Tests that invalid sends are refused with the exact fields that Efí's clients read, and that nothing is sent.

use cais_domain::money::Money;
use serde_json::{Value, json};

use crate::bed::{Bed, instant_sends, read};

const MARIA: &str = "maria@example.com";

/// Returns the smallest valid body with one field replaced, or removed if `value` is `None`.
fn with(bed: &Bed, pointer: &str, value: Option<Value>) -> Value {
    let mut body = bed.payout("1.00", MARIA);
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = body.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => parent.insert(field.to_owned(), value),
        None => parent.remove(field),
    };
    body
}

#[tokio::test]
async fn each_rule_of_the_send_schema_is_enforced() {
    let bed = Bed::with(instant_sends()).await;
    let cases = [
        ("/valor", None, "required", ".body"),
        ("/valor", Some(json!(1.00)), "type", ".body.valor"),
        ("/valor", Some(json!("1.0")), "pattern", ".body.valor"),
        ("/valor", Some(json!("1,00")), "pattern", ".body.valor"),
        ("/valor", Some(json!("-1.00")), "pattern", ".body.valor"),
        ("/valor", Some(json!("10000000000.00")), "pattern", ".body.valor"),
        ("/pagador", None, "required", ".body"),
        ("/pagador", Some(json!("x")), "type", ".body.pagador"),
        ("/pagador/chave", None, "required", ".body.pagador"),
        ("/pagador/chave", Some(json!(1)), "type", ".body.pagador.chave"),
        ("/pagador/infoPagador", Some(json!("x".repeat(141))), "maxLength", ".body.pagador.infoPagador"),
        ("/pagador/infoPagador", Some(json!("a\u{0}b")), "pattern", ".body.pagador.infoPagador"),
        ("/pagador/infoPagador", Some(Value::Null), "type", ".body.pagador.infoPagador"),
        ("/pagador/x", Some(json!(1)), "additionalProperties", ".body.pagador"),
        ("/favorecido", None, "required", ".body"),
        ("/favorecido/chave", None, "required", ".body.favorecido"),
        ("/favorecido/chave", Some(json!("x".repeat(78))), "maxLength", ".body.favorecido.chave"),
        ("/favorecido/cpf", Some(json!("529.982.247-25")), "pattern", ".body.favorecido.cpf"),
        ("/favorecido/cnpj", Some(json!("12abc34501de35")), "pattern", ".body.favorecido.cnpj"),
        ("/favorecido/contaBanco", Some(json!({})), "additionalProperties", ".body.favorecido"),
        ("/x", Some(json!(1)), "additionalProperties", ".body"),
    ];
    for (pointer, value, keyword, path) in cases {
        let body = with(&bed, pointer, value);
        let answer = bed.put("/v3/gn/pix/a", &body).await;
        let errors = answer.body["erros"].as_array().unwrap();
        assert_eq!((answer.status, &answer.body["nome"], errors.len()), (400, &json!("json_invalido"), 1), "{body}");
        assert_eq!(answer.content_type, "application/json");
        assert_eq!((&errors[0]["chave"], &errors[0]["caminho"]), (&json!(keyword), &json!(path)), "{body}");
        assert!(errors[0]["mensagem"].is_string());
    }
    nothing_was_sent(&bed);
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    let bed = Bed::with(instant_sends()).await;
    let body = json!({ "valor": "1", "favorecido": { "chave": MARIA, "cpf": "1", "cnpj": "2" }, "x": 1 });
    let answer = bed.put("/v3/gn/pix/not-an-id", &body).await;
    let found: Vec<_> = answer.body["erros"].as_array().unwrap().iter().map(|error| &error["caminho"]).collect();
    let expected = [
        ".params.idEnvio",
        ".body.valor",
        ".body",
        ".body.favorecido",
        ".body.favorecido.cpf",
        ".body.favorecido.cnpj",
        ".body",
    ];
    assert_eq!((answer.status, found), (400, expected.map(Value::from).iter().collect()));
    for id in ["a".repeat(36), "a_b".to_owned(), "%C3%A9".to_owned()] {
        let answer = bed.send(&id, "1.00", MARIA).await;
        assert_eq!((answer.status, &answer.body["erros"][0]["caminho"]), (400, &json!(".params.idEnvio")), "{id}");
    }
    assert_eq!(bed.send(&"a".repeat(35), "1.00", MARIA).await.status, 201);
}

#[tokio::test]
async fn values_are_checked_after_the_schema() {
    let bed = Bed::with(instant_sends()).await;
    let own = bed.credentials.pix_key.clone();
    let not_found = (404, "chave_favorecido_nao_encontrada", "the key in favorecido.chave was not found");
    let not_own = (400, "chave_invalida", "the key in pagador.chave is not one of this account");
    let cases = [
        ("/valor", json!("0.00"), (400, "valor_invalido", "the field valor must be above zero")),
        ("/favorecido/cpf", json!("52998224726"), (400, "valor_invalido", "the CPF in favorecido.cpf is not valid")),
        (
            "/favorecido/cnpj",
            json!("12ABC34501DE36"),
            (400, "valor_invalido", "the CNPJ in favorecido.cnpj is not valid"),
        ),
        ("/pagador/chave", json!(MARIA), not_own),
        ("/pagador/chave", json!(own.to_uppercase()), not_own),
        ("/favorecido/chave", json!("52998224726"), not_found),
        ("/favorecido/chave", json!("529.982.247-25"), not_found),
        ("/favorecido/chave", json!("Maria@example.com"), not_found),
        ("/favorecido/chave", json!("11987654321"), not_found),
        ("/favorecido/chave", json!(""), not_found),
        ("/favorecido/chave", json!(own), not_found),
    ];
    for (pointer, value, (status, name, message)) in cases {
        let body = with(&bed, pointer, Some(value));
        let answer = bed.put("/v3/gn/pix/a", &body).await;
        assert_eq!((answer.status, answer.body), (status, json!({ "nome": name, "mensagem": message })), "{body}");
    }
    nothing_was_sent(&bed);
}

#[tokio::test]
async fn send_without_webhook_of_the_key_is_refused() {
    let bed = Bed::with(instant_sends()).await;
    let path = format!("/v2/webhook/{}", bed.credentials.pix_key);
    assert_eq!(bed.delete(&path).await.status, 204);
    let refused = bed.send("a", "1.00", MARIA).await;
    assert_eq!((refused.status, &refused.body["nome"]), (400, &json!("chave_invalida")));
    assert!(refused.body["mensagem"].as_str().unwrap().contains("has no webhook"), "{refused:?}");
    assert_eq!(bed.get("/v2/gn/pix/enviados/id-envio/a").await.status, 404);
    nothing_was_sent(&bed);
    bed.register_webhook("https://example.com/a").await;
    assert_eq!(bed.send("a", "1.00", MARIA).await.status, 201, "the id stayed free");
}

#[tokio::test]
async fn body_that_is_no_json_is_refused() {
    let bed = Bed::with(instant_sends()).await;
    let put = || bed.client.put(bed.url("/v3/gn/pix/a")).bearer_auth(&bed.token);
    let form = put().header("content-type", "application/x-www-form-urlencoded").body("valor=1.00");
    let form = read(form.send().await.unwrap()).await;
    assert_eq!((form.status, &form.body["nome"]), (415, &json!("json_invalido")));
    for body in ["", "{", "[]", "null", "\"x\""] {
        let answer = read(put().header("content-type", "application/json").body(body).send().await.unwrap()).await;
        assert_eq!((answer.status, &answer.body["nome"]), (400, &json!("json_invalido")), "{body}");
        assert_eq!(answer.body["erros"][0]["caminho"], ".body");
    }
    let large = put().header("content-type", "application/json").body(" ".repeat(64 * 1024 + 1));
    let large = read(large.send().await.unwrap()).await;
    assert_eq!((large.status, &large.body["nome"]), (413, &json!("corpo_muito_grande")));
    nothing_was_sent(&bed);
}

#[tokio::test]
async fn look_up_of_unknown_send_finds_none() {
    let bed = Bed::with(instant_sends()).await;
    let unknown = "E".repeat(32);
    for path in ["id-envio/a", unknown.as_str(), "id-envio/%C3%A9"] {
        let answer = bed.get(&format!("/v2/gn/pix/enviados/{path}")).await;
        assert_eq!((answer.status, answer.kind()), (404, "PixEnviadoNaoEncontrado"), "{path}");
    }
    let received = bed.paid(1, "1.00").await.1;
    let answer = bed.get(&format!("/v2/gn/pix/enviados/{received}")).await;
    assert_eq!(answer.status, 404, "a received Pix is not a sent Pix");
    assert_eq!(bed.get("/v2/gn/pix/enviados/id-envio/a?x=1").await.kind(), "PixEnviadoConsultaInvalida");
}

#[track_caller]
fn nothing_was_sent(bed: &Bed) {
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.sent.count, ledger.rejected.count), (0, 0));
    assert_eq!(ledger.balance, Money::parse("1000000000").unwrap());
}
