//! Tests certain failures: the request was not executed, so nothing is looked up.

use cais_ports::Acquirer;

use crate::answers::{BUDGET, acquirer, config, html, http, kind, order, problem, reason};
use crate::server::{Act, Server, closed_port};

#[tokio::test]
async fn certain_refusal_causes_no_look_up() {
    let nome = http(400, "application/json", r#"{"nome":"valor_invalido","mensagem":"Valor inválido"}"#);
    for (answer, wanted, message) in [
        (problem(400, "RequisicaoInvalida"), "refused", "400 RequisicaoInvalida: Recusado."),
        (problem(404, "NaoEncontrado"), "refused", "404 NaoEncontrado"),
        (problem(410, "PermanentementeRemovido"), "refused", "410"),
        (problem(422, "X"), "refused", "422"),
        (Act::Reply(nome), "refused", "400 valor_invalido: Valor inválido"),
        (problem(403, "AcessoNegado"), "unavailable", "403"),
        (html(403), "unavailable", "403"),
        (problem(429, "X"), "unavailable", "429"),
        (html(429), "unavailable", "429"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = acquirer(&server.url()).create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert!(reason(&result).contains(message), "{}", reason(&result));
        assert_eq!(server.methods(), "PUT");
    }
}

#[tokio::test]
async fn charge_without_connection_is_unavailable() {
    let tokens = Server::start(|_, _| Act::Cut).await;
    for base_url in [closed_port().await, "https://no-such-host.invalid".to_owned()] {
        let mut config = config(&base_url);
        let result = cais_acquirers::BacenAcquirer::new(&config).unwrap().create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{base_url}: {}", reason(&result));
        // With a cached token, so that the charge's own request fails.
        config.token_url = Some(format!("{}/oauth/token", tokens.url()));
        let result = cais_acquirers::BacenAcquirer::new(&config).unwrap().create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{base_url}: {}", reason(&result));
        assert!(reason(&result).contains("no connection"), "{}", reason(&result));
    }
    assert_eq!(tokens.tokens(), 2);
}
