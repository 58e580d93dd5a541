//! Idempotency keys: stored responses and their replays, and leases on unfinished requests. All resources that are
//! created under an idempotency key use this code.

use cais_domain::ids::RequestId;
use cais_domain::pause::doubled;
use cais_ports::{
    ChangeSet, CommitError, Due, Fingerprint, IdempotencyChange, IdempotencyRecord, IdempotencyRef,
    NewIdempotencyRecord, REQUEST_LEASE, ResponseKind, StoredResponse,
};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::{RETRY_AFTER_S, StoreError};
use crate::upstream_order::CreateError;

/// The longest time for which a process works on a request. A process that needs more time is assumed to have crashed.
const POST_WITHIN: SignedDuration = SignedDuration::from_secs(10);

/// A request with an idempotency key.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentRequest {
    /// The account and the key.
    pub name: IdempotencyRef,
    /// The method, path and body of the request.
    pub fingerprint: Fingerprint,
    /// The id of the request.
    pub request: RequestId,
}

/// The reason why a request with a known key is not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyInUse {
    /// The key belongs to another request.
    Conflict,
    /// The first request with the key is still being executed.
    InProgress {
        /// Seconds until the caller should repeat the request.
        retry_after_s: u32,
    },
}

impl KeyInUse {
    /// The reason if another process has just started the request, or is about to finish it.
    pub(crate) const SOON: Self = Self::InProgress { retry_after_s: RETRY_AFTER_S };
}

/// The decision about a request whose key is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplayDecision {
    /// The request has a stored response.
    Answered(Response),
    /// The request has no response, and no process works on it. Its creation is resumed, or ended with a response.
    Orphaned(IdempotencyRecord),
}

/// The result of an attempt to store a response under a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    /// The response is stored.
    Answered(Response),
    /// The key is not new. The response is not stored, and this is the record of the key.
    Known(IdempotencyRecord),
}

/// A lease on an unfinished request. Only the holder of the lease may finish the request.
#[derive(Debug, Clone)]
pub(crate) struct RequestLease {
    /// The account and the key of the record.
    pub name: IdempotencyRef,
    /// The fence of the lease.
    pub fence: i64,
    /// The id of the request that receives the response.
    pub request: RequestId,
    /// The end of the lease.
    pub until: Timestamp,
}

impl IdempotentRequest {
    /// Returns the change that inserts the key's record for `resource`, without a response.
    pub(crate) fn new_open_record(&self, resource: String, now: Timestamp) -> IdempotencyChange {
        self.new_record(resource, lease_from(now), None)
    }

    /// Returns the change that inserts the key's record with its response.
    pub(crate) fn new_answered_record(
        &self,
        resource: String,
        response: &Response,
        now: Timestamp,
    ) -> IdempotencyChange {
        self.new_record(resource, now, Some(response.stored(self.request)))
    }

    fn new_record(
        &self,
        resource: String,
        lease_until: Timestamp,
        answer: Option<StoredResponse>,
    ) -> IdempotencyChange {
        let (name, fingerprint) = (self.name.clone(), self.fingerprint);
        IdempotencyChange::Take(NewIdempotencyRecord { name, fingerprint, resource, lease_until, answer })
    }

    /// Returns the lease of this process on the record that it inserted at `now`.
    pub(crate) fn new_lease(&self, now: Timestamp) -> RequestLease {
        RequestLease { name: self.name.clone(), fence: 1, request: self.request, until: lease_from(now) }
    }

    /// Decides how to answer a request whose key is known. `record` is the record of the key.
    pub(crate) fn replay_decision(
        &self,
        record: IdempotencyRecord,
        now: Timestamp,
    ) -> Result<ReplayDecision, KeyInUse> {
        if record.fingerprint != self.fingerprint {
            return Err(KeyInUse::Conflict);
        }
        if let Some(stored) = record.answer {
            return Ok(ReplayDecision::Answered(Response::replayed(stored)));
        }
        if !Due::new(now, REQUEST_LEASE).is(record.lease_until) {
            return Err(KeyInUse::InProgress { retry_after_s: retry_after_s(&record, now) });
        }
        Ok(ReplayDecision::Orphaned(record))
    }
}

impl RequestLease {
    /// Returns the change that takes over the record at `now`, and the new lease.
    pub(crate) fn take_over(
        record: &IdempotencyRecord,
        request: RequestId,
        now: Timestamp,
    ) -> (IdempotencyChange, Self) {
        let (name, until) = (record.name.clone(), lease_from(now));
        let retake = IdempotencyChange::Retake { name: name.clone(), fence: record.fence, lease_until: until };
        (retake, Self { name, fence: record.fence.saturating_add(1), request, until })
    }

    /// Returns the change that stores the response.
    pub(crate) fn answer(&self, response: &Response) -> IdempotencyChange {
        let answer = response.stored(self.request);
        IdempotencyChange::Answer { name: self.name.clone(), fence: self.fence, answer }
    }

