//! What is under way, and what follows from each thing that is over.

use std::sync::Arc;
use std::task::{Context, Poll};

use cais_domain::webhook::{DisabledReason, Endpoint};
use cais_ports::{ClaimedDelivery, DeliveryClaim, DueLanes, FinishedAttempt, Lane, QueryError, alerts};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;

use super::attempt::{Called, call};
use super::finishing::{Finishing, Unwritten};
use super::lanes::{Lanes, Pick};
use super::rest::Rest;
use super::{DispatchLimits, Signal};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::webhooks::disable::disable;

/// How many lanes with something due are looked for at a tick; where there are more, the next tick goes on behind the last of them.
const LOOKED_FOR: u32 = 1_024;
/// How many things that are over are looked at before signals are.
const TOGETHER: usize = 64;
/// The largest number of deliveries to disabled or deleted endpoints that are cancelled at a tick.
const SWEPT: u32 = 1_000;

/// Something that is over.
#[derive(Debug)]
pub(super) enum Over {
    /// A claim, and when it was asked for.
    Claimed(Pick, Timestamp, Result<Vec<ClaimedDelivery>, QueryError>),
    /// A call to a receiver.
    Called(Box<Called>),
    /// Writing down outcomes.
    Written(Vec<Unwritten>, Result<(), QueryError>),
    /// Disabling an endpoint.
    Disabled(Arc<Endpoint>, DisabledReason, Result<bool, Trouble>),
    /// Looking for what is due.
    Looked(Result<DueLanes, QueryError>),
    /// Cancelling what nobody waits for.
    Swept(Result<u64, QueryError>),
}

/// What is asked of the store, each at most once at a time.
#[derive(Debug, Default)]
struct Asked {
    claim: bool,
    look: bool,
    sweep: bool,
}

/// The state of the task that delivers.
pub(super) struct Dispatcher<'a> {
    ports: &'a Ports,
    limits: DispatchLimits,
    lanes: Lanes,
    finishing: Finishing,
    under_way: FuturesUnordered<BoxFuture<'a, Over>>,
    asked: Asked,
    /// The lane behind which the next look goes on: else the first lanes would hide the others for good.
    looked_until: Option<Lane>,
    claims: Rest,
    writes: Rest,
    looks: Rest,
    is_stopping: bool,
}

impl<'a> Dispatcher<'a> {
    pub(super) fn new(ports: &'a Ports, limits: DispatchLimits) -> Self {
        Self {
            ports,
            limits,
            lanes: Lanes::new(limits),
            finishing: Finishing::new(),
            under_way: FuturesUnordered::new(),
            asked: Asked::default(),
            looked_until: None,
            claims: Rest::default(),
            writes: Rest::default(),
            looks: Rest::default(),
            is_stopping: false,
        }
    }

    /// Begins what can be begun; `false` once nothing is left to do, after it was told to stop.
    pub(super) fn start(&mut self) -> bool {
        // At the end there are no ticks to wait for: outcomes are tried a few times, and then their leases bring them back.
        if (self.is_stopping || !self.writes.is_resting())
            && let Some(batch) = self.finishing.next()
        {
            self.under_way.push(write(self.ports, batch).boxed());
        }
        let may_claim = !self.is_stopping && !self.claims.is_resting() && !self.writes.is_resting();
        if may_claim
            && !self.asked.claim
            && let Some(pick) = self.lanes.pick()
        {
            self.asked.claim = true;
            self.under_way.push(claim(self.ports, self.limits, pick).boxed());
        }
        !(self.is_stopping && self.under_way.is_empty() && self.finishing.is_empty())
    }

