//! Requests of a payout to its acquirer, and the reads that look for it there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::payout::Payout;
use cais_ports::{Acquirer, AcquirerError, ListRequest, PayoutOrder, UpstreamPayout, UpstreamProgress};
use jiff::{SignedDuration, Timestamp};

use super::sync::agrees;
use crate::ports::Ports;
use crate::upstream_order::{UpstreamOrder, resolve};
use crate::upstream_result::{Earlier, Evidence, UpstreamResult};

/// What sending may take of the 10 s within which a POST answers.
const SEND_BUDGET: Duration = Duration::from_secs(5);
/// What a look at what was sent may take of them; the rest is for two commits.
const LOOK_BUDGET: Duration = Duration::from_secs(2);
/// Time for one page of the list. Only the worker reads it.
const LIST_BUDGET: Duration = Duration::from_secs(5);
/// How far the clock of an acquirer may differ from ours before its list misses a payout.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(10);
/// Pages of the list that are read: with a hundred rows each, 10,000 payouts. A longer list proves nothing.
const MAX_LIST_PAGES: u32 = 100;

/// The acquirer that the payout is sent through.
pub(super) fn adapter(ports: &Ports, payout: &Payout) -> Result<Arc<dyn Acquirer>, AcquirerError> {
    let name = payout.state.acquirer();
    ports.acquirers.named(name).ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
}

/// Sends a payout for the first time, before `until`.
pub(super) async fn send_first(ports: &Ports, payout: &Payout, until: Timestamp) -> UpstreamResult<UpstreamPayout> {
    match adapter(ports, payout) {
        Ok(acquirer) => send(ports, &*acquirer, payout, Earlier::None, until).await,
        Err(error) => UpstreamResult::NotTaken(error.to_string()),
    }
}

/// Sends a payout that may have been sent by a process that died, and only if a look-up does not find it.
pub(super) async fn send_resumed(ports: &Ports, payout: &Payout, until: Timestamp) -> UpstreamResult<UpstreamPayout> {
    let acquirer = match adapter(ports, payout) {
        Ok(acquirer) => acquirer,
        Err(error) => return UpstreamResult::Unknown(error.to_string()),
    };
    let order = Order { ports, acquirer: &*acquirer, payout };
    match order.look_up().await {
        Evidence::Found(upstream) => UpstreamResult::Known(upstream),
        Evidence::Absent | Evidence::NotRead => send(ports, &*acquirer, payout, Earlier::InFlight, until).await,
        Evidence::Unreadable(reason) => UpstreamResult::Unknown(reason),
    }
}

/// Sends a payout, unless `until` is over: then other nodes rely on no further request of this one.
pub(super) async fn send(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    payout: &Payout,
    earlier: Earlier,
    until: Timestamp,
) -> UpstreamResult<UpstreamPayout> {
    let order = Order { ports, acquirer, payout };
    let reply = if ports.clock.now() >= until {
        Err(AcquirerError::OutcomeUnknown("the process slept until it was too late to send".to_owned()))
    } else {
        order.send().await
    };
    resolve(&order, earlier, reply.into()).await
}

/// A payout at its acquirer.
struct Order<'a> {
    ports: &'a Ports,
    acquirer: &'a dyn Acquirer,
    payout: &'a Payout,
}

impl Order<'_> {
    async fn send(&self) -> Result<UpstreamPayout, AcquirerError> {
        let taken = self.acquirer.send_payout(&order(self.payout), SEND_BUDGET).await?;
        if !agrees(self.payout, &taken) {
            return Err(AcquirerError::OutcomeUnknown(ANOTHER.to_owned()));
        }
        if taken.progress != UpstreamProgress::Processing {
            return Ok(taken);
        }
        // The first look shows the recipient, and perhaps how it ended. Without it, nothing is lost.
        match self.look_up().await {
            Evidence::Found(seen) => {
                let end_to_end_id = seen.end_to_end_id.clone().or(taken.end_to_end_id);
                let recipient = taken.recipient.or(seen.recipient.clone());
                Ok(UpstreamPayout { end_to_end_id, recipient, ..seen })
            }
            Evidence::Absent | Evidence::Unreadable(_) | Evidence::NotRead => Ok(taken),
        }
    }

    /// A record that differs from the order is no evidence of it.
    fn believed(&self, found: Option<UpstreamPayout>) -> Evidence<UpstreamPayout> {
        match found {
            Some(upstream) if agrees(self.payout, &upstream) => Evidence::Found(upstream),
            Some(_) => Evidence::Unreadable(ANOTHER.to_owned()),
            None => Evidence::Absent,
        }
    }
}

/// Why a record of another amount or name is not believed.
const ANOTHER: &str = "the acquirer has another payout by that name";

impl UpstreamOrder for Order<'_> {
    type Record = UpstreamPayout;

    async fn look_up(&self) -> Evidence<UpstreamPayout> {
        match self.acquirer.find_payout(&self.payout.instruction_id(), LOOK_BUDGET).await {
            Ok(found) => self.believed(found),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Every request of the payout lies between its creation and now.
    async fn list(&self) -> Evidence<UpstreamPayout> {
        let from = self.payout.created_at.saturating_sub(CLOCK_DIFFERENCE).unwrap_or(Timestamp::MIN);
        let (to, name) = (self.ports.clock.now(), self.payout.instruction_id());
        let (mut page, mut unreadable) = (0, None);
        for _ in 0..MAX_LIST_PAGES {
            let listed = match self.acquirer.list_sent(ListRequest { from, to, page }, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => return Evidence::Unreadable(error.to_string()),
            };
            if let Some(row) = listed.rows.into_iter().find(|row| row.instruction_id == name) {
                return self.believed(Some(row));
            }
            // A row that cannot be read may be the payout's.
            unreadable = unreadable.or(listed.unreadable.into_iter().next());
            match listed.next {
                None => {
                    return match unreadable {
                        None => Evidence::Absent,
                        Some(row) => Evidence::Unreadable(format!("row {} of the list: {}", row.name, row.reason)),
                    };
                }
                Some(next) if next > page => page = next,
                Some(next) => return Evidence::Unreadable(format!("after page {page} the list names page {next}")),
            }
        }
        Evidence::Unreadable(format!("the list has more than {MAX_LIST_PAGES} pages"))
    }
}

fn order(payout: &Payout) -> PayoutOrder {
    PayoutOrder {
        instruction_id: payout.instruction_id(),
        amount: payout.terms.amount,
        pix_key: payout.terms.pix_key.clone(),
        recipient_document: payout.terms.recipient_document.clone(),
        description: payout.terms.description.as_ref().map(|text| text.as_str().to_owned()),
    }
}
