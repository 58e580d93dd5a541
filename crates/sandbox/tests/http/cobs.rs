//! Tests creating, reading, revising and removing charges.

use cais_domain::br_code::BrCode;
use cais_sandbox::SandboxConfig;
use reqwest::Method;
use serde_json::{Value, json};

use crate::bed::{Bed, read, txid};

#[tokio::test]
async fn created_charge_has_all_fields() {
    let bed = Bed::start().await;
    let body = json!({
        "calendario": { "expiracao": 3600 },
        "devedor": { "cpf": "12345678909", "nome": "Maria" },
        "valor": { "original": "123.45", "modalidadeAlteracao": 1 },
        "chave": bed.credentials.pix_key,
        "solicitacaoPagador": "Order 7",
        "infoAdicionais": [{ "nome": "a", "valor": "b" }],
    });
    let answer = bed.put(&format!("/v2/cob/{}", txid(1)), &body).await;
    assert_eq!((answer.status, answer.content_type.as_str()), (201, "application/json"), "{answer:?}");
    let cob = answer.body;
    for field in ["devedor", "valor", "chave", "solicitacaoPagador", "infoAdicionais"] {
        assert_eq!(cob[field], body[field], "{field}");
    }
    assert_eq!(cob["txid"], txid(1).as_str());
    assert_eq!(cob["status"], "ATIVA");
    assert_eq!(cob["revisao"], 0);
    assert_eq!(cob["calendario"]["expiracao"], 3600);
    assert!(cob["calendario"]["criacao"].as_str().unwrap().ends_with('Z'));
    assert_eq!(cob["loc"]["tipoCob"], "cob");
    assert_eq!(cob["loc"]["location"], cob["location"]);
    assert_eq!(cob["pix"], Value::Null);
    let location = cob["location"].as_str().unwrap();
    assert!(location.len() <= 77 && !location.contains("://"));
    let code = BrCode::parse(cob["pixCopiaECola"].as_str().unwrap()).unwrap();
    assert!(matches!(code, BrCode::Dynamic(code) if code.location == location));
    let payload = read(bed.client.get(format!("http://{location}")).send().await.unwrap()).await;
    assert_eq!((payload.status, &payload.body["txid"]), (200, &cob["txid"]));
}

#[tokio::test]
async fn charge_has_the_defaults_of_the_api() {
    let bed = Bed::start().await;
    let body = json!({ "calendario": {}, "valor": { "original": "0.01" }, "chave": bed.credentials.pix_key });
    let answer = bed.post("/v2/cob", &body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.body["calendario"]["expiracao"], 86_400);
    let txid = answer.body["txid"].as_str().unwrap();
    assert!((26..=35).contains(&txid.len()));
    let read = bed.get(&format!("/v2/cob/{txid}")).await;
    assert_eq!(read.status, 200);
    assert_eq!(read.body["pix"], json!([]));
    assert_eq!(read.body["pixCopiaECola"], answer.body["pixCopiaECola"]);
}

#[tokio::test]
async fn concurrent_creations_of_a_txid_create_one_charge() {
    let bed = Bed::without_webhook(SandboxConfig::default()).await;
    let (path, body) = (format!("/v2/cob/{}", txid(1)), bed.cob("10.00"));
    let url = bed.url(&path);
    let tasks: Vec<_> = (0..32)
        .map(|_| bed.client.put(&url).bearer_auth(&bed.token).json(&body).send())
        .map(|request| tokio::spawn(async { read(request.await.unwrap()).await }))
        .collect();
    let mut created = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        if answer.status == 201 {
            created += 1;
        } else {
            assert_eq!((answer.status, answer.kind()), (409, "CobOperacaoInvalida"));
            assert_eq!(answer.body["nome"], "txid_duplicado");
        }
    }
    assert_eq!(created, 1);
    let ledger = bed.control.ledger().unwrap();
    assert_eq!(ledger.cobs, 1);
    assert_eq!(
        serde_json::to_value(&ledger).unwrap()["requests"],
        json!({
            "token": 1, "cob_create": 32, "cob_duplicate": 31
        })
    );
}

