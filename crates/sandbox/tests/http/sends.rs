//! Tests sends: accepted, final later, reported by a callback, done once.

use serde_json::{Value, json};

use crate::{
    bed::{Bed, instant_sends, pending_sends},
    receiver::Receiver,
};

const MARIA: &str = "maria@example.com";

#[tokio::test]
async fn send_is_accepted_and_becomes_final_later() {
    let bed = Bed::with(pending_sends()).await;
    let mut body = bed.payout("12.34", MARIA);
    body["pagador"]["infoPagador"] = json!("order 7");
    let answer = bed.put("/v3/gn/pix/payout1", &body).await;
    let (e2e, requested_at) = (answer.body["e2eId"].clone(), answer.body["horario"]["solicitacao"].clone());
    assert_eq!(answer.content_type, "application/json");
    assert!(e2e.as_str().unwrap().starts_with('E') && e2e.as_str().unwrap().len() == 32);
    assert_eq!(
        (answer.status, answer.body),
        (
            201,
            json!({
                "idEnvio": "payout1", "e2eId": e2e, "endToEndId": e2e, "valor": "12.34",
                "horario": { "solicitacao": requested_at }, "status": "EM_PROCESSAMENTO",
            })
        )
    );
    let waiting = bed.sent("payout1").await;
    let person = waiting["favorecido"]["identificacao"].clone();
    assert_eq!(
        waiting,
        json!({
            "endToEndId": e2e, "idEnvio": "payout1", "valor": "12.34", "chave": bed.credentials.pix_key,
            "status": "EM_PROCESSAMENTO", "infoPagador": "order 7", "horario": { "solicitacao": requested_at },
            "favorecido": { "chave": MARIA, "identificacao": person },
        })
    );
    let cpf = person["cpf"].as_str().unwrap();
    assert!(cpf.len() == 14 && cpf.starts_with("***.") && cpf.ends_with("-**"), "{cpf}");
    bed.control.set_clock_offset(3_601).unwrap();
    // A token expires after one hour too, so the client requests a new one.
    let mut bed = bed;
    bed.authenticate().await;
    let settled = bed.sent("payout1").await;
    assert_eq!(settled["status"], "REALIZADO");
    assert!(settled["horario"]["liquidacao"].is_string());
    let by_e2e = bed.get(&format!("/v2/gn/pix/enviados/{}", e2e.as_str().unwrap())).await;
    assert_eq!((by_e2e.status, by_e2e.body), (200, settled));
}

#[tokio::test]
async fn send_is_settled_without_readers_and_has_callback() {
    let bed = Bed::start().await;
    let receiver = Receiver::start(&[500]).await;
    bed.register_webhook(&format!("{}/hook", receiver.url)).await;
    let e2e = bed.send("a", "1.00", MARIA).await.body["e2eId"].clone();
    // The first attempt is refused, so that the callback is repeated.
    let calls = receiver.wait_for(2).await;
    assert_eq!(calls[0].path, "/hook/pix");
    let settled_at = bed.sent("a").await["horario"]["liquidacao"].clone();
    let expected = json!({
        "endToEndId": e2e, "chave": bed.credentials.pix_key, "tipo": "SOLICITACAO", "status": "REALIZADO",
        "valor": "1.00", "horario": settled_at, "gnExtras": { "idEnvio": "a" },
    });
    for call in calls {
        assert_eq!(call.body, json!({ "pix": [expected] }));
    }
}

#[tokio::test]
async fn repeated_send_id_is_refused() {
    let bed = Bed::with(instant_sends()).await;
    assert_eq!(bed.send("a", "1.00", MARIA).await.status, 201);
    let before = (bed.sent("a").await, bed.balance().await);
    let refused = json!({
        "nome": "id_envio_duplicado", "mensagem": "the idEnvio was already used for another payment",
    });
    for (amount, key) in [("1.00", MARIA), ("2.00", MARIA), ("9999999999.99", "other@example.com")] {
        let again = bed.send("a", amount, key).await;
        assert_eq!((again.status, &again.body), (409, &refused), "{amount} {key}");
    }
    assert_eq!((bed.sent("a").await, bed.balance().await), before);
    let ledger = bed.get("/sandbox/ledger").await.body;
    assert_eq!((&ledger["sent"]["count"], &ledger["sent"]["total"]), (&json!(1), &json!("1.00")));
    let item = &ledger["sent"]["items"][0];
    assert_eq!((&item["idEnvio"], &item["count"], &item["requests"]), (&json!("a"), &json!(1), &json!(4)));
    assert_eq!((&item["favorecido"], &item["status"]), (&json!(MARIA), &json!("REALIZADO")));
    let requests = &ledger["requests"];
    assert_eq!((&requests["send_create"], &requests["send_duplicate"]), (&json!(4), &json!(3)));
    // A failed send has used its id too.
    assert_eq!(bed.send("b", "1.00", "fail@sandbox.cais").await.status, 201);
    assert_eq!(bed.send("b", "1.00", MARIA).await.status, 409);
}

