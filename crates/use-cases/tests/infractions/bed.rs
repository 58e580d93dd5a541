//! A single account over an empty store, with two simulated acquirers and a manual clock.

use std::time::Duration;

use cais_domain::charge::{Charge, Origin};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{ChargeId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::ledger::Bucket;
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{CallbackState, Fingerprint};
pub use cais_testkit::bed::LONG;
use cais_testkit::bed::a_request_key;
use cais_testkit::builders::{an_account, an_operator, fresh};
use cais_use_cases::Response;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::infractions::defend::{DefendError, defend};
use cais_use_cases::infractions::resolve::{Decision, ResolveError, resolve};
use cais_use_cases::infractions::{poll, poll_defenses};
use cais_use_cases::payouts::create::{CreatePayout, NewPayout, create as create_payout};
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, RequestedRefund, create as create_refund};

/// A time that is longer than the lag of an acquirer's list, and longer than a request can be in transit.
pub const PAST_LAG: Duration = Duration::from_secs(61);

cais_testkit::test_bed!();

impl TestBed {
    /// Creates an approved account without money.
    pub async fn new() -> Self {
        Self::with(an_account()).await
    }

    pub async fn with(account: Account) -> Self {
        Self(cais_testkit::TestBed::new(account).await)
    }

    /// Returns the same test bed over a store at which all tasks read before any task writes.
    pub fn contended(&self) -> Self {
        Self(self.0.contended())
    }

    /// Returns the same test bed with a hook before each commit is checked.
    pub fn before_commits(&self, hook: impl FnMut() + Send + 'static) -> Self {
        Self(self.0.before_commits(hook))
    }

    /// Returns the same test bed with a clock that advances after each commit.
    pub fn sleeping_after_commit(&self, sleep: Duration) -> Self {
        let clock = self.clock.clone();
        Self(self.after_commits(move || {
            clock.advance(sleep);
        }))
    }

    /// Creates a paid charge of R$ 10.00, and an open dispute of the whole amount. Also returns the acquirer's id of
    /// the dispute.
    pub async fn disputed(&self) -> (Charge, String) {
        let (charge, pix) = self.paid(1_000).await;
        let id = self.psp.dispute(&pix, 1_000);
        assert_eq!(self.poll().await, 1);
        (self.charge(charge.id), id)
    }

    /// Runs one pass over the acquirers' lists. Returns the number of changed infractions.
    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Runs one pass over the defenses whose arrival is unknown. Returns the number of defenses with a result.
    pub async fn resume(&self) -> usize {
        poll_defenses::run_once(&self.ports).await.unwrap().done
    }

    /// Receives and processes a callback of the main acquirer about an infraction.
    pub async fn receive_callback(&self, id: &str) -> CallbackState {
        self.0.receive_callback(id).await;
        self.process().await;
        self.store.callbacks().last().unwrap().state
    }

    /// Runs a pass over the waiting callbacks, after the longest pause.
    pub async fn process_later(&self) -> CallbackState {
        self.clock.advance(LONG);
        self.process().await;
        self.store.callbacks().last().map_or(CallbackState::Done, |callback| callback.state)
    }

    /// Submits a defense with this text.
    pub async fn defend(&self, text: &str) -> Result<Infraction, DefendError> {
        self.defend_with(text, None).await
    }

    pub async fn defend_with(&self, text: &str, evidence: Option<&str>) -> Result<Infraction, DefendError> {
        let read = |text: &str| Text::parse(text, 2_000, LineBreaks::Allowed).unwrap();
        defend(&self.ports, &self.account, self.last().id, read(text), evidence.map(read)).await
    }

    /// Decides the newest infraction as an operator.
    pub async fn decide(&self, decision: Decision) -> Result<Infraction, ResolveError> {
        self.decide_one(self.last().id, decision).await
    }

