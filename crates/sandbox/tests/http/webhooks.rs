//! Tests registering, reading, listing and removing webhooks.

use cais_sandbox::SandboxConfig;
use serde_json::json;

use crate::bed::Bed;

#[tokio::test]
async fn webhook_is_registered_listed_replaced_and_removed() {
    let bed = Bed::without_webhook(SandboxConfig::default()).await;
    let path = format!("/v2/webhook/{}", bed.credentials.pix_key);
    assert_eq!(bed.get(&path).await.kind(), "WebhookNaoEncontrado");
    let registration = json!({ "webhookUrl": "https://example.com/a" });
    let put = bed.put(&path, &registration).await;
    assert_eq!((put.status, put.body), (200, registration));
    assert_eq!(bed.put(&path, &json!({ "webhookUrl": "https://example.com/b" })).await.status, 200);
    let read = bed.get(&path).await;
    assert_eq!((read.status, &read.body["webhookUrl"]), (200, &json!("https://example.com/b")));
    assert_eq!(read.body["chave"], bed.credentials.pix_key.as_str());
    let created = read.body["criacao"].as_str().unwrap();
    let listed = bed.get(&format!("/v2/webhook?inicio={created}&fim={created}")).await;
    assert_eq!((listed.status, &listed.body["webhooks"]), (200, &json!([read.body])));
    assert_eq!(listed.body["parametros"]["paginacao"]["quantidadeTotalDeItens"], 1);
    let earlier = bed.get("/v2/webhook?fim=2020-01-01T00:00:00Z").await;
    assert_eq!(earlier.body["webhooks"], json!([]));
    assert_eq!(bed.delete(&path).await.status, 204);
    assert_eq!(bed.delete(&path).await.kind(), "WebhookNaoEncontrado");
    assert_eq!(bed.get("/v2/webhook").await.body["webhooks"], json!([]));
}

#[tokio::test]
async fn invalid_webhook_url_or_query_is_refused() {
    let bed = Bed::start().await;
    let own = format!("/v2/webhook/{}", bed.credentials.pix_key);
    let url = "webhook.webhookUrl";
    let cases = [
        (own.as_str(), json!({}), url),
        (own.as_str(), json!({ "webhookUrl": 1 }), url),
        (own.as_str(), json!({ "webhookUrl": "example.com" }), url),
        (own.as_str(), json!({ "webhookUrl": "ftp://example.com" }), url),
        (own.as_str(), json!({ "webhookUrl": "https://example.com", "x": 1 }), "webhook.x"),
        ("/v2/webhook/somebody@example.com", json!({ "webhookUrl": "https://example.com" }), "chave"),
    ];
    for (path, body, property) in cases {
        let answer = bed.put(path, &body).await;
        assert_eq!(
            (answer.status, answer.kind(), answer.violated()),
            (400, "WebhookOperacaoInvalida", vec![property]),
            "{body}"
        );
    }
    let listed = bed.get("/v2/webhook?inicio=x&paginacao.paginaAtual=x").await;
    assert_eq!((listed.status, listed.kind()), (400, "WebhookConsultaInvalida"));
    assert_eq!(listed.violated(), ["paginacao.paginaAtual", "inicio"]);
}
