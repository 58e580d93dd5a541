//! Tests the cancellation of charges.

use cais_ports::Acquirer;
use serde_json::json;

use crate::answers::{BUDGET, acquirer, cob_with, html, json_reply, kind, not_found, problem, reason, txid};
use crate::server::{Act, Server};

fn standing(status: &str) -> Act {
    json_reply(200, &cob_with("/status", Some(json!(status))))
}

#[tokio::test]
async fn cancelled_charge_is_removed_or_returned_as_it_ended() {
    const BY_US: &str = "REMOVIDA_PELO_USUARIO_RECEBEDOR";
    let invalid = || problem(400, "CobOperacaoInvalida");
    for (name, patch, get, wanted, methods) in [
        ("withdrawn", standing(BY_US), Act::Cut, "Removed", "PATCH"),
        ("was paid", invalid(), standing("CONCLUIDA"), "Completed", "PATCH GET"),
        ("was withdrawn", invalid(), standing(BY_US), "Removed", "PATCH GET"),
        ("was withdrawn by them", invalid(), standing("REMOVIDA_PELO_PSP"), "Removed", "PATCH GET"),
        ("answer lost, done", Act::Cut, standing(BY_US), "Removed", "PATCH GET"),
        ("answer lost, paid", html(502), standing("CONCLUIDA"), "Completed", "PATCH GET"),
        ("answer lost, not done", Act::Cut, standing("ATIVA"), "unknown", "PATCH GET"),
        ("answer and reading lost", Act::Cut, Act::Cut, "unknown", "PATCH GET"),
        ("refused though active", invalid(), standing("ATIVA"), "refused", "PATCH GET"),
        ("confirmed though active", standing("ATIVA"), standing("ATIVA"), "unknown", "PATCH GET"),
        ("confirmed for another reading", standing("ATIVA"), standing(BY_US), "Removed", "PATCH GET"),
        ("unreadable confirmation", html(200), standing(BY_US), "Removed", "PATCH GET"),
        ("not known", not_found(), not_found(), "refused", "PATCH GET"),
        ("refused, not readable", invalid(), html(500), "unknown", "PATCH GET"),
        ("doorkeeper", html(403), standing("ATIVA"), "unavailable", "PATCH"),
        ("overload", html(429), standing("ATIVA"), "unavailable", "PATCH"),
    ] {
        let server = Server::start(move |seen, _| match seen.method.as_str() {
            "PATCH" => patch.clone(),
            _ => get.clone(),
        })
        .await;
        let result = acquirer(&server.url()).cancel_charge(&txid(), BUDGET).await;
        let found = match &result {
            Ok(charge) => format!("{:?}", charge.status),
            Err(_) => kind(&result).to_owned(),
        };
        assert_eq!(found, wanted, "{name}: {}", reason(&result));
        assert_eq!(server.methods(), methods, "{name}");
        let patch = server.seen().into_iter().find(|seen| seen.method == "PATCH").unwrap();
        assert_eq!(patch.body, format!(r#"{{"status":"{BY_US}"}}"#));
    }
}
