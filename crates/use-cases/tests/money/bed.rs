//! A single account over an empty store, with two simulated acquirers and a manual clock.

use std::time::Duration;

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::RefundId;
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundStatus};
pub use cais_testkit::bed::{LONG, PAST_LEASE, status_of};
use cais_testkit::bed::{a_request_key, fingerprint};
use cais_testkit::builders::{an_account, fresh};
use cais_use_cases::Response;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, RequestedRefund, create};
use cais_use_cases::refunds::poll;

cais_testkit::test_bed!();

/// The terms of a refund request.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefundRequest {
    pub centavos: Option<i64>,
    pub external: Option<&'static str>,
}

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

    /// Creates a pending charge of R$ 10.00 without a fee.
    pub async fn pending(&self) -> Charge {
        self.0.pending(1_000).await
    }

    /// Creates a paid charge of R$ 10.00 without a fee. The money is available.
    pub async fn paid(&self) -> Charge {
        self.0.paid(1_000).await.0
    }

    /// Posts a refund with the key.
    pub async fn refund(
        &self,
        key: &str,
        charge: &Charge,
        asked: RefundRequest,
    ) -> Result<Response, CreateRefundError> {
        create(&self.ports, self.command(key, charge, asked)).await
    }

    /// Posts a refund of one payment of the charge with the key.
    pub async fn refund_payment(
        &self,
        key: &str,
        (charge, pix): (&Charge, &EndToEndId),
        asked: RefundRequest,
    ) -> Result<Response, CreateRefundError> {
        let mut command = self.command(key, charge, asked);
        command.fingerprint = fingerprint(&(charge.id, pix, asked));
        command.terms.end_to_end_id = Some(pix.clone());
        create(&self.ports, command).await
    }

    pub fn command(&self, key: &str, charge: &Charge, asked: RefundRequest) -> CreateRefund {
        CreateRefund {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(key),
            fingerprint: fingerprint(&(charge.id, asked)),
            terms: RequestedRefund {
                charge: ChargeName::Id(charge.id),
                end_to_end_id: None,
                amount: asked.centavos.map(Money::from_centavos),
                reason: None,
                external_id: asked.external.map(|text| ExternalId::parse(text).unwrap()),
            },
        }
    }

    /// Runs one pass of the poller, after the first pause.
    pub async fn poll(&self) -> usize {
        self.clock.advance(Duration::from_secs(2));
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Returns the only refund, visible or not.
    pub fn only_refund(&self) -> Refund {
        let refunds = self.store.refunds();
        assert_eq!(refunds.len(), 1, "{refunds:?}");
        refunds[0].clone()
    }

    /// Returns the status of the only refund.
    pub fn status(&self) -> RefundStatus {
        self.only_refund().state.status()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly, and that held money belongs to open orders.
    pub async fn check(&self) {
        self.0.check().await;
        for charge in self.store.charges() {
            let of = |wanted: &[RefundStatus]| {
                let own = self.store.refunds().into_iter().filter(|refund| refund.charge == charge.id);
                let chosen = own.filter(|refund| wanted.contains(&refund.state.status()));
                Money::sum(chosen.map(|refund| refund.of_charge)).unwrap()
            };
            assert_eq!(charge.refunds.in_flight, of(&[RefundStatus::Pending, RefundStatus::Processing]));
            assert_eq!(charge.refunds.done, of(&[RefundStatus::Completed]));
            assert!(charge.refunds.done.checked_add(charge.refunds.in_flight).unwrap() <= charge.terms.amount);
        }
        for paid in self.store.payments() {
            let own = self.store.refunds().into_iter().filter(|one| one.end_to_end_id == paid.payment.end_to_end_id);
            let live = own.filter(|one| !matches!(one.state.status(), RefundStatus::Abandoned | RefundStatus::Failed));
            assert!(Money::sum(live.map(|one| one.amount)).unwrap() <= paid.payment.amount, "{paid:?}");
        }
    }
}

/// Returns terms for the whole rest.
pub fn all() -> RefundRequest {
    RefundRequest::default()
}

/// Returns terms for this amount in centavos.
pub fn part(centavos: i64) -> RefundRequest {
    RefundRequest { centavos: Some(centavos), external: None }
}

pub fn named(external: &'static str, asked: RefundRequest) -> RefundRequest {
    RefundRequest { external: Some(external), ..asked }
}

/// Returns the id of the refund in a response.
pub fn id_of(answer: &Response) -> RefundId {
    cais_testkit::bed::id_of(answer)
}
