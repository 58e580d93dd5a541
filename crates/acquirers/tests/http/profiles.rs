//! Tests each profile against the sandbox in the dialect of its institution.

use cais_acquirers::bacen::profile::{CredentialsIn, Dates};
use cais_acquirers::{BacenAcquirer, BacenConfig, BacenConfigError, GrantForm, Profile, Secret};
use cais_domain::pix_key::PixKey;
use cais_ports::{Acquirer, AcquirerError, ListRequest, UpstreamStatus};
use cais_sandbox::{Control, Credentials, Dialect, Sandbox, SandboxConfig};
use jiff::Timestamp;

use crate::answers::{BUDGET, order, refund_order, sandbox_config};

const APPLICATION_KEY: &str = "an-application-key";

/// Returns the sandbox's dialect that behaves like the profile's institution.
fn dialect(profile: &Profile, client_id: &str) -> Dialect {
    let fill = |pairs: &[(String, String)]| {
        let fill = |value: &str| value.replace("{client_id}", client_id).replace("{application_key}", APPLICATION_KEY);
        pairs.iter().map(|(name, value)| (name.clone(), fill(value))).collect()
    };
    Dialect {
        path_prefix: Some(profile.path_prefix.clone()),
        token_path: Some(profile.token_path.clone()),
        token_body: Some(if profile.token_body == GrantForm::Form { "form" } else { "json" }.to_owned()),
        token_query: profile.token_query.clone(),
        credentials_in_body: profile.credentials == CredentialsIn::Body,
        requires_scope: profile.scope.is_some(),
        headers: fill(&profile.headers),
        query: fill(&profile.query),
        refuses_taken_txid: true,
        local_dates: profile.dates == Dates::Brasilia,
        defect: None,
    }
}

fn config(credentials: &Credentials, profile: Profile) -> BacenConfig {
    BacenConfig { profile, application_key: Some(Secret::new(APPLICATION_KEY)), ..sandbox_config(credentials) }
}

async fn start() -> (Sandbox, Control, Credentials) {
    let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
    let (control, credentials) = (sandbox.control(), sandbox.credentials());
    (sandbox, control, credentials)
}

#[tokio::test]
async fn charge_is_created_paid_and_refunded_by_every_profile() {
    for name in Profile::NAMES {
        let (_sandbox, control, credentials) = start().await;
        let profile = Profile::named(name).unwrap();
        control.set_dialect(dialect(&profile, &credentials.client_id));
        let acquirer = BacenAcquirer::new(&config(&credentials, profile)).unwrap();
        let made = acquirer.create_charge(&order(), BUDGET).await;
        assert!(made.as_ref().is_ok_and(|made| made.status == UpstreamStatus::Active), "{name}: {made:?}");
        let again = acquirer.create_charge(&order(), BUDGET).await;
        assert_eq!(again.map(|charge| charge.txid), Ok(order().txid), "{name}: a taken txid is read");
        acquirer.register_callback("https://shop.example/hook", BUDGET).await.unwrap();
        let paid = control.pay(&order().txid, None).unwrap();
        let found = acquirer.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
        let payment = found.payments.first().unwrap();
        assert_eq!(payment.end_to_end_id, paid.end_to_end_id, "{name}");
        assert_eq!(payment.paid_at.as_millisecond(), paid.paid_at.as_millisecond(), "{name}");
        let (from, to) = (Timestamp::UNIX_EPOCH, "2100-01-01T00:00:00Z".parse().unwrap());
        let listed = acquirer.list_received(ListRequest { from, to, page: 0 }, BUDGET).await.unwrap();
        assert_eq!(listed.rows.len(), 1, "{name}");
        let refund = cais_ports::RefundOrder { end_to_end_id: paid.end_to_end_id, ..refund_order() };
        let back = acquirer.send_refund(&refund, BUDGET).await;
        assert_eq!(back.map(|back| back.amount), Ok(refund.amount), "{name}");
    }
}

#[tokio::test]
async fn institution_of_a_profile_refuses_the_plain_standard() {
    for name in Profile::NAMES {
        let (_sandbox, control, credentials) = start().await;
        control.set_dialect(dialect(&Profile::named(name).unwrap(), &credentials.client_id));
        let plain = BacenAcquirer::new(&config(&credentials, Profile::default())).unwrap();
        assert!(plain.create_charge(&order(), BUDGET).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn refused_charge_that_does_not_exist_stays_refused() {
    let (_sandbox, control, credentials) = start().await;
    let profile = Profile::named("sicredi").unwrap();
    control.set_dialect(dialect(&profile, &credentials.client_id));
    let other_key = PixKey::parse("71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e").unwrap();
    let config = BacenConfig { pix_key: other_key, ..config(&credentials, profile) };
    let refused = BacenAcquirer::new(&config).unwrap().create_charge(&order(), BUDGET).await;
    assert!(matches!(refused, Err(AcquirerError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn profile_with_missing_application_key_is_invalid() {
    let (_sandbox, _control, credentials) = start().await;
    let config = BacenConfig { application_key: None, ..config(&credentials, Profile::named("bb").unwrap()) };
    assert!(matches!(BacenAcquirer::new(&config), Err(BacenConfigError::ApplicationKey)));
    let invalid = Profile { headers: vec![("a b".to_owned(), "c".to_owned())], ..Profile::default() };
    let config = BacenConfig { profile: invalid, ..config };
    assert!(matches!(BacenAcquirer::new(&config), Err(BacenConfigError::Profile("header"))));
}