    /// Returns the change that ends the lease. After it, only a repeat by the caller resumes the request.
    pub(crate) fn release(&self) -> IdempotencyChange {
        IdempotencyChange::Release { name: self.name.clone(), fence: self.fence, due_at: None }
    }

    /// Returns the change that ends the lease and makes the request due for workers after a pause. The first pause is
    /// 2 s. Each takeover doubles the pause, up to five minutes.
    pub(crate) fn postpone(&self, now: Timestamp) -> IdempotencyChange {
        let doublings = u32::try_from(self.fence.clamp(1, 16)).unwrap_or(1);
        let due_at = Some(now.saturating_add(doubled(doublings)).unwrap_or(Timestamp::MAX));
        IdempotencyChange::Release { name: self.name.clone(), fence: self.fence, due_at }
    }
}

/// Returns the stored response of the process that took over the lease. If no response is stored yet, the error is
/// [`KeyInUse::SOON`].
pub(crate) fn stored_response(record: IdempotencyRecord) -> Result<Response, KeyInUse> {
    record.answer.map(Response::replayed).ok_or(KeyInUse::SOON)
}

/// Stores the response to a request that found an existing resource, so that a repeat returns the same bytes. `body` is
/// the body of the response.
///
/// If an earlier creation under this key was abandoned, the response is stored in its record. That creation is then
/// never resumed.
pub(crate) async fn store_existing_response<R>(
    ports: &Ports,
    call: &IdempotentRequest,
    resource: &str,
    body: Vec<u8>,
) -> Result<Response, CreateError<R>> {
    let response = Response::fresh(ResponseKind::Existing, body);
    let record = match store_response(ports, call, resource, response.clone()).await? {
        Stored::Answered(answer) => return Ok(answer),
        Stored::Known(record) => record,
    };
    match call.replay_decision(record, ports.clock.now())? {
        ReplayDecision::Answered(answer) => Ok(answer),
        ReplayDecision::Orphaned(record) => answer_orphaned(ports, call, &record, response).await,
    }
}

/// Stores the response under a new key. If the key is not new, stores nothing and returns the record of the key.
pub(crate) async fn store_response(
    ports: &Ports,
    call: &IdempotentRequest,
    resource: &str,
    response: Response,
) -> Result<Stored, StoreError> {
    let now = ports.clock.now();
    let take = call.new_answered_record(resource.to_owned(), &response, now);
    let other = commit_record(ports, take, now).await?;
    Ok(other.map_or(Stored::Answered(response), Stored::Known))
}

/// Stores the response in `record`, which has no response and on which no process works. The creation of the record is
/// then never resumed. If another process has stored a response first, returns that response.
pub(crate) async fn answer_orphaned<R>(
    ports: &Ports,
    call: &IdempotentRequest,
    record: &IdempotencyRecord,
    response: Response,
) -> Result<Response, CreateError<R>> {
    let answer = response.stored(call.request);
    let late = IdempotencyChange::Answer { name: record.name.clone(), fence: record.fence, answer };
    match commit_record(ports, late, ports.clock.now()).await? {
        None => Ok(response),
        Some(record) => Ok(stored_response(record)?),
    }
}

/// Makes a record due again after `pause`. Its fence is unchanged, so its creation is not taken over. If another
/// process changed the record, nothing changes.
pub(crate) async fn postpone(
    ports: &Ports,
    record: &IdempotencyRecord,
    pause: SignedDuration,
) -> Result<(), StoreError> {
    let now = ports.clock.now();
    let due_at = Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX));
    let release = IdempotencyChange::Release { name: record.name.clone(), fence: record.fence, due_at };
    commit_record(ports, release, now).await.map(|_| ())
}

/// Changes only the record of a key. If another process changed the record, returns the current record.
async fn commit_record(
    ports: &Ports,
    idempotency: IdempotencyChange,
    now: Timestamp,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let change = ChangeSet { idempotency: Some(idempotency), ..ChangeSet::new(now) };
    match ports.store.commit(change).await {
        Ok(_) => Ok(None),
        Err(CommitError::KeyInUse { record }) => Ok(Some(*record)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the seconds after which the caller should repeat. While the first request may still be running, the time is
/// short. Afterwards its process has probably crashed, and the time is the rest of the lease.
fn retry_after_s(record: &IdempotencyRecord, now: Timestamp) -> u32 {
    let left = record.lease_until.duration_since(now);
    if REQUEST_LEASE.saturating_sub(left) < POST_WITHIN {
        return RETRY_AFTER_S;
    }
    u32::try_from(left.as_secs()).unwrap_or(RETRY_AFTER_S).saturating_add(1)
}

/// Returns the end of a lease that starts at `now`.
fn lease_from(now: Timestamp) -> Timestamp {
    now.saturating_add(REQUEST_LEASE).unwrap_or(Timestamp::MAX)
}
