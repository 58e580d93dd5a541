//! The parts that an operation supplies so that its resources are created under an idempotency key.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, Id, IdKind, RequestId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, Fingerprint, IdempotencyRef, QueryError, ReservationKey, Versioned, Write};
use jiff::Timestamp;

use super::error::{CreateError, Refusal};
use crate::idempotency::IdempotentRequest;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

/// A record whose update checks the version that was read.
pub(crate) trait StoredRecord: Versioned + Clone + Send + Sync + Sized {
    /// The kind of the record's id.
    type Kind: IdKind;

    /// Returns the id of the record.
    fn id(&self) -> Id<Self::Kind>;

    /// Returns the account of the record.
    fn account(&self) -> AccountId;

    /// Reads the record with this id.
    fn find(
        ports: &Ports,
        account: AccountId,
        id: Id<Self::Kind>,
    ) -> impl Future<Output = Result<Option<Self>, QueryError>> + Send;

    /// Returns the record as it is stored after its write, with the next version.
    fn stored(self) -> Self;

    /// Reads the record again.
    fn reread(&self, ports: &Ports) -> impl Future<Output = Result<Self, StoreError>> + Send {
        async move {
            let found = Self::find(ports, self.account(), self.id()).await?;
            found.ok_or_else(|| StoreError::Internal(format!("{} does not exist any more", self.id())))
        }
    }
}

/// Commits only the record, and returns the stored record.
pub(crate) async fn commit_update<T: StoredRecord>(ports: &Ports, record: T) -> Result<T, CommitError> {
    let mut change = ChangeSet::new(ports.clock.now());
    change.writes.push(Write::update(record.clone()));
    ports.store.commit(change).await?;
    Ok(record.stored())
}

/// The progress of a resource's creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CreationState {
    /// Commit 1 is made and commit 2 is not. Readers do not see the resource.
    Creating,
    /// No acquirer accepted the order. Readers do not see the resource, and its external id is free. Only a repeat by
    /// its caller reopens the resource.
    Abandoned,
    /// The creation is finished.
    Visible,
}

/// The step of an order that follows from an [`UpstreamResult`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStep<'a, T> {
    /// The acquirer's record is applied.
    Apply(&'a T),
    /// The order fails, and its hold is released.
    Fail(&'a str),
    /// The order is abandoned, and its hold is released.
    Abandon,
    /// The order becomes visible, and its outcome stays open.
    StayOpen,
    /// The order does not change.
    None,
}

impl CreationState {
    /// Returns the next step of a payout, refund or withdrawal. If the order is no longer in creation, another process
    /// has changed it from newer evidence. A reply without a record does not reverse that change.
    pub(crate) fn step<T>(self, result: &UpstreamResult<T>) -> NextStep<'_, T> {
        match (result, self) {
            (UpstreamResult::Known(record), _) => NextStep::Apply(record),
            (UpstreamResult::Refused(reason), Self::Creating) => NextStep::Fail(reason),
            (UpstreamResult::NotAccepted(_), Self::Creating) => NextStep::Abandon,
            (UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_), Self::Creating) => NextStep::StayOpen,
            (
                UpstreamResult::Refused(_)
                | UpstreamResult::NotAccepted(_)
                | UpstreamResult::Unknown(_)
                | UpstreamResult::RefusedUnproven(_),
                Self::Abandoned | Self::Visible,
            ) => NextStep::None,
        }
    }
}

/// A resource that is created under an idempotency key and ordered from an acquirer.
pub(crate) trait KeyedResource: StoredRecord {
    /// The result of sending the order.
    type Reply: Send + Sync;

    /// The maximum number of attempts to commit one step. A further attempt is needed if another process changed the
    /// resource.
    const MAX_PASSES: usize = MAX_COMMIT_RETRIES;

    /// Returns the progress of the creation.
    fn creation_state(&self) -> CreationState;

    /// Returns the merchant's external id.
    fn external_id(&self) -> Option<&ExternalId>;

    /// Returns the reservation key of an external id.
    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey;

    /// Returns the amount that `available` must cover when the resource is opened.
    fn held(&self) -> Result<Money, StoreError>;

    /// Returns the body of a response with the resource.
    fn render(&self, ports: &Ports) -> Vec<u8>;

    /// Returns whether an acquirer is available now. Without an acquirer, a repeat does not take over a creation,
    /// because the repeat could not send the order. A repeat that may not reopen the resource makes no such check.
    fn has_acquirer(_ports: &Ports) -> bool {
        true
    }