#[tokio::test]
async fn revision_increments_and_past_ones_stay_readable() {
    let bed = Bed::start().await;
    let path = format!("/v2/cob/{}", bed.create(1, "10.00").await);
    let first = bed.get(&path).await.body;
    let answer = bed.patch(&path, &json!({ "valor": { "original": "20.00" } })).await;
    assert_eq!((answer.status, &answer.body["revisao"]), (200, &json!(1)), "{answer:?}");
    assert_eq!(answer.body["valor"]["original"], "20.00");
    assert_eq!(answer.body["location"], first["location"]);
    // Sending the charge's own location and an unchanged amount does not create a revision.
    let unchanged = json!({ "loc": { "id": first["loc"]["id"] }, "valor": { "original": "20.00" } });
    assert_eq!(bed.patch(&path, &unchanged).await.body["revisao"], 1);
    let old = bed.get(&format!("{path}?revisao=0")).await.body;
    assert_eq!((&old["revisao"], &old["valor"]["original"]), (&json!(0), &json!("10.00")));
    let refused = bed.get(&format!("{path}?revisao=2")).await;
    assert_eq!((refused.status, refused.kind(), refused.violated()), (400, "CobConsultaInvalida", vec!["revisao"]));
}

#[tokio::test]
async fn removed_charge_cannot_be_changed() {
    let bed = Bed::start().await;
    let path = format!("/v2/cob/{}", bed.create(1, "10.00").await);
    let removal = json!({ "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR" });
    let mixed = json!({ "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR", "solicitacaoPagador": "x" });
    let cases = [mixed, json!({ "status": "CONCLUIDA" }), json!({ "status": "REMOVIDA_PELO_PSP" })];
    for body in cases {
        let answer = bed.patch(&path, &body).await;
        assert_eq!((answer.status, answer.kind(), answer.violated()), (400, "CobOperacaoInvalida", vec!["cob.status"]));
    }
    let removed = bed.patch(&path, &removal).await;
    assert_eq!((removed.status, &removed.body["status"]), (200, &removal["status"]));
    assert_eq!(bed.patch(&path, &removal).await.status, 400);
    let location = removed.body["location"].as_str().unwrap();
    let payload = read(bed.client.get(format!("http://{location}")).send().await.unwrap()).await;
    assert_eq!((payload.status, payload.kind()), (410, "CobPayloadNaoEncontrado"));
}

#[tokio::test]
async fn missing_resource_is_refused_in_the_form_of_the_api() {
    let bed = Bed::start().await;
    let cob = format!("/v2/cob/{}", txid(9));
    let cases = [
        (Method::GET, cob.as_str(), 404, "CobNaoEncontrado", ""),
        (Method::GET, "/v2/cob/short", 404, "CobNaoEncontrado", ""),
        (Method::GET, "/qr/v2/0123", 404, "CobPayloadNaoEncontrado", ""),
        (Method::GET, "/v2/cobv/1", 404, "NaoEncontrado", ""),
        (Method::GET, "/", 404, "NaoEncontrado", ""),
        (Method::DELETE, cob.as_str(), 405, "RequisicaoInvalida", "GET, PUT, PATCH"),
        (Method::PUT, "/v2/cob", 405, "RequisicaoInvalida", "GET, POST"),
        (Method::POST, "/v2/pix", 405, "RequisicaoInvalida", "GET"),
    ];
    for (method, path, status, kind, allow) in cases {
        let answer = read(bed.try_send(method.clone(), path, None).await.unwrap()).await;
        assert_eq!((answer.status, answer.kind(), answer.allow.as_str()), (status, kind, allow), "{method} {path}");
    }
    assert_eq!(bed.patch(&cob, &json!({})).await.kind(), "CobNaoEncontrado");
}
