//! The parts that an operation supplies for its creation under an idempotency key.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, Id, IdKind};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, QueryError, ReservationKey, Write};
use jiff::Timestamp;

use super::error::{CreateError, Refusal};
use crate::idempotency::IdempotentRequest;
use crate::ports::Ports;
use crate::trouble::{DECISIONS, Trouble};
use crate::upstream_result::Earlier;

/// A record that is written with the version that was read.
pub(crate) trait StoredRecord: Clone + Send + Sync + Sized {
    /// The kind of its id.
    type Kind: IdKind;

    /// Returns its id.
    fn id(&self) -> Id<Self::Kind>;

    /// Returns its account.
    fn account(&self) -> AccountId;

    /// Reads the record of that id.
    fn find(
        ports: &Ports,
        account: AccountId,
        id: Id<Self::Kind>,
    ) -> impl Future<Output = Result<Option<Self>, QueryError>> + Send;

    /// Returns the write of the record as it is now.
    fn update(&self) -> Write;

    /// Returns the record as the store has it after its write is committed: one version further.
    fn stored(self) -> Self;

    /// Reads the record again.
    fn reread(&self, ports: &Ports) -> impl Future<Output = Result<Self, Trouble>> + Send {
        async move {
            let found = Self::find(ports, self.account(), self.id()).await?;
            found.ok_or_else(|| Trouble::Internal(format!("{} vanished", self.id())))
        }
    }
}

/// Commits the record alone, and returns it as it is stored then.
pub(crate) async fn commit_update<T: StoredRecord>(ports: &Ports, record: T) -> Result<T, CommitError> {
    let mut change = ChangeSet::new(ports.clock.now());
    change.writes.push(record.update());
    ports.store.commit(change).await?;
    Ok(record.stored())
}

/// How far the creation of a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Commit 1 is made and commit 2 is not. Readers do not see the resource.
    Begun,
    /// No acquirer took it. Readers do not see it, its external id is free, and only its caller's repeat opens it again.
    Abandoned,
    /// Its creation is finished.
    Visible,
}

/// A resource that is created under an idempotency key and ordered from an acquirer.
pub(crate) trait KeyedResource: StoredRecord {
    /// The result of sending it.
    type Reply: Send + Sync;

    /// Passes of one decision, each after a change by another process.
    const MAX_PASSES: usize = DECISIONS;

    /// Returns how far its creation is.
    fn standing(&self) -> Standing;

    /// Returns the merchant's own name for it.
    fn external_id(&self) -> Option<&ExternalId>;

    /// Returns the reservation of such a name.
    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey;

    /// Returns the amount that `available` must cover when the resource is opened.
    fn held(&self) -> Result<Money, Trouble>;

    /// Returns the body of a response that shows it.
    fn render(&self, ports: &Ports) -> Vec<u8>;

    /// Returns whether an acquirer can be asked now. Without one a creation is not taken over: its attempts would only be counted.
    fn has_acquirer(_ports: &Ports) -> bool {
        true
    }

    /// Sends a begun resource, before `until`: after that instant another process may rely on no further request of this one.
    fn send_upstream(
        &self,
        ports: &Ports,
        earlier: Earlier,
        until: Timestamp,
    ) -> impl Future<Output = Self::Reply> + Send;

    /// Returns the resource as it is stored after the step that follows from the reply, and everything that becomes true with the
    /// step: no write when there is no step. `None` when what was read is outdated.
    ///
    /// A callback may have moved the resource since the request.
    fn settle(
        self,
        ports: &Ports,
        reply: &Self::Reply,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<(Self, ChangeSet)>, Trouble>> + Send;

    /// Applies what the reply shows besides, after commit 2.
    fn follow_up(self, _ports: &Ports, _reply: &Self::Reply) -> impl Future<Output = Result<(), Trouble>> + Send {
        std::future::ready(Ok(()))
    }
}

/// A resource that is about to begin, and what becomes true with it besides its names and the idempotency record.
#[derive(Debug)]
pub(crate) struct Opened<T> {
    /// The resource, in the state of a begun one.
    pub resource: T,
    /// Its write, and its hold.
    pub change: ChangeSet,
}

/// A call that creates a resource under an idempotency key.
pub(crate) trait CreateCommand: Send + Sync {
    /// The resource that is created.
    type Resource: KeyedResource;
    /// The refusals of the operation itself.
    type Refusal: Refusal;

    /// Returns the call under its key.
    fn request(&self) -> IdempotentRequest;

    /// Returns the merchant's own name for the resource.
    fn external_id(&self) -> Option<&ExternalId>;

    /// Judges the call and opens a resource for it.
    fn open(
        &self,
        ports: &Ports,
    ) -> impl Future<Output = Result<Opened<Self::Resource>, CreateError<Self::Refusal>>> + Send;

    /// Opens an abandoned resource again, under its own id. `None` when the resource is outdated.
    fn reopen(
        &self,
        ports: &Ports,
        abandoned: Self::Resource,
    ) -> impl Future<Output = Result<Option<Opened<Self::Resource>>, CreateError<Self::Refusal>>> + Send;

    /// Returns whether an abandoned resource may be opened again although `open` refuses the same call today.
    fn may_reopen(refused: &CreateError<Self::Refusal>) -> bool {
        matches!(refused, CreateError::AcquirerUnavailable)
    }

    /// Compares the call with the resource that owns its external id: field by field, true if both have the same value.
    fn compare(
        &self,
        ports: &Ports,
        owner: &Self::Resource,
    ) -> impl Future<Output = Result<Vec<(&'static str, bool)>, CreateError<Self::Refusal>>> + Send;
}