    /// What is over by now, so that what follows from it is begun together: outcomes are written in one batch.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Vec<Over> {
        let mut over = Vec::new();
        while over.len() < TOGETHER
            && let Poll::Ready(Some(one)) = self.under_way.poll_next_unpin(context)
        {
            over.push(one);
        }
        over
    }

    /// What follows from a signal.
    pub(super) fn hear(&mut self, signal: Signal) {
        match signal {
            Signal::Tick => self.tick(),
            Signal::Hint(lanes) => lanes.into_iter().for_each(|lane| self.lanes.mark(lane)),
            Signal::Stop => self.is_stopping = true,
        }
    }

    fn tick(&mut self) {
        self.claims.end();
        self.writes.end();
        self.lanes.doubt_slow(self.ports.clock.now());
        if self.is_stopping {
            return;
        }
        let ports = self.ports;
        if !std::mem::replace(&mut self.asked.look, true) {
            let after = self.looked_until;
            let look =
                async move { Over::Looked(ports.deliveries.due_lanes(ports.clock.now(), after, LOOKED_FOR).await) };
            self.under_way.push(look.boxed());
        }
        if !std::mem::replace(&mut self.asked.sweep, true) {
            self.under_way.push(async { Over::Swept(ports.deliveries.cancel_stale(SWEPT).await) }.boxed());
        }
    }

    /// What follows from something that is over.
    pub(super) fn handle(&mut self, over: Over) {
        match over {
            Over::Claimed(pick, asked_at, claimed) => self.claimed(pick, asked_at, claimed),
            Over::Called(called) => self.called(*called),
            Over::Written(batch, written) => self.written(batch, written),
            Over::Disabled(endpoint, reason, disabled) => self.disabled(&endpoint, reason, disabled),
            Over::Looked(looked) => {
                self.asked.look = false;
                match looked {
                    Ok(found) => {
                        self.looks.works();
                        self.looked_until = found.next;
                        found.due.into_iter().for_each(|lane| self.lanes.mark(lane));
                    }
                    Err(error) => self.looks.begin("looking for what is due", &error),
                }
            }
            Over::Swept(swept) => {
                self.asked.sweep = false;
                match swept {
                    Ok(0) => {}
                    Ok(cancelled) => tracing::debug!(cancelled, "deliveries to endpoints that are not called any more"),
                    Err(error) => self.looks.begin("cancelling what nobody waits for", &error),
                }
            }
        }
    }

    fn claimed(&mut self, pick: Pick, asked_at: Timestamp, claimed: Result<Vec<ClaimedDelivery>, QueryError>) {
        self.asked.claim = false;
        let now = self.ports.clock.now();
        match claimed {
            // The second half of a lease is for the call: what comes later is left to whoever claims it next.
            Ok(got) if is_late(asked_at, now, self.limits) => {
                self.claims.begin("claiming", &"it took too long");
                tracing::warn!(
                    deliveries = got.len(),
                    "a claim took too long; its deliveries come back when their leases are over"
                );
                self.lanes.put_back(pick);
            }
            Ok(got) => {
                self.claims.works();
                for claimed in self.lanes.claimed(&pick, got, now) {
                    let ports = self.ports;
                    let call = async move { Over::Called(Box::new(call(ports, claimed).await)) };
                    self.under_way.push(call.boxed());
                }
            }
            Err(error @ QueryError::Corrupt(_)) => {
                if let [lane] = pick.lanes.as_slice() {
                    tracing::error!(alert = alerts::RECORD_UNREADABLE, %error, ?lane, "deliveries of an endpoint cannot be read; they wait");
                }
                self.lanes.unreadable(pick);
            }
            Err(error @ QueryError::Unavailable(_)) => {
                self.claims.begin("claiming", &error);
                self.lanes.put_back(pick);
            }
        }
    }

    fn called(&mut self, called: Called) {
        let last = self.lanes.answered(&called.claimed.key, called.turn(), (called.began_at, called.ended_at));
        let endpoint = Arc::clone(&called.claimed.endpoint);
        let verdict = called.judge(last);
        self.finishing.push(verdict.finished);
        if let Some(reason) = verdict.disable
            && self.lanes.end(endpoint.id)
        {
            let ports = self.ports;
            let disabling = async move {
                let disabled = disable(ports, &endpoint, reason).await;
                Over::Disabled(endpoint, reason, disabled)
            };
            self.under_way.push(disabling.boxed());
        }
    }

    fn written(&mut self, batch: Vec<Unwritten>, written: Result<(), QueryError>) {
        match written {
            Ok(()) => {
                self.writes.works();
                self.finishing.written();
                for one in batch {
                    self.lanes.free(&one.finished.key);
                }
            }
            Err(error) => {
                if matches!(error, QueryError::Unavailable(_)) {
                    self.writes.begin("writing down outcomes", &error);
                }
                for one in self.finishing.refused(batch, &error, self.is_stopping) {
                    let FinishedAttempt { key, fence, outcome, .. } = one.finished;
                    tracing::error!(delivery = %key.id, endpoint = %key.endpoint, fence, ?outcome, %error, "the outcome of a delivery is lost; it is delivered again when its lease is over");
                    self.lanes.free(&key);
                }
            }
        }
    }

    fn disabled(&mut self, endpoint: &Endpoint, reason: DisabledReason, disabled: Result<bool, Trouble>) {
        let (endpoint, account, reason) = (endpoint.id, endpoint.account, reason.as_str());
        match disabled {
            Ok(true) => {
                tracing::warn!(alert = alerts::ENDPOINT_DISABLED, %endpoint, %account, reason, "a webhook endpoint was disabled; its deliveries are cancelled");
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%endpoint, %account, reason, %error, "a webhook endpoint could not be disabled; the next failure tries again");
            }
        }
        self.lanes.ended(endpoint);
    }
}

/// Whether so much of a lease that began at `asked_at` is over that no call may begin under it.
fn is_late(asked_at: Timestamp, now: Timestamp, limits: DispatchLimits) -> bool {
    now.duration_since(asked_at).saturating_mul(2) > limits.lease
}

async fn claim(ports: &Ports, limits: DispatchLimits, pick: Pick) -> Over {
    let now = ports.clock.now();
    let claim = DeliveryClaim {
        lanes: pick.lanes.clone(),
        now,
        lease_until: now.saturating_add(limits.lease).unwrap_or(Timestamp::MAX),
        per_endpoint: limits.per_endpoint.max(1),
        at_once: pick.per_endpoint,
        limit: u32::try_from(pick.limit).unwrap_or(u32::MAX),
    };
    let claimed = ports.deliveries.claim(claim).await;
    Over::Claimed(pick, now, claimed)
}

async fn write(ports: &Ports, batch: Vec<Unwritten>) -> Over {
    let finished = batch.iter().map(|one| one.finished.clone()).collect();
    let written = ports.deliveries.finish(finished).await;
    Over::Written(batch, written)
}
