//! Reads a resource by its id or its external id. If its state may have changed, the acquirer is read first.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, Id};
use cais_ports::{Page, PageRequest, QueryError, alerts};
use jiff::Timestamp;

use super::keyed::{CreationState, KeyedResource};
use super::order::SyncError;
use crate::ports::Ports;
use crate::statement::ListError;
use crate::store_error::{RETRY_AFTER_S, StoreError};
use crate::sync_gate::SyncGate;

/// The identifier by which a caller requests a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceName<I> {
    /// The id that this service assigned.
    Id(I),
    /// The caller's external id.
    External(ExternalId),
}

/// The reason why a resource is not returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The account has no visible resource with that identifier.
    #[error("the resource does not exist")]
    NotFound,
    /// The resource with this external id is being created. A request by id gets `NotFound` until the creation is
    /// finished.
    #[error("the resource is still being created")]
    InProgress {
        /// Seconds until the next request is useful.
        retry_after_s: u32,
    },
    /// The store failed.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// Seconds until the next request is useful.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<StoreError> for FetchError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            StoreError::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// Returns the stored resource with that identifier, if its creation is finished.
pub(crate) async fn find<T: KeyedResource>(
    ports: &Ports,
    account: AccountId,
    name: &ResourceName<Id<T::Kind>>,
) -> Result<T, FetchError> {
    let id = match name {
        ResourceName::Id(id) => *id,
        ResourceName::External(external_id) => {
            let key = T::external_id_key(account, external_id.clone());
            let owner = ports.queries.find_owner(&key).await.map_err(StoreError::from)?;
            let owner = owner.ok_or(FetchError::NotFound)?;
            Id::parse(&owner).map_err(|error| FetchError::Internal(format!("{owner}: {error}")))?
        }
    };
    let resource = T::find(ports, account, id).await.map_err(StoreError::from)?.ok_or(FetchError::NotFound)?;
    match (resource.creation_state(), name) {
        (CreationState::Visible, _) => Ok(resource),
        (CreationState::Creating, ResourceName::External(_)) => {
            Err(FetchError::InProgress { retry_after_s: RETRY_AFTER_S })
        }
        (CreationState::Creating | CreationState::Abandoned, _) => Err(FetchError::NotFound),
    }
}

/// Returns the page that `read` reads. If `page` has a cursor, the cursor must be a visible resource of the account.
pub(crate) async fn list<T: KeyedResource>(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<Id<T::Kind>>,
    read: impl Future<Output = Result<Page<T>, QueryError>>,
) -> Result<Page<T>, ListError> {
    if let Some(cursor) = page.starting_after {
        let known = T::find(ports, account, cursor).await.map_err(StoreError::from)?;
        if known.is_none_or(|known| known.creation_state() != CreationState::Visible) {
            return Err(ListError::UnknownCursor);
        }
    }
    Ok(read.await.map_err(StoreError::from)?)
}

/// Returns the resource with that identifier. If `may_have_moved` and `syncs` permit a read, `refresh` first reads the
/// acquirer and applies its record. If `refresh` fails, the stored resource is returned.
pub(crate) async fn fetch<T, F, E>(
    ports: &Ports,
    syncs: &SyncGate,
    (account, name): (AccountId, &ResourceName<Id<T::Kind>>),
    may_have_moved: impl Fn(&T, Timestamp) -> bool,
    refresh: impl Fn(T) -> F,
) -> Result<T, FetchError>
where
    T: KeyedResource,
    F: Future<Output = Result<T, E>>,
    E: Into<SyncError>,
{
    let resource: T = find(ports, account, name).await?;
    let now = ports.clock.now();
    if !may_have_moved(&resource, now) || !syncs.admit(resource.id().uuid(), now) {
        return Ok(resource);
    }
    match refresh(resource.clone()).await.map_err(Into::into) {
        Ok(fresh) => Ok(fresh),
        Err(error) => {
            let id = resource.id();
            if let SyncError::Store(StoreError::Internal(cause)) = error {
                tracing::error!(alert = alerts::RECORD_UNREADABLE, resource = %id, cause, "resource could not be refreshed from its acquirer; the stored state is shown");
            } else {
                tracing::warn!(resource = %id, %error, "resource could not be refreshed from its acquirer; the stored state is shown");
            }
            Ok(resource)
        }
    }
}
