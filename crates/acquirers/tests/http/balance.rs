//! Tests the balance of the account at Efí.

use cais_acquirers::AccountBalance;
use cais_domain::money::Money;
use serde_json::json;

use crate::answers::{efi, html, json_reply, kind, problem, reason};
use crate::server::{Act, Server};

#[tokio::test]
async fn balance_is_read_in_every_form() {
    let blocks = |total| json!({"judicial": "1.00", "med": "2.50", "total": total});
    for (answer, wanted) in [
        (json!({"saldo": "100.00", "bloqueios": blocks(json!("3.50"))}), (10_000, 350)),
        (json!({"saldo": "100.00"}), (10_000, 0)),
        (json!({"saldo": 7.5, "bloqueios": blocks(json!(3.5))}), (750, 350)),
        (json!({"saldo": "-0.01", "bloqueios": null}), (-1, 0)),
    ] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let [available, blocked] = [wanted.0, wanted.1].map(Money::from_centavos);
        assert_eq!(efi(&server.url()).balance().await, Ok(AccountBalance { available, blocked }));
        assert_eq!(server.seen().last().unwrap().path, "/v2/gn/saldo?bloqueios=true");
    }
}

#[tokio::test]
async fn unusable_balance_is_an_error() {
    let no_scope = json!({"error": "insufficient_scope", "error_description": "needs gn.balance.read"});
    for (answer, wanted) in [
        (json_reply(200, &json!({"saldo": "x"})), "unknown"),
        (json_reply(200, &json!({})), "unknown"),
        (json_reply(200, &json!({"saldo": "1.00", "bloqueios": {"total": "x"}})), "unknown"),
        (html(200), "unknown"),
        (problem(404, "NaoEncontrado"), "unknown"),
        (json_reply(403, &no_scope), "unavailable"),
        (Act::Cut, "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = efi(&server.url()).balance().await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
        assert!(wanted != "unavailable" || reason(&result).contains("403 insufficient_scope: needs gn.balance.read"));
    }
}
