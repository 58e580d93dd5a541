//! Implements `KeyedResource` for deposits: a deposit is created under an idempotency key. Its creation holds no money
//! of the merchant.

use cais_domain::crypto::deposit::{Deposit, DepositStatus, DepositStep, Issued};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Reservation, ReservationKey, UpstreamDeposit, Write};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{CreationState, KeyedResource, StoredRecord as _, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

/// The payment period: the time from the request of the address until the deposit expires. The rate is valid for the
/// same time.
pub const PAYMENT_PERIOD: SignedDuration = SignedDuration::from_mins(20);
/// The time after the expiry of a quote within which a creation is still resumed at the quote's rate. A crashed
/// creation is resumed after its lease of 30 s. If a creation is resumed later than this time, its deposit is
/// abandoned.
const RESUME_WITHIN: SignedDuration = SignedDuration::from_mins(2);

/// The result of a request to the processor, and the instant of the request.
#[derive(Debug)]
pub(crate) struct Issuing {
    result: UpstreamResult<UpstreamDeposit>,
    requested_at: Timestamp,
}

impl KeyedResource for Deposit {
    type Reply = Issuing;

    fn creation_state(&self) -> CreationState {
        match self.state.status() {
            DepositStatus::Creating => CreationState::Creating,
            DepositStatus::Abandoned => CreationState::Abandoned,
            DepositStatus::Pending
            | DepositStatus::Confirming
            | DepositStatus::Completed
            | DepositStatus::Underpaid
            | DepositStatus::Expired
            | DepositStatus::Failed
            | DepositStatus::Refunded => CreationState::Visible,
        }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.terms.external_id.as_ref()
    }

    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey {
        ReservationKey::CryptoDepositExternalId(account, external_id)
    }

    fn held(&self) -> Result<Money, StoreError> {
        Ok(Money::ZERO)
    }

    fn render(&self, ports: &Ports) -> Vec<u8> {
        ports.representation.crypto_deposit(self)
    }

    fn has_acquirer(ports: &Ports) -> bool {
        ports.crypto.is_some()
    }

    async fn send_upstream(&self, ports: &Ports, earlier: EarlierRequests, until: Timestamp) -> Issuing {
        let requested_at = ports.clock.now();
        let result = match earlier {
            EarlierRequests::None => send_begun(ports, self, earlier, until).await,
            EarlierRequests::InFlight | EarlierRequests::Unknown | EarlierRequests::Shown => {
                match price_holds(ports, self, requested_at).await {
                    Ok(true) => send_begun(ports, self, earlier, until).await,
                    Ok(false) => {
                        tracing::warn!(deposit = %self.id, "creation of a deposit not finished while its rate was valid; the deposit is abandoned");
                        UpstreamResult::NotAccepted("the rate is no longer valid".to_owned())
                    }
                    Err(error) => UpstreamResult::Unknown(error.to_string()),
                }
            }
        };
        Issuing { result, requested_at }
    }

    /// If the processor refuses or does not accept the request, the deposit is abandoned. An earlier request may have
    /// created an address, but no payer has seen that address.
    async fn settle(self, _: &Ports, reply: &Issuing, now: Timestamp) -> Result<Option<(Self, ChangeSet)>, StoreError> {
        let mut change = ChangeSet::new(now);
        if self.creation_state() == CreationState::Visible {
            return Ok(Some((self, change)));
        }
        let step = match &reply.result {
            UpstreamResult::Known(record) => {
                let issued = issued(record, reply.requested_at)?;
                let key = ReservationKey::crypto_payment(&self.processor, &issued.payment);
                change.reserve.push(Reservation { key, account: self.account, owner: self.id.to_string() });
                self.issue(issued, now)?
            }
            UpstreamResult::Refused(_) | UpstreamResult::NotAccepted(_) => self.abandon(now)?,
            // A worker or a repeat looks the deposit up later, and requests it again.
            UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_) => return Ok(Some((self, change))),
        };
        Ok(Some(match step {
            DepositStep::Taken { deposit, .. } => {
                change.writes.push(Write::update((*deposit).clone()));
                (deposit.stored(), change)
            }
            DepositStep::AlreadyTaken(deposit) => (*deposit, change),
        }))
    }
}

/// Returns the data that the payer needs.
fn issued(record: &UpstreamDeposit, requested_at: Timestamp) -> Result<Issued, StoreError> {
    let address = record
        .address
        .as_ref()
        .ok_or_else(|| StoreError::Internal("the processor's record of a deposit has no address".to_owned()))?;
    Ok(Issued {
        payment: record.id.clone(),
        address: address.as_str().to_owned(),
        extra_id: record.extra_id.clone(),
        expires_at: requested_at.saturating_add(PAYMENT_PERIOD).unwrap_or(Timestamp::MAX),
    })
}

/// Returns whether an unfinished creation may still use its rate. A quote that is no longer stored expired long ago.
async fn price_holds(ports: &Ports, deposit: &Deposit, now: Timestamp) -> Result<bool, StoreError> {
    let quote = ports.queries.find_crypto_quote(deposit.account, deposit.price.quote).await?;
    Ok(quote.is_some_and(|quote| now.duration_since(quote.expires_at) <= RESUME_WITHIN))
}
