//! Creates a resource under an idempotency key: commit 1, the request to the acquirer, and commit 2. Also answers each
//! repeat.

use cais_domain::ids::{Id, RequestId};
use cais_domain::money::Money;
use cais_ports::{CommitError, IdempotencyRecord, ResponseKind};

use super::complete::{Creation, Outcome, complete, external_id_key, load, reservation, take_over};
use super::error::{CreateError, Precedence, precedence};
use super::keyed::{CreateRequest, CreateTerms, CreationState, KeyedResource, Opened, StoredRecord as _};
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{
    KeyInUse, ReplayDecision, Stored, answer_orphaned, store_existing_response, store_response, stored_response,
};
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::{RETRY_AFTER_S, StoreError};
use crate::upstream_result::EarlierRequests;

type Created<T> = Result<Response, CreateError<<T as CreateTerms>::Refusal>>;

/// Creates a resource, replays the stored response, or resumes an unfinished creation.
///
/// # Errors
/// [`CreateError`]. The order of checks is: a known key, the refusals of the operation, the external id, whether an
/// acquirer is available, the balance, and whether the acquirer accepts the order.
// The futures of rare paths are boxed, so that the future of the usual path stays small.
pub(crate) async fn create<T: CreateTerms>(ports: &Ports, command: &CreateRequest<T>) -> Created<T> {
    let request = command.keyed();
    if T::OPENS_UPSTREAM {
        let known = ports.queries.find_idempotency_record(&request.name).await.map_err(StoreError::from)?;
        if let Some(record) = known {
            return Box::pin(repeat(ports, command, record, None)).await;
        }
    }
    for _ in 0..T::Resource::MAX_PASSES {
        let Opened { resource, mut change } = match command.terms.open(ports, &command.account).await {
            Ok(opened) => opened,
            Err(reason) => return Box::pin(refuse(ports, command, reason)).await,
        };
        let (id, now) = (resource.id().to_string(), change.at);
        let name = external_id_key(&resource);
        change.reserve.extend(reservation(&resource));
        change.idempotency = Some(request.new_open_record(id.clone(), now));
        // Commit 1. Conflicts are rare, so unique values are not read first: the error carries the owner of a taken
        // value.
        match ports.store.commit(change).await {
            Ok(_) => {
                let lease = request.new_lease(now);
                let creation = Creation { resource: resource.stored(), lease, earlier: EarlierRequests::None };
                return finish::<T>(ports, creation).await;
            }
            Err(CommitError::KeyInUse { record }) => return Box::pin(repeat(ports, command, *record, None)).await,
            Err(CommitError::Taken { key, by }) if name.as_ref() == Some(&key) => {
                if let Some(answer) = Box::pin(existing(ports, command, &by)).await? {
                    return Ok(answer);
                }
            }
            Err(CommitError::NotCovered { available, .. }) => {
                let response = insufficient_balance(ports, request.request, resource.held()?, available);
                return match store_response(ports, &request, &id, response).await? {
                    Stored::Answered(answer) => Ok(answer),
                    // Another request with this key was committed in between.
                    Stored::Known(record) => Box::pin(repeat(ports, command, record, None)).await,
                };
            }
            // A record has changed since `open` read it.
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Answers a request that is refused now. If the key is known, the request is a repeat. Otherwise `reason` is the
/// answer, unless the external id has an owner.
async fn refuse<T: CreateTerms>(
    ports: &Ports,
    command: &CreateRequest<T>,
    reason: CreateError<T::Refusal>,
) -> Created<T> {
    let known = ports.queries.find_idempotency_record(&command.keyed().name).await.map_err(StoreError::from)?;
    match known {
        Some(record) => repeat(ports, command, record, Some(reason)).await,
        None => named_or(ports, command, reason).await,
    }
}

/// Returns the response with the owner of the external id. Without an owner, returns `reason`. The [`Precedence`] of
/// `reason` decides whether an owner is looked up, and which error is returned if the owner cannot be the response.
async fn named_or<T: CreateTerms>(
    ports: &Ports,
    command: &CreateRequest<T>,
    reason: CreateError<T::Refusal>,
) -> Created<T> {
    let precedence = precedence(&reason);
    let name = command.terms.external_id().filter(|_| precedence != Precedence::First);
    let owner = match name.cloned() {
        Some(name) => {
            let key = T::Resource::external_id_key(command.account.id, name);
            ports.queries.find_owner(&key).await.map_err(StoreError::from)?
        }
        None => None,
    };
    let Some(owner) = owner else { return Err(reason) };
    match existing(ports, command, &owner).await {
        // The refusal applies only to new resources. The existing resource passed the checks at its creation.
        Ok(Some(answer)) => Ok(answer),
        Err(error) if precedence == Precedence::AfterConflict => Err(error),
        Ok(None) | Err(_) => Err(reason),
    }
}

/// Answers a request whose external id has an owner. The response with the owner is stored under the new key, so
/// repeats receive it too. Returns `None` if the owner has just been abandoned.
async fn existing<T: CreateTerms>(
    ports: &Ports,
    command: &CreateRequest<T>,
    owner: &str,
) -> Result<Option<Response>, CreateError<T::Refusal>> {
    let request = command.keyed();
    let id = Id::parse(owner).map_err(|error| StoreError::Internal(format!("{owner}: {error}")))?;
    let found = T::Resource::find(ports, request.name.account, id).await.map_err(StoreError::from)?;
    let resource =
        found.ok_or_else(|| StoreError::Internal(format!("{owner} owns an external id but does not exist")))?;
    match resource.creation_state() {
        CreationState::Creating => Err(CreateError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        CreationState::Abandoned => Ok(None),
        CreationState::Visible => {
            ExternalIdConflict::unless_same(owner, command.terms.compare(ports, &resource).await?)?;
            store_existing_response(ports, &request, owner, resource.render(ports)).await.map(Some)
        }
    }
}

/// Answers a request whose key is known. `refused` is the reason why the same request would be refused now. `None`
/// means that its checks passed, or were not made.
///
/// A refusal only prevents the reopening of an abandoned resource. If the first request may have sent the order, its
/// creation is still finished.
async fn repeat<T: CreateTerms>(
    ports: &Ports,
    command: &CreateRequest<T>,
    record: IdempotencyRecord,
    refused: Option<CreateError<T::Refusal>>,
) -> Created<T> {
    let request = command.keyed();
    let record = match request.replay_decision(record, ports.clock.now())? {
        ReplayDecision::Answered(answer) => return Ok(answer),
        ReplayDecision::Orphaned(record) => record,
    };
    let may_reopen = refused.as_ref().is_none_or(T::may_reopen);
    if may_reopen && !T::Resource::has_acquirer(ports) {
        return Err(CreateError::AcquirerUnavailable);
    }
    for _ in 0..T::Resource::MAX_PASSES {
        let resource: T::Resource = load(ports, &record).await?;
        let needed = resource.held()?;
        let opened = match resource.creation_state() {
            CreationState::Creating | CreationState::Visible => None,
            CreationState::Abandoned if !may_reopen => {
                return named_or(ports, command, refused.unwrap_or(CreateError::AcquirerUnavailable)).await;
            }
            CreationState::Abandoned => match command.terms.reopen(ports, &command.account, resource.clone()).await {
                Ok(Some(opened)) => Some(opened),
                Ok(None) => continue,
                Err(reason) => return named_or(ports, command, reason).await,
            },
        };
        let name = external_id_key(&resource);
        match take_over(ports, &record, request.request, (resource, opened)).await {
            Ok(creation) => return finish::<T>(ports, creation).await,
            Err(CommitError::KeyInUse { record }) => return Ok(stored_response(*record)?),
            // The creation was abandoned, and its external id has a new owner.
            Err(CommitError::Taken { key, by }) if name.as_ref() == Some(&key) => {
                if let Some(answer) = existing(ports, command, &by).await? {
                    return Ok(answer);
                }
            }
            // The creation was abandoned, and the account has spent the released money.
            Err(CommitError::NotCovered { available, .. }) => {
                let response = insufficient_balance(ports, request.request, needed, available);
                return answer_orphaned(ports, &request, &record, response).await;
            }
            // Another process changed the resource at the same time.
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

async fn finish<T: CreateTerms>(ports: &Ports, creation: Creation<T::Resource>) -> Created<T> {
    match complete(ports, creation).await? {
        Outcome::Answered(answer) => Ok(answer),
        Outcome::Abandoned => Err(CreateError::AcquirerUnavailable),
        Outcome::Unknown => Err(CreateError::Unavailable { retry_after_s: RETRY_AFTER_S }),
        Outcome::TakenOver => Err(KeyInUse::SOON.into()),
    }
}

fn insufficient_balance(ports: &Ports, request: RequestId, needed: Money, available: Money) -> Response {
    let body = ports.representation.insufficient_balance(request, needed, available);
    Response::fresh(ResponseKind::InsufficientBalance, body)
}
