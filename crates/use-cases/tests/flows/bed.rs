//! A single account over an empty store, with simulated acquirers and a manual clock.

use std::sync::Arc;

use cais_domain::charge::{Charge, ChargeStatus, Origin};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::ChargeId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_domain::money::Money;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{Acquirers, UrlRefusal};
use cais_testkit::FakeAcquirers;
pub use cais_testkit::bed::PAST_LEASE;
use cais_testkit::bed::{a_request_key, fingerprint};
use cais_testkit::builders::{an_account, fresh};
use cais_use_cases::charges::create::{CreateCharge, CreateChargeError, NewCharge, create};
use cais_use_cases::charges::fetch::{FetchError, fetch};
use cais_use_cases::charges::{ChargeName, expire};
use cais_use_cases::{Ports, Response, SyncGate};

cais_testkit::test_bed!();

impl TestBed {
    /// Creates an approved account without fees, and one acquirer.
    pub async fn new() -> Self {
        Self::with(an_account(), 1).await
    }

    /// Creates the account, and this number of acquirers.
    pub async fn with(account: Account, psps: usize) -> Self {
        let bed = cais_testkit::TestBed::new(account).await;
        let acquirers = FakeAcquirers::new(&[bed.psp.clone(), bed.second.clone()][..psps]);
        let mut bed = bed.with_acquirers(acquirers);
        bed.ports.webhooks = Arc::new(receivers());
        Self(bed)
    }

    /// Returns the ports with other acquirers.
    pub fn ports_with(&self, acquirers: Arc<dyn Acquirers>) -> Ports {
        Ports { acquirers, ..self.ports.clone() }
    }

    /// Posts a charge with the key.
    pub async fn create(&self, key: &str, terms: NewCharge) -> Result<Response, CreateChargeError> {
        Box::pin(create(&self.ports, self.command(key, terms))).await
    }

    pub fn command(&self, key: &str, terms: NewCharge) -> CreateCharge {
        CreateCharge {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(key),
            fingerprint: fingerprint(&terms),
            terms,
        }
    }

    /// Creates a pending charge of R$ 10.00.
    pub async fn pending(&self) -> Charge {
        let key = format!("pending-{}", self.store.commits());
        let answer = self.create(&key, ten_reais()).await.unwrap();
        self.charge(id_of(&answer))
    }

    pub fn status(&self, id: ChargeId) -> ChargeStatus {
        self.charge(id).state.status()
    }

    /// Returns the only charge.
    pub fn only_charge(&self) -> Charge {
        let charges = self.store.charges();
        assert_eq!(charges.len(), 1, "{charges:?}");
        charges[0].clone()
    }

    /// Reads a charge. The acquirer is read too, because no earlier read limits this one.
    pub async fn read(&self, id: ChargeId) -> Result<Charge, FetchError> {
        fetch(&self.ports, &SyncGate::new(), self.account.id, &ChargeName::Id(id)).await
    }

    /// Reads a charge by its external id.
    pub async fn read_external(&self, external: &str) -> Result<Charge, FetchError> {
        let name = ChargeName::External(ExternalId::parse(external).unwrap());
        fetch(&self.ports, &SyncGate::new(), self.account.id, &name).await
    }

    /// Runs one pass of every worker that reads acquirers.
    pub async fn work(&self) {
        self.process().await;
        self.resume().await;
        expire::run_once(&self.ports).await.unwrap();
    }
}

/// Returns a sender that checks addresses and fails on each call.
fn receivers() -> MockWebhookSender {
    let judge = |url: &WebhookUrl| {
        let inside = url.as_str().contains("inside");
        if inside { Err(UrlRefusal::NotPublic) } else { Ok(()) }
    };
    let mut mock = MockWebhookSender::new();
    mock.expect_permits().returning(judge);
    mock.expect_vet().returning(judge);
    mock
}

/// Returns terms of R$ 10.00 for an hour, without optional fields.
pub fn ten_reais() -> NewCharge {
    reais(10)
}

pub fn reais(reais: i64) -> NewCharge {
    NewCharge {
        amount: Money::from_centavos(reais * 100),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback_url: None,
        split: Vec::new(),
        origin: Origin::Api,
    }
}

pub fn named(external: &str, terms: NewCharge) -> NewCharge {
    NewCharge { external_id: Some(ExternalId::parse(external).unwrap()), ..terms }
}

/// Returns the id of the charge in a response.
pub fn id_of(answer: &Response) -> ChargeId {
    cais_testkit::bed::id_of(answer)
}