    /// Decides the infraction with the id as an operator.
    pub async fn decide_one(&self, id: InfractionId, decision: Decision) -> Result<Infraction, ResolveError> {
        let note = Text::parse(r#"a "b" \"#, 100, LineBreaks::Refused).unwrap();
        resolve(&self.ports, &an_operator(), id, (decision, &note)).await
    }

    /// Returns all stored infractions. The oldest comes first.
    pub fn all(&self) -> Vec<Infraction> {
        self.store.infractions()
    }

    /// Returns the newest stored infraction.
    pub fn last(&self) -> Infraction {
        self.all().pop().unwrap()
    }

    /// Returns the status of each stored infraction. The oldest comes first.
    pub fn statuses(&self) -> Vec<InfractionStatus> {
        self.all().iter().map(|infraction| infraction.state.status()).collect()
    }

    /// Returns the available, pending and blocked balances in centavos.
    pub fn money(&self) -> [i64; 3] {
        [Bucket::Available, Bucket::Pending, Bucket::Blocked].map(|bucket| self.in_bucket(bucket))
    }

    /// Creates a payout of this amount with its own key.
    pub async fn pay_out(&self, key: &str, centavos: i64) -> Response {
        let command = CreatePayout {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(&format!("payout-{key}")),
            fingerprint: Fingerprint([1; 32]),
            terms: NewPayout {
                amount: Money::from_centavos(centavos),
                pix_key: PixKey::parse("ana@bank.example").unwrap(),
                recipient_document: None,
                description: None,
                external_id: None,
                origin: Origin::Api,
            },
        };
        create_payout(&self.ports, command).await.unwrap()
    }

    /// Creates a refund of this amount with its own key.
    pub async fn refund(&self, key: &str, charge: ChargeId, centavos: i64) -> Result<Response, CreateRefundError> {
        self.refund_payment(key, (charge, None), centavos).await
    }

    /// Creates a refund of one payment of the charge.
    pub async fn refund_payment(
        &self,
        key: &str,
        (charge, pix): (ChargeId, Option<EndToEndId>),
        centavos: i64,
    ) -> Result<Response, CreateRefundError> {
        let command = CreateRefund {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(&format!("refund-{key}")),
            fingerprint: Fingerprint([2; 32]),
            terms: RequestedRefund {
                charge: ChargeName::Id(charge),
                end_to_end_id: pix,
                amount: Some(Money::from_centavos(centavos)),
                reason: None,
                external_id: None,
            },
        };
        create_refund(&self.ports, command).await
    }

    /// Returns the published events in order. The events of payments are left out.
    pub fn event_types(&self) -> Vec<EventType> {
        self.later_event_types()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly, and that blocks match the open infractions.
    pub async fn check(&self) {
        self.0.check().await;
        let held: i64 = self.store.blocks().iter().map(|block| block.held.centavos()).sum();
        assert_eq!(held, self.in_bucket(Bucket::Blocked), "blocked is the sum of the blocks");
        let open = self.all().into_iter().filter(|infraction| infraction.state.status().is_open());
        let mut open: Vec<_> = open.map(|infraction| (infraction.id, infraction.limit)).collect();
        let mut blocks: Vec<_> = self.store.blocks().iter().map(|block| (block.infraction, block.limit)).collect();
        open.sort();
        blocks.sort();
        assert_eq!(open, blocks, "each open infraction has a block, and no other");
        for bucket in [Bucket::Available, Bucket::Pending, Bucket::Blocked, Bucket::InTransit] {
            assert!(self.in_bucket(bucket) >= 0, "{bucket:?}");
        }
        let events = self.store.events(self.account.id);
        for infraction in self.all() {
            let of = |kinds: &[EventType]| {
                let own = events.iter().filter(|stored| stored.event.resource == infraction.id.to_string());
                own.filter(|stored| kinds.contains(&stored.event.kind)).count()
            };
            assert_eq!(of(&[EventType::InfractionOpened]), 1, "opened once");
            let settled = of(&[EventType::InfractionWon, EventType::InfractionLost, EventType::InfractionCancelled]);
            assert_eq!(settled, usize::from(!infraction.state.status().is_open()), "settled once");
        }
    }
}
