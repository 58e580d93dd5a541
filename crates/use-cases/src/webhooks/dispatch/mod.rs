//! Delivering events: one task that claims what is due, calls many receivers at the same time, and writes down what came of it.
//!
//! No receiver is ever waited for alone: everything that takes time, the calls, the store, is one of many things under way, and whatever is over
//! first is looked at first. What bounds it: [`DispatchLimits::in_flight`] deliveries from their claim until their outcome is written down,
//! [`DispatchLimits::per_endpoint`] of one endpoint, and a share of the places for endpoints that keep calls waiting.
//!
//! | file | is |
//! |---|---|
//! | `dispatcher` | what is under way, and what follows from each thing that is over |
//! | `lanes` | which endpoints have something to do, and how much each may have in flight |
//! | `attempt` | one call to a receiver, and what follows from it |
//! | `finishing` | outcomes that wait to be written down, in batches |
//! | `rest` | when a store that fails is asked again, and how often that is told |

mod attempt;
mod dispatcher;
mod finishing;
mod lanes;
mod rest;
#[cfg(test)]
mod samples;

use std::future::poll_fn;
use std::task::Poll;

use cais_ports::{DELIVERY_LEASE, Lane};
use futures_util::{Stream, StreamExt as _};
use jiff::SignedDuration;

use crate::ports::Ports;
use dispatcher::Dispatcher;

/// How much is delivered at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchLimits {
    /// How many deliveries this node has in flight at most, until their outcomes are written down.
    pub in_flight: usize,
    /// How many of them for one endpoint, over all nodes.
    pub per_endpoint: u32,
    /// For how long a delivery is this node's alone; twice as long as an attempt takes.
    pub lease: SignedDuration,
}

impl Default for DispatchLimits {
    fn default() -> Self {
        Self { in_flight: 512, per_endpoint: 8, lease: DELIVERY_LEASE }
    }
}

/// What the dispatcher is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Time has passed: look for what is due, and ask a store again that failed. About once per second.
    Tick,
    /// Deliveries came into being on these lanes.
    Hint(Vec<Lane>),
    /// Claim nothing more and end when nothing is in flight any more. So does the end of the signals.
    Stop,
}

/// Delivers until it is told to stop, and what is in flight is over and written down.
///
/// Trouble of the store, or of receivers, never ends it: what cannot be written down is delivered again when its lease is over.
pub async fn run(ports: Ports, limits: DispatchLimits, mut signals: impl Stream<Item = Signal> + Unpin) {
    let mut dispatcher = Dispatcher::new(&ports, limits);
    let mut listening = true;
    while dispatcher.start() {
        // Both are asked each time: neither a flood of signals nor a flood of answers keeps the other waiting.
        let (signal, over) = poll_fn(|context| {
            let over = dispatcher.poll(context);
            let signal = if listening { signals.poll_next_unpin(context) } else { Poll::Pending };
            match signal {
                Poll::Pending if over.is_empty() => Poll::Pending,
                Poll::Pending => Poll::Ready((None, over)),
                Poll::Ready(signal) => Poll::Ready((Some(signal), over)),
            }
        })
        .await;
        for over in over {
            dispatcher.handle(over);
        }
        if let Some(signal) = signal {
            listening = signal.is_some();
            dispatcher.hear(signal.unwrap_or(Signal::Stop));
        }
    }
}
