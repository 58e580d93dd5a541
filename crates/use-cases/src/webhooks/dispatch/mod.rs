//! Delivers events to webhook endpoints. Each node has one task, which claims due deliveries, calls the receivers and
//! stores the outcomes.
//!
//! Each endpoint has one queue of deliveries. A delivery occupies a slot from its claim until its outcome is stored.
//!
//! The steps of a delivery:
//!
//! 1. **Hint.** A commit creates deliveries, and the store returns their queues as a hint. The caller of [`run`] sends
//!    the hint as [`Signal::Hint`]. Retries, and deliveries that another node did not finish, have no hint. To find
//!    them, the task reads the queues with due deliveries after a [`Signal::Tick`].
//! 2. **Mark.** `EndpointQueues::mark` adds the queue to the waiting list, unless the list already contains the queue.
//!    If the endpoint has no free slot, the queue is set aside until step 7.
//! 3. **Pick.** `EndpointQueues::next_claim` takes waiting queues for a claim, if their endpoints have free slots. All
//!    endpoints of a claim have the same class: healthy, unknown or slow.
//! 4. **Claim.** The store leases due deliveries of these queues to this node. `EndpointQueues::on_claimed` gives each
//!    delivery a slot.
//! 5. **Call.** `attempt::call` renders the event, signs it and sends it to the receiver. `EndpointQueues::on_attempt`
//!    classifies the endpoint.
//! 6. **Finish.** `AttemptResult::consequences` decides the outcome: success, retry or failure. A failed attempt can
//!    also disable the endpoint. `Finishing` collects the outcomes, and the store writes them in batches.
//! 7. **Free.** `EndpointQueues::release` frees the slot. A queue that was set aside returns to the waiting list.
//!
//! The task never waits for a single receiver: calls to receivers and requests to the store run concurrently. At most
//! one claim and one batch of outcomes are at the store at a time. Three limits hold:
//! - [`DispatchLimits::in_flight`]: the slots of this node;
//! - [`DispatchLimits::per_endpoint`]: the slots of one endpoint;
//! - the share of the slots that slow and unknown endpoints may use (table in `endpoint_queues`).
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
    /// The number of slots of this node: the largest number of its claimed deliveries whose outcome is not stored.
    pub in_flight: usize,
    /// The largest number of deliveries in flight to one endpoint, over all nodes together. The store enforces this
    /// limit.
    pub per_endpoint: u32,
    /// The time for which a claimed delivery belongs to this node: by default, twice the 15 s limit of an attempt.
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
    /// About one second has passed. The dispatcher reads the queues with due deliveries, and retries failed requests to
    /// the store.
    Tick,
    /// Deliveries were created in these queues.
    Hint(Vec<EndpointQueue>),
    /// No new claim starts, and the dispatcher ends when no work is in flight. The end of the stream of signals has the
    /// same effect.
    Stop,
}

/// Delivers events until [`Signal::Stop`], and then returns when no work is in flight.
///
/// Failures of the store or of receivers do not end the dispatcher. If the outcome of a delivery cannot be stored, the
/// delivery is sent again after its lease.
pub async fn run(ports: Ports, limits: DispatchLimits, mut signals: impl Stream<Item = Signal> + Unpin) {
    let mut dispatcher = Dispatcher::new(&ports, limits);
    let mut listening = true;
    while dispatcher.start() {
        // Each turn polls both the completions and the signals, so that neither delays the other.
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
