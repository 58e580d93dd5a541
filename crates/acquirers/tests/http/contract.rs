//! Tests the trial of the standard's contract against the sandbox, without and with deliberate defects.

use cais_acquirers::{BacenAcquirer, BacenConfig, ContractReport, ContractTrial, EfiAcquirer, Profile, Secret};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::Acquirer as _;
use cais_sandbox::{Control, Defect, Dialect, Fault, FaultMode, FaultTarget, Sandbox, SandboxConfig};
use jiff::Timestamp;
use serde_json::json;

use crate::answers::{BUDGET, config, json_reply, order, sandbox_config};
use crate::server::{Seen, Server};

struct Bed {
    acquirer: BacenAcquirer,
    control: Control,
    key: PixKey,
    paid: EndToEndId,
    paid_at: Timestamp,
    _sandbox: Sandbox,
}

impl Bed {
    async fn start() -> Self {
        let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
        let (control, credentials) = (sandbox.control(), sandbox.credentials());
        let key = PixKey::parse(&credentials.pix_key).unwrap();
        let acquirer = BacenAcquirer::new(&sandbox_config(&credentials)).unwrap();
        acquirer.create_charge(&order(), BUDGET).await.unwrap();
        let pix = control.pay(&order().txid, None).unwrap();
        let (paid, paid_at) = (pix.end_to_end_id, pix.paid_at);
        Self { acquirer, control, key, paid, paid_at, _sandbox: sandbox }
    }

    /// Runs a trial with an unused txid.
    async fn run(&self, number: usize) -> ContractReport {
        let txid = Txid::parse(&format!("contract{number:024}")).unwrap();
        let trial = ContractTrial { txid, own_url: None, now: self.paid_at, paid: Some(self.paid.clone()) };
        self.acquirer.try_contract(&trial).await
    }
}

/// Returns the steps with a divergence.
fn diverging(report: &ContractReport) -> Vec<&'static str> {
    report.steps.iter().filter(|step| !step.divergences.is_empty()).map(|step| step.name).collect()
}

