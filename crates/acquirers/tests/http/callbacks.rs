//! Tests the registration of the callback address, and the content of callbacks.

use cais_acquirers::{BacenAcquirer, EfiAcquirer};
use cais_domain::pix_key::PixKey;
use cais_ports::{Acquirer, CallbackItem, CallbackPayout, CallbackPix};
use serde_json::json;

use crate::answers::{
    BUDGET, NAME, PIX, TXID, acquirer, config, efi, html, http, instruction_id, json_reply, kind, nome, pix, problem,
    reason, txid,
};
use crate::server::{Act, Server};

#[tokio::test]
async fn callback_address_is_registered_for_the_key() {
    for (answer, wanted) in [
        (Act::Reply(http(200, "application/json", "")), "ok"),
        (Act::Reply(http(201, "application/json", "{}")), "ok"),
        (Act::Reply(b"HTTP/1.1 204 X\r\n\r\n".to_vec()), "ok"),
        (json_reply(201, &json!({"webhookUrl": "https://pay.example/c?k=1"})), "ok"),
        (json_reply(201, &json!({"webhookUrl": "https://pay.example/other"})), "unknown"),
        (json_reply(201, &json!({"webhookUrl": null})), "ok"),
        (json_reply(201, &json!([1])), "unknown"),
        (html(200), "unknown"),
        (nome(400, "webhook_invalido"), "refused"),
        (problem(400, "WebhookOperacaoInvalida"), "refused"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (html(500), "unknown"),
        (Act::Cut, "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let mut config = config(&format!("{}/", server.url()));
        config.pix_key = PixKey::parse("+5511987654321").unwrap();
        let acquirer = BacenAcquirer::new(&config).unwrap();
        let result = acquirer.register_callback("https://pay.example/c?k=1", BUDGET).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        let seen = server.seen().into_iter().next_back().unwrap();
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("PUT", "/v2/webhook/%2B5511987654321"));
        assert_eq!(seen.body, r#"{"webhookUrl":"https://pay.example/c?k=1"}"#);
        assert_eq!(seen.header("x-skip-mtls-checking"), "");
    }
}

#[tokio::test]
async fn efi_registration_skips_mtls_unless_configured() {
    let url = "https://pay.example/c";
    for (uses_mtls, header) in [(false, "true"), (true, "")] {
        let server = Server::start(move |_, _| json_reply(201, &json!({"webhookUrl": url}))).await;
        let acquirer = EfiAcquirer::new(&config(&server.url())).unwrap().with_callback_mtls(uses_mtls);
        acquirer.register_callback(url, BUDGET).await.unwrap();
        let seen = server.seen().into_iter().next_back().unwrap();
        assert_eq!(seen.header("x-skip-mtls-checking"), header);
        assert_eq!(seen.body, r#"{"webhookUrl":"https://pay.example/c"}"#);
    }
}

#[test]
fn only_efi_reads_callbacks_of_sent_pix() {
    let body = format!(
        r#"{{"pix":[{{"txid":"{TXID}","endToEndId":"{PIX}","horario":"2026-11-20T15:00:00.000Z"}},7,{{"endToEndId":"{PIX}","tipo":"SOLICITACAO","gnExtras":{{"idEnvio":"{NAME}"}}}}]}}"#
    );
    let received = CallbackItem::Received(CallbackPix {
        txid: txid(),
        end_to_end_id: Some(pix()),
        paid_at: Some("2026-11-20T15:00:00Z".parse().unwrap()),
    });
    let of_efi = efi("http://127.0.0.1:9").callbacks(body.as_bytes()).unwrap();
    assert_eq!(
        of_efi,
        [
            received.clone(),
            CallbackItem::Sent(CallbackPayout { instruction_id: instruction_id(), returns: Vec::new() })
        ]
    );
    let of_bacen = acquirer("http://127.0.0.1:9").callbacks(body.as_bytes()).unwrap();
    assert_eq!(of_bacen, [received]);
    for junk in ["", "<html>", "[]"] {
        assert_eq!(kind(&efi("http://127.0.0.1:9").callbacks(junk.as_bytes())), "refused", "{junk}");
    }
}
