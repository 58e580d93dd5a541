//! Registration of the callback address.

use cais_acquirers::BacenAcquirer;
use cais_domain::pix_key::PixKey;
use cais_ports::Acquirer;

use crate::answers::{BUDGET, config, html, http, kind, problem, reason};
use crate::server::{Act, Server};

#[tokio::test]
async fn an_address_is_registered_for_the_key() {
    for (answer, wanted) in [
        (Act::Reply(http(200, "application/json", "")), "ok"),
        (Act::Reply(http(201, "application/json", "{}")), "ok"),
        (Act::Reply(b"HTTP/1.1 204 X\r\n\r\n".to_vec()), "ok"),
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
    }
}