#[tokio::test]
async fn institution_of_the_standard_passes_the_trial() {
    let bed = Bed::start().await;
    bed.acquirer.register_callback("https://shop.example/before", BUDGET).await.unwrap();
    let report = bed.run(0).await;
    assert!(report.is_clean(), "{:#?}", report.steps);
    let names: Vec<_> = report.steps.iter().map(|step| step.name).collect();
    let expected = [
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
    ];
    assert_eq!(names, expected);
    let shown = serde_json::to_string(&report).unwrap();
    assert!(shown.contains(r#""access_token":"***""#), "{shown}");
    for secret in ["shop.example/before", bed.key.as_str()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn trial_of_efi_skips_mtls_unless_configured() {
    let txid = Txid::parse(&format!("contract{:024}", 0)).unwrap();
    for (uses_mtls, wanted) in [(false, "true"), (true, "")] {
        let before = json!({"webhookUrl": "https://shop.example/before"});
        let server = Server::start(move |_, _| json_reply(200, &before)).await;
        let acquirer = EfiAcquirer::new(&config(&server.url())).unwrap().with_callback_mtls(uses_mtls);
        let trial = ContractTrial { txid: txid.clone(), own_url: None, now: Timestamp::UNIX_EPOCH, paid: None };
        acquirer.try_contract(&trial, None).await;
        let puts: Vec<_> = server.seen().into_iter().filter(|seen| seen.path.starts_with("/v2/webhook/")).collect();
        let puts: Vec<_> = puts.iter().filter(|seen| seen.method == "PUT").collect();
        let headers: Vec<_> = puts.iter().map(|seen| seen.header("x-skip-mtls-checking")).collect();
        assert_eq!(headers, [wanted; 2], "the test address and the one before");
    }
}

#[tokio::test]
async fn trial_never_leaves_its_test_address() {
    const OWN: &str = "https://shop.example/own";
    const BEFORE: &str = "https://shop.example/before";
    for (before, own, tested, last) in [
        (Some(BEFORE), Some(OWN), "https://shop.example/own?cais-contract-test", Some(BEFORE)),
        (Some(BEFORE), None, "https://cais-test.invalid/callbacks?cais-contract-test", Some(BEFORE)),
        // The rest of an interrupted trial.
        (
            Some("https://old.example/x?cais-contract-test"),
            Some(OWN),
            "https://shop.example/own?cais-contract-test",
            Some(OWN),
        ),
        (
            Some("https://cais-test.invalid/callbacks?cais-contract-test"),
            None,
            "https://cais-test.invalid/callbacks?cais-contract-test",
            None,
        ),
        (None, Some(OWN), "https://shop.example/own?cais-contract-test", Some(OWN)),
        (None, None, "https://cais-test.invalid/callbacks?cais-contract-test", None),
    ] {
        let answer = match before {
            Some(url) => json_reply(200, &json!({"webhookUrl": url})),
            None => json_reply(404, &json!({"status": 404})),
        };
        let server = Server::start(move |_, _| answer.clone()).await;
        let txid = Txid::parse(&"c".repeat(32)).unwrap();
        let own_url = own.map(ToOwned::to_owned);
        let trial = ContractTrial { txid, own_url, now: Timestamp::UNIX_EPOCH, paid: None };
        BacenAcquirer::new(&config(&server.url())).unwrap().try_contract(&trial).await;
        let changes = server.seen().into_iter().filter(|seen| seen.path.starts_with("/v2/webhook/"));
        let changes: Vec<_> =
            changes.filter(|seen| seen.method != "GET").map(|seen| (seen.method, seen.body)).collect();
        let put = |url: &str| ("PUT".to_owned(), json!({"webhookUrl": url}).to_string());
        let last = last.map_or_else(|| ("DELETE".to_owned(), String::new()), put);
        assert_eq!(changes, [put(tested), last], "{before:?} {own:?}");
    }
}

#[tokio::test]
async fn report_names_the_path_of_the_profile() {
    for name in Profile::NAMES {
        let server = Server::start(move |_, _| json_reply(500, &json!({}))).await;
        let (named, key) = (Profile::named(name).unwrap(), "an-application-key");
        // The server issues tokens at this path.
        let profile = Profile { token_path: "/oauth/token".to_owned(), token_query: Vec::new(), ..named };
        let config = BacenConfig { profile, application_key: Some(Secret::new(key)), ..config(&server.url()) };
        let txid = Txid::parse(&"c".repeat(32)).unwrap();
        let trial = ContractTrial { txid, own_url: None, now: Timestamp::UNIX_EPOCH, paid: None };
        let pix_key = config.pix_key.as_str().to_owned();
        let report = BacenAcquirer::new(&config).unwrap().try_contract(&trial).await;
        let shown: Vec<_> = report.steps.into_iter().skip(1).filter_map(|step| step.request).collect();
        let sent = |seen: &Seen| format!("{} {}", seen.method, seen.path.replace(key, "***").replace(&pix_key, "***"));
        let sent: Vec<_> =
            server.seen().iter().filter(|seen| seen.path.contains(&config.profile.path_prefix)).map(sent).collect();
        assert_eq!(shown, sent, "{name}");
        assert!(shown.len() > 5, "{name}: {shown:?}");
    }
}

#[tokio::test]
async fn unreadable_webhook_is_never_replaced() {
    let bed = Bed::start().await;
    bed.acquirer.register_callback("https://shop.example/before", BUDGET).await.unwrap();
    let fault = Fault::from(FaultMode::Error);
    bed.control.set_faults_of(FaultTarget::Institution, fault, Some("/v2/webhook")).unwrap();
    let report = bed.run(0).await;
    let webhook: Vec<_> = report.steps.iter().filter(|step| step.name.contains("webhook")).collect();
    assert_eq!(webhook.iter().map(|step| step.name).collect::<Vec<_>>(), ["registered webhook", "webhook"]);
    assert!(webhook[1].skipped.is_some() && !webhook[0].divergences.is_empty(), "{:#?}", report.steps);
}

#[tokio::test]
async fn trial_finds_every_deliberate_defect() {
    let bed = Bed::start().await;
    for (number, defect) in Defect::ALL.into_iter().enumerate() {
        bed.control.set_dialect(Dialect { defect: Some(defect), ..Dialect::default() });
        let report = bed.run(number + 1).await;
        let wanted = match defect {
            Defect::TokenWithoutLife => "token",
            Defect::WrongStatus
            | Defect::MissingField
            | Defect::WrongDateFormat
            | Defect::NumberForText
            | Defect::OtherTxid
            | Defect::OtherAmount
            | Defect::UnknownStatus
            | Defect::WrongChecksum => "create",
            Defect::CancelIgnored => "cancel",
            Defect::NoPagination | Defect::EmptyList => "list charges",
            Defect::WebhookNotRegistered => "read webhook",
            Defect::HtmlProblem => "read unknown",
            Defect::ReturnStatus => "refund",
            Defect::PixWithoutId => "list received",
        };
        assert!(diverging(&report).contains(&wanted), "{defect:?}: {:#?}", report.steps);
    }
}

#[tokio::test]
async fn trial_without_a_paid_pix_skips_the_refund() {
    let bed = Bed::start().await;
    let txid = Txid::parse(&"c".repeat(32)).unwrap();
    let trial = ContractTrial { txid, own_url: None, now: bed.paid_at, paid: None };
    let report = bed.acquirer.try_contract(&trial).await;
    let refund = report.steps.iter().find(|step| step.name == "refund").unwrap();
    assert!(refund.skipped.is_some() && report.is_clean(), "{:#?}", report.steps);
}

#[tokio::test]
async fn trial_masks_repeated_authorization() {
    let server = Server::start_raw(None, |seen, _| {
        let received = seen.header("authorization");
        let token =
            json!({"access_token": "a-long-token", "token_type": "Bearer", "expires_in": 60, "received": received});
        let problem = json!({"detail": format!("refused: {received}")});
        if seen.is_token_request() { json_reply(200, &token) } else { json_reply(400, &problem) }
    })
    .await;
    let config = config(&server.url());
    let txid = Txid::parse(&"c".repeat(32)).unwrap();
    let trial = ContractTrial { txid, own_url: None, now: Timestamp::UNIX_EPOCH, paid: None };
    let bacen = BacenAcquirer::new(&config).unwrap().try_contract(&trial).await;
    let efi = EfiAcquirer::new(&config).unwrap().try_contract(&trial, None).await;
    for report in [bacen, efi] {
        let shown = serde_json::to_string(&report).unwrap();
        assert!(shown.contains("refused: Bearer ***") && shown.contains("Basic ***"), "{shown}");
        // The second text is `client:hush` in Base64.
        for secret in ["a-long-token", "Y2xpZW50Omh1c2g"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[tokio::test]
async fn trial_ends_at_a_refused_token() {
    let bed = Bed::start().await;
    bed.control.set_dialect(Dialect { token_path: Some("/elsewhere".to_owned()), ..Dialect::default() });
    let report = bed.run(1).await;
    assert_eq!((report.steps.len(), diverging(&report)), (1, vec!["token"]));
}
