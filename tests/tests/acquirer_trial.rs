//! `cais acquirer test` against an institution, without and with deliberate defects.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Engine, Institution, borrowed, eventually, id, own};

/// The steps of a trial that is given a paid Pix and the recipient of a payout.
const STEPS: [&str; 14] = [
    "token",
    "create",
    "read",
    "repeat",
    "read unknown",
    "list charges",
    "webhook",
    "read webhook",
    "restore webhook",
    "list received",
    "refund",
    "read refund",
    "cancel",
    "payout",
];

#[tokio::test]
async fn trial_reports_divergences_and_masks_secrets() {
    let psp = Institution::start();
    let node = own(Engine::Sqlite, &borrowed(&psp.environment("main"))).await;
    let shop = node.shop();
    let callback = eventually("the callback address is registered", || psp.callback_url()).await;
    let charge = shop.charge("10").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    let file = node.cais.data_dir().join("report.json");
    let words = ["acquirer", "test", "main", "--paid", &pix, "--report", file.to_str().unwrap()];
    let run = |more: &[&str]| {
        let (exit, printed) = node.cais.cli_raw(&[&words[..], more].concat()).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        (exit, printed + &text, report)
    };

    let (exit, shown, report) = run(&["--payout-to", "ana@bank.example"]);
    assert_eq!((exit, &report["clean"]), (Some(0), &json!(true)), "{shown}");
    let names: Vec<_> = report["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, STEPS);
    for secret in [psp.credential("client_secret"), psp.credential("pix_key"), callback.clone()] {
        assert!(!shown.contains(&secret), "{secret} is in {shown}");
    }
    let sends = psp.sends().await;
    assert!(sends.len() == 1 && sends[0]["count"] == 1 && sends[0]["valor"] == "0.01", "{sends:?}");
    assert_eq!(psp.callback_url().await, Some(callback), "the address of the service is registered again");

    for (defect, step, divergence) in [
        ("other_amount", "create", "the standard requires the text 1.00"),
        ("cancel_ignored", "cancel", "the standard requires the text REMOVIDA_PELO_USUARIO_RECEBEDOR"),
        ("return_status", "refund", "the status is 200: the standard requires 201"),
    ] {
        psp.ask(Method::PUT, "/sandbox/dialect", &json!({ "defect": defect })).await.expect(200);
        let (exit, shown, report) = run(&[]);
        assert_eq!((exit, &report["clean"]), (Some(1), &json!(false)), "{shown}");
        assert!(shown.contains(&format!("diverges  {step}\n")) && shown.contains(divergence), "{defect}: {shown}");
        assert!(shown.contains("          request: ") && shown.contains("          answer: "), "{shown}");
    }
}
