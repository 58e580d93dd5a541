//! The second half of a creation: sends the order, then commits the outcome and the stored response together. A
//! creation whose process crashed is taken over here.

use cais_domain::ids::{Id, RequestId};
use cais_ports::{ChangeSet, CommitError, IdempotencyRecord, Reservation, ReservationKey, ResponseKind, Write};
use jiff::SignedDuration;

use super::keyed::{CreationState, KeyedResource, Opened};
use crate::idempotency::{RequestLease, postpone, stored_response};
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_result::EarlierRequests;

/// The pause before a creation is resumed again if no acquirer was available. A breaker stays open for the same time.
const NO_ACQUIRER_PAUSE: SignedDuration = SignedDuration::from_secs(10);

/// A creation after commit 1, with the lease that permits this process to finish it.
#[derive(Debug, Clone)]
pub(super) struct Creation<T> {
    /// The resource. Its creation is unfinished, or a callback that came before the reply has made it visible.
    pub resource: T,
    /// The lease of the idempotency key.
    pub lease: RequestLease,
    /// The requests that an earlier process may have sent.
    pub earlier: EarlierRequests,
}

/// The result of an attempt to finish a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The resource is visible. Each repeat receives this response.
    Answered(Response),
    /// No acquirer accepted the order. Its hold is released, no resource is visible, and the external id is free again.
    Abandoned,
    /// An acquirer may have the order. A worker or a repeat resumes the creation.
    Unknown,
    /// Another process has taken over the creation, or has abandoned it.
    TakenOver,
}

/// Sends the order of a resource in creation, and commits the outcome.
pub(super) async fn complete<T: KeyedResource>(ports: &Ports, creation: Creation<T>) -> Result<Outcome, StoreError> {
    let Creation { mut resource, lease, earlier } = creation;
    let reply = match resource.creation_state() {
        CreationState::Creating => Some(resource.send_upstream(ports, earlier, lease.until).await),
        // A callback has made the resource visible, or another process has abandoned it. No request is needed.
        CreationState::Visible | CreationState::Abandoned => None,
    };
    for _ in 0..T::MAX_PASSES {
        let now = ports.clock.now();
        let settled = match (&reply, resource.creation_state()) {
            // Another process abandoned the resource, so its external id may have a new owner.
            (None, CreationState::Abandoned) => return Ok(Outcome::TakenOver),
            (Some(reply), CreationState::Abandoned) => {
                // `settle` raises an alert if the acquirer has the order although it was abandoned.
                drop(resource.settle(ports, reply, now).await);
                return Ok(Outcome::TakenOver);
            }
            (Some(reply), _) => resource.clone().settle(ports, reply, now).await?,
            (None, _) => Some((resource.clone(), ChangeSet::new(now))),
        };
        let Some((after, mut change)) = settled else {
            resource = resource.reread(ports).await?;
            continue;
        };
        let is_step = !change.writes.is_empty();
        let (outcome, idempotency) = match after.creation_state() {
            CreationState::Visible => {
                let response = Response::fresh(ResponseKind::Created, after.render(ports));
                let answer = lease.answer(&response);
                (Outcome::Answered(response), answer)
            }
            CreationState::Abandoned => {
                change.unreserve.extend(external_id_key(&after));
                (Outcome::Abandoned, lease.release())
            }
            CreationState::Creating => (Outcome::Unknown, lease.postpone(now)),
        };
        change.idempotency = Some(idempotency);
        // Commit 2.
        match ports.store.commit(change).await {
            Ok(_) => {
                if let (true, Some(reply)) = (is_step, &reply) {
                    Box::pin(after.follow_up(ports, reply)).await?;
                }
                return Ok(outcome);
            }
            // Another process has changed the resource, for example after a callback.
            Err(CommitError::Taken { .. } | CommitError::Stale) => resource = resource.reread(ports).await?,
            Err(CommitError::KeyInUse { record }) => {
                return Ok(stored_response(*record).map_or(Outcome::TakenOver, Outcome::Answered));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Reads the resource that belongs to the idempotency record.
pub(super) async fn load<T: KeyedResource>(ports: &Ports, record: &IdempotencyRecord) -> Result<T, StoreError> {
    let unreadable =
        |error: String| StoreError::Internal(format!("idempotency record of {}: {error}", record.resource));
    let id = Id::<T::Kind>::parse(&record.resource).map_err(|error| unreadable(error.to_string()))?;
    let found = T::find(ports, record.name.account, id).await?;
    found.ok_or_else(|| unreadable("its resource does not exist".to_owned()))
}

/// Takes over a creation whose lease has ended. `resource` is as it was read; `opened` is set if the resource was
/// reopened.
///
/// The commit writes the resource even if no field changes. This increases its version, so that a late commit of the
/// first process fails with `Stale`.
pub(super) async fn take_over<T: KeyedResource>(
    ports: &Ports,
    record: &IdempotencyRecord,
    request: RequestId,
    (resource, opened): (T, Option<Opened<T>>),
) -> Result<Creation<T>, CommitError> {
    // No acquirer has an abandoned order, so the next request is a first request.
    let earlier = if opened.is_some() { EarlierRequests::None } else { EarlierRequests::InFlight };
    let Opened { resource, mut change } = opened.unwrap_or_else(|| {
        let mut change = ChangeSet::new(ports.clock.now());
        change.writes.push(Write::update(resource.clone()));
        Opened { resource, change }
    });
    if earlier == EarlierRequests::None {
        change.reserve.extend(reservation(&resource));
    }
    let (retake, lease) = RequestLease::take_over(record, request, change.at);
    change.idempotency = Some(retake);
    ports.store.commit(change).await?;
    Ok(Creation { resource: resource.stored(), lease, earlier })
}

/// Finishes a creation whose lease has ended. Returns `true` if the creation is finished now.
///
/// An abandoned resource stays abandoned, because only a repeat by the caller can request it again. If no acquirer is
/// available, the idempotency record is postponed, so that it does not stay first in the list of due records.
pub(crate) async fn resume<T: KeyedResource>(ports: &Ports, record: IdempotencyRecord) -> Result<bool, StoreError> {
    if !T::has_acquirer(ports) {
        postpone(ports, &record, NO_ACQUIRER_PAUSE).await?;
        return Ok(false);
    }
    let resource: T = load(ports, &record).await?;
    if resource.creation_state() == CreationState::Abandoned {
        return Ok(false);
    }
    let request = RequestId::new(ports.ids.next_uuid());
    let creation = match take_over(ports, &record, request, (resource, None)).await {
        Ok(creation) => creation,
        // The caller repeats the request at the same time, or the first process has continued.
        Err(CommitError::KeyInUse { .. } | CommitError::Stale) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match complete(ports, creation).await? {
        Outcome::Answered(_) | Outcome::Abandoned => Ok(true),
        Outcome::Unknown | Outcome::TakenOver => Ok(false),
    }
}

/// Returns the reservation key of the resource's external id.
pub(super) fn external_id_key<T: KeyedResource>(resource: &T) -> Option<ReservationKey> {
    resource.external_id().cloned().map(|name| T::external_id_key(resource.account(), name))
}

/// Returns the reservation of the resource's external id.
pub(super) fn reservation<T: KeyedResource>(resource: &T) -> Option<Reservation> {
    let (account, owner) = (resource.account(), resource.id().to_string());
    external_id_key(resource).map(|key| Reservation { key, account, owner })
}
