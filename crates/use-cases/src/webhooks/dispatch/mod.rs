//! Delivers events to webhook endpoints. Each node has one task, which claims due deliveries, calls the receivers and
//! stores the outcomes.
//!
//! The steps of a delivery:
//!
//! 1. **Hint.** A commit creates deliveries, and the store returns their queues as a hint. The caller of [`run`] sends
//!    the hint as [`Signal::Hint`]. Each endpoint has one queue. Retries, and deliveries that another node left, have no
//!    hint: after a [`Signal::Tick`] the task reads the queues with due deliveries.
//! 2. **Mark.** `EndpointQueues::mark` adds the queue to the waiting list, unless the list already contains the queue.
//!    If the endpoint has no free slot, the queue is set aside until step 7.
//! 3. **Pick.** `EndpointQueues::next_claim` takes queues from the waiting list whose endpoints have free slots. All
//!    queues of a claim have endpoints of the same class.
//! 4. **Claim.** The store leases due deliveries of these queues to this node. At most one claim is in flight.
//!    `EndpointQueues::on_claimed` gives each delivery a slot.
//! 5. **Call.** `attempt::call` renders the event, signs it and sends it to the receiver. `EndpointQueues::on_attempt`
//!    classifies the endpoint.
//! 6. **Finish.** `AttemptResult::consequences` decides the outcome: success, retry or failure. A failure can also
//!    disable the endpoint. `Finishing` collects outcomes, and the store writes one batch at a time.
//! 7. **Free.** `EndpointQueues::release` frees the slot. A queue that was set aside returns to the waiting list.
//!
//! The task never waits for a single receiver: all calls run concurrently, also with the requests to the store. At most
//! one claim and one batch of outcomes are at the store at a time. Three limits hold:
//! - [`DispatchLimits::in_flight`]: the slots of all deliveries from claim to stored outcome;
//! - [`DispatchLimits::per_endpoint`]: the slots of one endpoint;
//! - the share of the slots that slow and unknown endpoints may use.
//!
//! | file | contains |
//! |---|---|
//! | `dispatcher` | the work in flight, and the next step after each completion |
//! | `endpoint_queues` | the queues with work, the classes of endpoints, and their slots |
//! | `attempt` | one call to a receiver, and its outcome |
//! | `finishing` | the batches of outcomes that are not stored yet |
//! | `backoff` | the pause after a failure of the store |

mod attempt;
mod backoff;
mod dispatcher;
mod endpoint_queues;
mod finishing;
#[cfg(test)]
mod samples;

use std::future::poll_fn;
use std::task::Poll;

use cais_ports::{DELIVERY_LEASE, EndpointQueue};
use futures_util::{Stream, StreamExt as _};
use jiff::SignedDuration;

use crate::ports::Ports;
use dispatcher::Dispatcher;

/// The limits of the dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchLimits {
    /// The largest number of deliveries of this node that are claimed and whose outcome is not stored.
    pub in_flight: usize,
    /// The largest number of deliveries in flight to one endpoint. Each node uses at most this number, and the store
    /// enforces it over all nodes.
    pub per_endpoint: u32,
    /// The time for which a claimed delivery belongs to this node: twice the longest attempt.
    pub lease: SignedDuration,
}

impl Default for DispatchLimits {
    fn default() -> Self {
        Self { in_flight: 512, per_endpoint: 8, lease: DELIVERY_LEASE }
    }
}

/// An input of the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// About one second has passed. The dispatcher reads due deliveries, and retries requests to the store that failed.
    Tick,
    /// Deliveries were created in these queues.
    Hint(Vec<EndpointQueue>),
    /// Stops new claims. The dispatcher ends when no work is in flight. The end of the signals has the same effect.
    Stop,
}

/// Delivers events until a stop. Returns when all deliveries in flight are finished.
///
/// Failures of the store or of receivers do not end the dispatcher. If the outcome of a delivery cannot be stored, the
/// delivery is sent again after its lease.
pub async fn run(ports: Ports, limits: DispatchLimits, mut signals: impl Stream<Item = Signal> + Unpin) {
    let mut dispatcher = Dispatcher::new(&ports, limits);
    let mut listening = true;
    while dispatcher.start() {
        // Each turn polls the completions and the signals, so that many of one kind cannot delay the other kind.
        let (signal, completions) = poll_fn(|context| {
            let completions = dispatcher.poll(context);
            let signal = if listening { signals.poll_next_unpin(context) } else { Poll::Pending };
            match signal {
                Poll::Pending if completions.is_empty() => Poll::Pending,
                Poll::Pending => Poll::Ready((None, completions)),
                Poll::Ready(signal) => Poll::Ready((Some(signal), completions)),
            }
        })
        .await;
        for completion in completions {
            dispatcher.on_completion(completion);
        }
        if let Some(signal) = signal {
            listening = signal.is_some();
            dispatcher.on_signal(signal.unwrap_or(Signal::Stop));
        }
    }
}
