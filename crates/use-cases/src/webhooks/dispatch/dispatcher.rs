//! The state of the dispatcher: the work in flight, and the next step after each completion.

use std::sync::Arc;
use std::task::{Context, Poll};

use cais_domain::merchant::webhook::{DisabledReason, Endpoint};
use cais_ports::{ClaimedDelivery, DeliveryClaim, DueQueues, EndpointQueue, FinishedAttempt, QueryError, alerts};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;

use super::attempt::{AttemptResult, call};
use super::backoff::Backoff;
use super::endpoint_queues::{ClaimRequest, EndpointQueues};
use super::finishing::{Finishing, Unwritten};
use super::{DispatchLimits, Signal};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::webhooks::disable::disable;

/// The largest number of due queues that one tick reads. The next tick continues after the last of them.
const MAX_DUE_QUEUES: u32 = 1_024;
/// The largest number of completions that are handled before the signals are polled again.
const MAX_COMPLETIONS: usize = 64;
/// The largest number of deliveries that one tick cancels. These are deliveries to disabled or deleted endpoints.
const MAX_CANCELLED: u32 = 1_000;

/// The result of finished work.
#[derive(Debug)]
pub(super) enum Completion {
    /// The result of a claim, with the instant of its request.
    Claimed(ClaimRequest, Timestamp, Result<Vec<ClaimedDelivery>, QueryError>),
    /// A call to a receiver.
    Attempted(Box<AttemptResult>),
    /// The write of a batch of outcomes.
    Written(Vec<Unwritten>, Result<(), QueryError>),
    /// An attempt to disable an endpoint.
    Disabled(Arc<Endpoint>, DisabledReason, Result<bool, StoreError>),
    /// A read of due queues.
    DueRead(Result<DueQueues, QueryError>),
    /// The cancellation of deliveries to disabled and deleted endpoints.
    Cancelled(Result<u64, QueryError>),
}

/// The requests to the store that are in flight. At most one of each kind is in flight.
#[derive(Debug, Default)]
struct Requested {
    claim: bool,
    due: bool,
    cancel: bool,
}

/// The state of the dispatcher's task.
pub(super) struct Dispatcher<'a> {
    ports: &'a Ports,
    limits: DispatchLimits,
    queues: EndpointQueues,
    finishing: Finishing,
    in_flight: FuturesUnordered<BoxFuture<'a, Completion>>,
    requested: Requested,
    /// The queue after which the next read of due queues continues. Without it, each read would return the same first
    /// queues.
    due_after: Option<EndpointQueue>,
    claims: Backoff,
    writes: Backoff,
    ticks: Backoff,
    is_stopping: bool,
}

impl<'a> Dispatcher<'a> {
    pub(super) fn new(ports: &'a Ports, limits: DispatchLimits) -> Self {
        Self {
            ports,
            limits,
            queues: EndpointQueues::new(limits),
            finishing: Finishing::new(),
            in_flight: FuturesUnordered::new(),
            requested: Requested::default(),
            due_after: None,
            claims: Backoff::default(),
            writes: Backoff::default(),
            ticks: Backoff::default(),
            is_stopping: false,
        }
    }

    /// Starts the write of the next batch of outcomes, and the next claim. Returns `false` if no work is left after a
    /// stop.
    pub(super) fn start(&mut self) -> bool {
        // No tick follows a stop, so a failed batch is retried at once, but only a few times.
        if (self.is_stopping || !self.writes.is_waiting())
            && let Some(batch) = self.finishing.next()
        {
            self.in_flight.push(write(self.ports, batch).boxed());
        }
        let may_claim = !self.is_stopping && !self.claims.is_waiting() && !self.writes.is_waiting();
        if may_claim
            && !self.requested.claim
            && let Some(request) = self.queues.next_claim()
        {
            self.requested.claim = true;
            self.in_flight.push(claim(self.ports, self.limits, request).boxed());
        }
        !(self.is_stopping && self.in_flight.is_empty() && self.finishing.is_empty())
    }