/// Returns the failure as shown in look-up and callback.
fn failure(code: &str, reason: &str) -> Value {
    json!({ "codigo": code, "origem": "PSP do usuário recebedor", "motivo": reason })
}

#[tokio::test]
async fn send_to_failing_key_is_accepted_and_returned() {
    let bed = Bed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.register_webhook(&receiver.url).await;
    let before = bed.balance().await;
    let accepted = bed.send("a", "5.00", "fail@sandbox.cais").await;
    assert_eq!((accepted.status, &accepted.body["status"]), (201, &json!("EM_PROCESSAMENTO")));
    let sent = bed.sent("a").await;
    let erro = failure("AC03", "the recipient's account does not exist or is not valid");
    assert_eq!(sent["status"], "NAO_REALIZADO");
    assert_eq!(sent["horario"]["liquidacao"], Value::Null);
    assert_eq!(sent["gnExtras"], json!({ "idEnvio": "a", "erro": erro }));
    let calls = receiver.wait_for(1).await;
    let pix = &calls[0].body["pix"][0];
    assert_eq!((&pix["status"], &pix["tipo"]), (&json!("NAO_REALIZADO"), &json!("SOLICITACAO")));
    assert_eq!(pix.as_object().unwrap().get("horario"), Some(&Value::Null));
    assert_eq!(pix["gnExtras"], sent["gnExtras"]);
    assert_eq!(bed.balance().await, before);
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.sent.count, ledger.rejected.count, ledger.rejected.items[0].effects), (0, 1, 1));
}

#[tokio::test]
async fn send_to_slow_key_takes_five_seconds() {
    let bed = Bed::with(instant_sends()).await;
    assert_eq!(bed.send("a", "5.00", "slow@sandbox.cais").await.status, 201);
    assert_eq!(bed.sent("a").await["status"], "EM_PROCESSAMENTO");
    bed.control.set_clock_offset(5).unwrap();
    assert_eq!(bed.sent("a").await["status"], "REALIZADO");
}

#[tokio::test]
async fn send_to_losing_key_is_done_without_answer() {
    let bed = Bed::with(instant_sends()).await;
    let body = bed.payout("5.00", "lost@sandbox.cais");
    let lost = bed.try_send(reqwest::Method::PUT, "/v3/gn/pix/a", Some(&body)).await;
    assert!(!lost.unwrap_err().is_timeout(), "the connection is closed");
    assert_eq!(bed.sent("a").await["status"], "REALIZADO");
    assert_eq!(bed.put("/v3/gn/pix/a", &body).await.status, 409, "a repeat is answered");
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.sent.count, ledger.sent.items[0].effects), (1, 1));
}

#[tokio::test]
async fn send_to_another_owners_key_fails() {
    let bed = Bed::with(instant_sends()).await;
    let cases = [
        ("52998224725", "cpf", "52998224725", true),
        ("52998224725", "cpf", "11144477735", false),
        ("52998224725", "cnpj", "12ABC34501DE35", false),
        ("12ABC34501DE35", "cnpj", "12ABC34501DE35", true),
        (MARIA, "cnpj", "12ABC34501DE35", false),
    ];
    let erro = failure("BE01", "the CPF or CNPJ given is not that of the owner of the Pix key");
    for (number, (key, field, document, fits)) in cases.into_iter().enumerate() {
        let id = format!("send{number}");
        let mut body = bed.payout("1.00", key);
        body["favorecido"][field] = json!(document);
        let accepted = bed.put(&format!("/v3/gn/pix/{id}"), &body).await;
        assert_eq!((accepted.status, &accepted.body["status"]), (201, &json!("EM_PROCESSAMENTO")));
        let sent = bed.sent(&id).await;
        let expected = if fits { (json!("REALIZADO"), Value::Null) } else { (json!("NAO_REALIZADO"), erro.clone()) };
        assert_eq!((sent["status"].clone(), sent["gnExtras"]["erro"].clone()), expected, "{key} {document}");
    }
    let company = bed.sent("send3").await["favorecido"]["identificacao"].clone();
    assert_eq!((&company["cnpj"], &company["cpf"]), (&json!("12ABC34501DE35"), &Value::Null));
    assert_eq!(bed.sent("send0").await["favorecido"]["identificacao"]["cpf"], "***.982.247-**");
    let again = [bed.sent("send0").await, bed.sent("send1").await];
    assert_eq!(again[0]["favorecido"], again[1]["favorecido"], "the owner is always the same");
}