    /// Sends the order of a resource in creation. After `until`, another process may take over the creation, so this
    /// process starts no request then. An implementation may ignore `until` if a second request has no effect.
    fn send_upstream(
        &self,
        ports: &Ports,
        earlier: EarlierRequests,
        until: Timestamp,
    ) -> impl Future<Output = Self::Reply> + Send;

    /// Returns the resource after the step that follows from the reply, and the changes of the step. If no step
    /// follows, the change set has no writes. Returns `None` if the resource is outdated.
    ///
    /// A callback may have changed the resource since the request.
    fn settle(
        self,
        ports: &Ports,
        reply: &Self::Reply,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<(Self, ChangeSet)>, StoreError>> + Send;

    /// Applies the parts of the reply that commit 2 did not apply, for example a payment that the reply already shows.
    fn follow_up(self, _ports: &Ports, _reply: &Self::Reply) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }
}

/// A resource in its first state, and the changes of commit 1. The reservation of the external id and the idempotency
/// record are added later.
#[derive(Debug)]
pub(crate) struct Opened<T> {
    /// The resource in its first state.
    pub resource: T,
    /// The write of the resource, its hold, and the reservations of its other identifiers.
    pub change: ChangeSet,
}

/// A request to create a resource under an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRequest<T> {
    /// The calling account.
    pub account: Account,
    /// The id of the request.
    pub request: RequestId,
    /// The idempotency key.
    pub key: IdempotencyKey,
    /// The method, path and body of the request.
    pub fingerprint: Fingerprint,
    /// The requested terms of the resource.
    pub terms: T,
}

impl<T> CreateRequest<T> {
    /// Returns the request without its terms.
    pub(super) fn keyed(&self) -> IdempotentRequest {
        let name = IdempotencyRef { account: self.account.id, key: self.key.clone() };
        IdempotentRequest { name, fingerprint: self.fingerprint, request: self.request }
    }
}

/// The requested terms of a resource. An implementation checks the terms and builds the resource in its first state.
pub(crate) trait CreateTerms: Send + Sync {
    /// The resource that is created.
    type Resource: KeyedResource;
    /// The refusals of the operation itself.
    type Refusal: Refusal;

    /// `true` if `open` and `reopen` read prices upstream. The key is then looked up first, so that a replay does not
    /// wait for these reads. A repeat then skips `open`, so `reopen` must make all checks of `open`.
    const OPENS_UPSTREAM: bool = false;

    /// Returns the merchant's external id of the resource.
    fn external_id(&self) -> Option<&ExternalId>;

    /// Checks the terms, and opens a resource of the calling account.
    fn open(
        &self,
        ports: &Ports,
        account: &Account,
    ) -> impl Future<Output = Result<Opened<Self::Resource>, CreateError<Self::Refusal>>> + Send;

    /// Reopens an abandoned resource and keeps its id. Returns `None` if the resource is outdated.
    fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Self::Resource,
    ) -> impl Future<Output = Result<Option<Opened<Self::Resource>>, CreateError<Self::Refusal>>> + Send;

    /// Returns `true` if an abandoned resource may be reopened although `open` refuses the same terms now.
    fn may_reopen(refused: &CreateError<Self::Refusal>) -> bool {
        matches!(refused, CreateError::AcquirerUnavailable)
    }

    /// Compares the terms with the owner of their external id. Returns each field's name, with `true` if the values are
    /// equal.
    fn compare(
        &self,
        ports: &Ports,
        owner: &Self::Resource,
    ) -> impl Future<Output = Result<Vec<(&'static str, bool)>, CreateError<Self::Refusal>>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_record_changes_order_that_is_no_longer_in_creation() {
        let reason = || "closed".to_owned();
        let table = [
            (UpstreamResult::Known(7), NextStep::Apply(&7), NextStep::Apply(&7)),
            (UpstreamResult::Refused(reason()), NextStep::Fail("closed"), NextStep::None),
            (UpstreamResult::NotAccepted(reason()), NextStep::Abandon, NextStep::None),
            (UpstreamResult::Unknown(reason()), NextStep::StayOpen, NextStep::None),
            (UpstreamResult::RefusedUnproven(reason()), NextStep::StayOpen, NextStep::None),
        ];
        for (result, in_creation, later) in table {
            assert_eq!(CreationState::Creating.step(&result), in_creation, "{result:?}");
            for state in [CreationState::Abandoned, CreationState::Visible] {
                assert_eq!(state.step(&result), later, "{result:?} {state:?}");
            }
        }
    }
}