    /// Returns the completions that are available. They are handled together, so that their outcomes share a batch.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Vec<Completion> {
        let mut completions = Vec::new();
        while completions.len() < MAX_COMPLETIONS
            && let Poll::Ready(Some(one)) = self.in_flight.poll_next_unpin(context)
        {
            completions.push(one);
        }
        completions
    }

    /// Handles a signal.
    pub(super) fn on_signal(&mut self, signal: Signal) {
        match signal {
            Signal::Tick => self.tick(),
            Signal::Hint(queues) => queues.into_iter().for_each(|queue| self.queues.mark(queue)),
            Signal::Stop => self.is_stopping = true,
        }
    }

    fn tick(&mut self) {
        self.claims.on_tick();
        self.writes.on_tick();
        self.queues.classify_slow(self.ports.clock.now());
        if self.is_stopping {
            return;
        }
        let ports = self.ports;
        if !std::mem::replace(&mut self.requested.due, true) {
            let after = self.due_after;
            let read = async move {
                Completion::DueRead(ports.deliveries.due_queues(ports.clock.now(), after, MAX_DUE_QUEUES).await)
            };
            self.in_flight.push(read.boxed());
        }
        if !std::mem::replace(&mut self.requested.cancel, true) {
            self.in_flight
                .push(async { Completion::Cancelled(ports.deliveries.cancel_stale(MAX_CANCELLED).await) }.boxed());
        }
    }

    /// Handles a completion and starts the step that follows.
    pub(super) fn on_completion(&mut self, completion: Completion) {
        match completion {
            Completion::Claimed(request, requested_at, claimed) => self.claimed(request, requested_at, claimed),
            Completion::Attempted(result) => self.attempted(*result),
            Completion::Written(batch, written) => self.written(batch, written),
            Completion::Disabled(endpoint, reason, disabled) => self.disabled(&endpoint, reason, disabled),
            Completion::DueRead(due) => {
                self.requested.due = false;
                match due {
                    Ok(found) => {
                        self.ticks.on_success();
                        self.due_after = found.next;
                        found.due.into_iter().for_each(|queue| self.queues.mark(queue));
                    }
                    Err(error) => self.ticks.on_failure("read due queues", &error),
                }
            }
            Completion::Cancelled(cancelled) => {
                self.requested.cancel = false;
                match cancelled {
                    Ok(0) => {}
                    Ok(cancelled) => {
                        tracing::debug!(cancelled, "deliveries to disabled or deleted endpoints were cancelled");
                    }
                    Err(error) => self.ticks.on_failure("cancel stale deliveries", &error),
                }
            }
        }
    }

    fn claimed(
        &mut self,
        request: ClaimRequest,
        requested_at: Timestamp,
        claimed: Result<Vec<ClaimedDelivery>, QueryError>,
    ) {
        self.requested.claim = false;
        let now = self.ports.clock.now();
        match claimed {
            // The second half of a lease is reserved for the call. If the store's reply came only in that half, the
            // deliveries are left to a later claim.
            Ok(got) if is_late(requested_at, now, self.limits) => {
                self.claims.on_failure("claim deliveries", &"the request took too long");
                tracing::warn!(
                    deliveries = got.len(),
                    "claim of webhook deliveries took too long; the deliveries are due again when their leases end"
                );
                self.queues.retry(request);
            }
            Ok(got) => {
                self.claims.on_success();
                for claimed in self.queues.on_claimed(&request, got, now) {
                    let ports = self.ports;
                    let call = async move { Completion::Attempted(Box::new(call(ports, claimed).await)) };
                    self.in_flight.push(call.boxed());
                }
            }
            Err(error @ QueryError::Corrupt(_)) => {
                if let [queue] = request.queues.as_slice() {
                    tracing::error!(alert = alerts::RECORD_UNREADABLE, %error, ?queue, "deliveries of an endpoint cannot be read; the deliveries wait");
                }
                self.queues.on_unreadable(request);
            }
            Err(error @ QueryError::Unavailable(_)) => {
                self.claims.on_failure("claim deliveries", &error);
                self.queues.retry(request);
            }
        }
    }

    fn attempted(&mut self, result: AttemptResult) {
        let last = self.queues.on_attempt(&result.claimed.key, result.status(), (result.began_at, result.ended_at));
        let endpoint = Arc::clone(&result.claimed.endpoint);
        let consequences = result.consequences(last);
        self.finishing.push(consequences.finished);
        if let Some(reason) = consequences.disable
            && self.queues.begin_disabling(endpoint.id)
        {
            let ports = self.ports;
            let disabling = async move {
                let disabled = disable(ports, &endpoint, reason).await;
                Completion::Disabled(endpoint, reason, disabled)
            };
            self.in_flight.push(disabling.boxed());
        }
    }

    fn written(&mut self, batch: Vec<Unwritten>, written: Result<(), QueryError>) {
        match written {
            Ok(()) => {
                self.writes.on_success();
                self.finishing.on_success();
                for one in batch {
                    self.queues.release(&one.finished.key);
                }
            }
            Err(error) => {
                if matches!(error, QueryError::Unavailable(_)) {
                    self.writes.on_failure("store outcomes", &error);
                }
                for one in self.finishing.on_failure(batch, &error, self.is_stopping) {
                    let FinishedAttempt { key, fence, outcome, .. } = one.finished;
                    tracing::error!(delivery = %key.id, endpoint = %key.endpoint, fence, ?outcome, %error, "outcome of a delivery is lost; the delivery is sent again when its lease ends");
                    self.queues.release(&key);
                }
            }
        }
    }

    fn disabled(&mut self, endpoint: &Endpoint, reason: DisabledReason, disabled: Result<bool, StoreError>) {
        let (endpoint, account, reason) = (endpoint.id, endpoint.account, reason.as_str());
        match disabled {
            Ok(true) => {
                tracing::warn!(alert = alerts::ENDPOINT_DISABLED, %endpoint, %account, reason, "webhook endpoint was disabled; its deliveries are cancelled");
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%endpoint, %account, reason, %error, "webhook endpoint could not be disabled; the next failure tries again");
            }
        }
        self.queues.on_disabled(endpoint);
    }
}

/// Returns whether more than half of the lease that was requested at `requested_at` is over. No call may then start.
fn is_late(requested_at: Timestamp, now: Timestamp, limits: DispatchLimits) -> bool {
    now.duration_since(requested_at).saturating_mul(2) > limits.lease
}

async fn claim(ports: &Ports, limits: DispatchLimits, request: ClaimRequest) -> Completion {
    let now = ports.clock.now();
    let claim = DeliveryClaim {
        queues: request.queues.clone(),
        now,
        lease_until: now.saturating_add(limits.lease).unwrap_or(Timestamp::MAX),
        per_endpoint: limits.per_endpoint.max(1),
        at_once: request.at_once,
        limit: u32::try_from(request.limit).unwrap_or(u32::MAX),
    };
    let claimed = ports.deliveries.claim(claim).await;
    Completion::Claimed(request, now, claimed)
}

async fn write(ports: &Ports, batch: Vec<Unwritten>) -> Completion {
    let finished = batch.iter().map(|one| one.finished.clone()).collect();
    let written = ports.deliveries.finish(finished).await;
    Completion::Written(batch, written)
}
