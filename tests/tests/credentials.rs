//! The certificates and secrets of acquirers. A certificate is renewed without a restart, its end is shown, and no
//! secret is logged.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Engine, Institution, Node, TlsFront, borrowed, eventually, id, own};

const EXPIRY: &str = "cais_acquirer_certificate_expiry_timestamp_seconds{acquirer=\"main\"} ";

/// Returns the end of the certificate that `/metrics` shows.
async fn shown_expiry(node: &Node) -> Option<i64> {
    let page = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
    let page = String::from_utf8(page.body).unwrap();
    page.lines().find_map(|line| line.strip_prefix(EXPIRY)?.parse().ok())
}

/// Returns whether `cais config check` warns of the certificate, and the certificate's status in `cais doctor`.
fn certificate_warnings(node: &Node) -> (bool, String) {
    let checked = node.cli(&["config", "check"]);
    let warnings = checked["warnings"].as_array().unwrap();
    let (_, printed) = node.cais.cli_raw(&["doctor", "--json"]).unwrap();
    let report: Value = serde_json::from_str(printed.trim()).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let status = checks.iter().find(|check| check["check"] == "acquirer main certificate").unwrap();
    let is_warned = warnings.iter().any(|warning| warning["warning"] == "certificate_expires");
    (is_warned, status["status"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn renewed_certificate_is_used_and_its_end_shown() {
    let psp = Institution::start();
    let front = TlsFront::before(&psp).await;
    let (old, renewed) = (front.issue(10), front.issue(400));
    let folder = tempfile::tempdir().unwrap();
    let [authority, file] = ["authority.pem", "client.pem"].map(|name| folder.path().join(name));
    std::fs::write(&authority, front.authority_pem()).unwrap();
    std::fs::write(&file, &old.pem).unwrap();
    let mut environment = front.environment(psp.environment("main"));
    for (name, file) in [("CERTIFICATE_FILE", &file), ("CA_FILE", &authority)] {
        environment.push((format!("CAIS_ACQUIRERS__MAIN__{name}"), file.display().to_string()));
    }
    let node = own(Engine::Sqlite, &borrowed(&environment)).await;
    let shop = node.shop();
    shop.charge("2").await;
    assert!(front.has_seen(&old));
    assert_eq!(shown_expiry(&node).await, Some(old.expires_at.as_second()));
    assert_eq!(certificate_warnings(&node), (true, "warning".to_owned()));
    assert!(node.cais.log().contains("certificate_expires"), "the start logs the warning");

    std::fs::write(&file, "no certificate").unwrap();
    eventually("the unusable file is reported", || async {
        node.cais.log().contains("acquirer_files_unusable").then_some(())
    })
    .await;
    shop.charge("2").await;
    assert!(front.has_seen(&old), "calls use the previous certificate");

    std::fs::write(&file, &renewed.pem).unwrap();
    eventually("the end of the renewed certificate is shown", || async {
        (shown_expiry(&node).await == Some(renewed.expires_at.as_second())).then_some(())
    })
    .await;
    assert_eq!(certificate_warnings(&node), (false, "ok".to_owned()), "both commands read the renewed file");
    shop.charge("2").await;
    assert!(front.has_seen(&renewed), "new calls use the renewed certificate");
    let listed = node.cli(&["acquirer", "list"])["data"][0]["certificate_expires_at"].clone();
    assert!(listed.as_str().unwrap().starts_with(&renewed.expires_at.to_string()[..10]), "{listed}");
    assert_eq!(psp.charges().await, 3);
}

/// Returns every value of the header `authorization` in requests, without its scheme.
fn authorizations(requests: &str) -> Vec<String> {
    let values = requests.lines().filter_map(|line| line.strip_prefix("authorization: "));
    let mut values: Vec<String> =
        values.map(|value| value.rsplit(' ').next().unwrap_or_default().trim().to_owned()).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Sets the fault of both APIs of the institution.
async fn fail(psp: &Institution, mode: &str) {
    psp.faults(mode).await;
    let woovi = json!({"mode": mode, "acquirer": "woovi"});
    psp.ask(Method::PUT, "/sandbox/faults", &woovi).await.expect(200);
}

/// Each adapter serves a payment, a refund, a payout and a failed charge, while all levels are logged.
#[tokio::test]
async fn no_secret_is_logged_at_trace_level() {
    let psp = Institution::start();
    let front = TlsFront::before(&psp).await;
    let certificate = front.issue(400);
    let folder = tempfile::tempdir().unwrap();
    let [authority, file] = ["authority.pem", "client.pem"].map(|name| folder.path().join(name));
    std::fs::write(&authority, front.authority_pem()).unwrap();
    std::fs::write(&file, &certificate.pem).unwrap();
    let mut environment = [
        front.environment(psp.environment("main")),
        front.environment(psp.environment("plain")),
        front.environment(psp.woovi_environment("other")),
        psp.crypto_environment(),
    ]
    .concat();
    let mut set = |name: &str, value: &str| environment.push((name.to_owned(), value.to_owned()));
    for name in ["MAIN", "PLAIN", "OTHER"] {
        set(&format!("CAIS_ACQUIRERS__{name}__CA_FILE"), &authority.display().to_string());
    }
    set("CAIS_ACQUIRERS__MAIN__CERTIFICATE_FILE", &file.display().to_string());
    set("CAIS_ACQUIRERS__PLAIN__KIND", "bacen");
    set("CAIS_ACQUIRERS__OTHER__WEBHOOK_HMAC_SECRET", &psp.credential("woovi_hmac_secret"));
    set("CAIS_LOG", "trace");
    let node = own(Engine::Sqlite, &borrowed(&environment)).await;
    let shop = node.shop();
    let callback = eventually("the callback address is registered", || psp.callback_url()).await;
    for name in ["main", "plain", "other"] {
        node.cli(&["account", "acquirers", "--account", &shop.email, "--order", name]);
        let charge = eventually("the acquirer receives a charge", || async {
            let charge = shop.create(r#"{"amount":20}"#).await;
            let shown = node.cli(&["acquirer", "list"]);
            let row = shown["data"].as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap();
            (charge.status == 201 && row["open"]["charges"].as_u64() > Some(0)).then(|| charge.json())
        })
        .await;
        psp.pay(charge["txid"].as_str().unwrap()).await;
        shop.until(&id(&charge), "paid").await;
        shop.order(&format!("/charges/{}/refunds", id(&charge)), r#"{"amount":1}"#).await.expect(201);
        let payout = shop.pay_out("1", "ana@bank.example").await.expect(201);
        shop.until_payout(&id(&payout), "completed").await;
        fail(&psp, "error").await;
        assert!(shop.create(r#"{"amount":2}"#).await.status >= 500, "{name}");
        fail(&psp, "ok").await;
    }
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "crypto_in"]);
    eventually("a deposit is created at the processor", || async {
        let deposit = shop.order("/crypto/deposits", r#"{"amount":500,"currency":"btc"}"#).await;
        (deposit.status == 201).then_some(())
    })
    .await;
    let (_, examined) = node.cais.cli_raw(&["doctor"]).unwrap();

    let log = node.cais.log() + &examined;
    assert!(log.contains(r#""level":"TRACE""#) && log.contains("hyper"), "the log has all levels");
    let named = ["client_secret", "woovi_app_id", "woovi_hmac_secret"].map(|name| psp.credential(name));
    let crypto =
        ["api_key", "ipn_secret", "password", "totp_secret"].map(|name| psp.credential(&format!("crypto_{name}")));
    let basic = STANDARD.encode(format!("{}:{}", psp.credential("client_id"), psp.credential("client_secret")));
    let sent = authorizations(&front.requests());
    assert!(
        sent.contains(&basic) && sent.contains(&named[1]) && sent.len() >= 4,
        "the client's login, Woovi's app id or one of two tokens was not sent"
    );
    let key = certificate.pem.lines().nth(1).unwrap().to_owned();
    let path = callback.rsplit('/').find(|part| part.len() > 16).unwrap().to_owned();
    let own_key = shop.key.rsplit('_').next().unwrap().to_owned();
    for secret in [&named[..], &crypto[..], &sent[..], &[key, path, own_key][..]].concat() {
        let line = log.lines().find(|line| line.contains(&secret));
        assert_eq!(line, None, "{secret} is in the log");
    }
}
