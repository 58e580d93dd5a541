//! Sends an order to its acquirer, and reads the order there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerError, QueryError};
use jiff::{SignedDuration, Timestamp};

use super::keyed::StoredRecord;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_result::{EarlierRequests, Evidence, SendReply, UpstreamResult, decide};

/// The reason why the outcome is open if the acquirer's record differs from the order.
const OTHER_ORDER: &str = "the acquirer has another order with this identifier";

/// The reason why a record could not be updated from its acquirer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// The acquirer gave no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The acquirer does not show the order.
    #[error("the acquirer does not show the order")]
    Unknown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The last request of an order whose outcome is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    /// The time at which the last request was recorded.
    pub recorded_at: Timestamp,
    /// The longest time that a request can be in transit. After this time it has arrived or never will.
    pub arrives_within: SignedDuration,
    /// `true` if the acquirer has shown the order before.
    pub is_shown: bool,
}

impl Sent {
    /// Returns the time until which the process that stored [`Sent::recorded_at`] may start its request. Half of
    /// [`Sent::arrives_within`] remains, so that the request has usually ended when another process may send the order
    /// again. If the clocks of two nodes differ, their requests can overlap. An overlap is harmless: an order is sent
    /// again only if its second execution has no effect ([`UpstreamOrder::IS_REPEATABLE`]).
    pub(crate) fn send_until(&self) -> Timestamp {
        self.recorded_at.saturating_add(self.arrives_within / 2).unwrap_or(Timestamp::MAX)
    }
}

/// An order after a read of its acquirer.
#[derive(Debug, Clone)]
pub(crate) enum Refreshed<T> {
    /// The acquirer shows the order, and its record was applied.
    Shown(T),
    /// The acquirer does not have the order, or waits for a second sending before it executes the order.
    Absent(T),
}

/// An order at one acquirer. The identifier of the order at the acquirer is derived from the record's id.
pub(crate) trait UpstreamOrder: StoredRecord {
    /// The acquirer's record of the order.
    type Record: Send + Sync;
    /// The interface of the acquirer: [`cais_ports::Acquirer`] or [`cais_ports::CryptoProcessor`].
    type Upstream: ?Sized + Send + Sync;

    /// `true` if the acquirer executes an order once even if it is sent again, or if a second execution has no effect.
    /// If `false`, an order that may have been sent is only looked up.
    const IS_REPEATABLE: bool = true;

    /// The number of concurrent polls at one acquirer, for orders whose poll reads whole lists. Such a poll can fail
    /// although the acquirer answers, so its result does not change the shared limit. With `None`, the shared limit of
    /// the acquirer applies ([`crate::upstream::UpstreamLimits`]).
    const POLLS_AT_ONCE: Option<usize> = None;

    /// Returns the name of the acquirer that has the order, or may have it.
    fn acquirer(&self) -> &AcquirerName;

    /// Returns the configured acquirer of the order.
    ///
    /// # Errors
    /// [`AcquirerError::Unavailable`] if this acquirer is not configured.
    fn upstream(&self, ports: &Ports) -> Result<Arc<Self::Upstream>, AcquirerError>;

    /// Makes one request to create the order.
    fn request(
        &self,
        ports: &Ports,
        acquirer: &Self::Upstream,
        earlier: EarlierRequests,
    ) -> impl Future<Output = SendReply<Self::Record>> + Send;

    /// Looks the order up by its identifier.
    fn look_up(&self, ports: &Ports, acquirer: &Self::Upstream) -> impl Future<Output = Evidence<Self::Record>> + Send;

    /// Searches for the order in the acquirer's list around the time of its sending. The default makes no read, for
    /// orders whose look-up has already searched the list.
    fn list(&self, _ports: &Ports, _acquirer: &Self::Upstream) -> impl Future<Output = Evidence<Self::Record>> + Send {
        std::future::ready(Evidence::NotRead)
    }

    /// Returns whether an acquirer's record has the data of the order. A record that differs is no evidence.
    fn agrees(&self, record: &Self::Record) -> bool;

    /// Reads the orders that are due for a poll.
    fn list_due(
        ports: &Ports,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Self>, QueryError>> + Send;

    /// Pairs each order with its record in the acquirer's lists. An order with `None` is then read individually. The
    /// default reads no list.
    fn read_lists(
        _ports: &Ports,
        _acquirer: &AcquirerName,
        orders: Vec<Self>,
    ) -> impl Future<Output = Vec<(Self, Option<Self::Record>)>> + Send {
        std::future::ready(orders.into_iter().map(|order| (order, None)).collect())
    }

    /// Reads the order at its acquirer and applies its record.
    fn refresh(
        self,
        ports: &Ports,
        budget: Duration,
    ) -> impl Future<Output = Result<Refreshed<Self>, SyncError>> + Send;

    /// Applies a record of the acquirer, and returns the stored order.
    fn apply(self, ports: &Ports, record: Self::Record) -> impl Future<Output = Result<Self, StoreError>> + Send;

    /// Ends an order that its acquirer does not have, after the order was sent again and refused. The default returns
    /// an error, for orders that are never sent again.
    fn end_refused(self, _ports: &Ports, reason: &str) -> impl Future<Output = Result<Self, StoreError>> + Send {
        let error = format!("{}: the order is never sent again, but was refused: {reason}", self.id());
        std::future::ready(Err(StoreError::Internal(error)))
    }

    /// Returns the last request. Returns `None` if the outcome is known.
    fn sent(&self) -> Option<Sent>;

    /// Returns the time of the next poll. Returns `None` if no poll follows.
    fn due_at(&self) -> Option<Timestamp>;

    /// Returns the order after a poll at `now`. The next poll follows after a longer pause.
    fn postponed(self, now: Timestamp) -> Self;

    /// Returns the order to commit before it is sent again. The default returns an error, for orders that are never
    /// sent again.
    fn resent(self, _now: Timestamp) -> Result<Self, StoreError> {
        Err(StoreError::Internal(format!("{}: the order is never sent again", self.id())))
    }

    /// Returns whether the outcome has been open for so long that an alert is due.
    fn is_overdue(&self, now: Timestamp) -> bool;

    /// Raises the operation's alert for an unproven outcome. The alert repeats at most once per poll.
    fn alert_unproven(&self, reason: &str);
}

/// Converts the result of a read into evidence. A record that differs from the order is not accepted as evidence.
pub(crate) fn checked<O: UpstreamOrder>(order: &O, found: Option<O::Record>) -> Evidence<O::Record> {
    match found {
        Some(record) if order.agrees(&record) => Evidence::Found(record),
        Some(_) => Evidence::Unreadable(OTHER_ORDER.to_owned()),
        None => Evidence::Absent,
    }
}

/// Converts the reply to a request. If the returned record differs from the order, it may belong to an earlier request,
/// so the outcome is unknown.
pub(crate) fn accepted<O: UpstreamOrder>(order: &O, reply: Result<O::Record, AcquirerError>) -> SendReply<O::Record> {
    match reply {
        Ok(record) if !order.agrees(&record) => SendReply::Unknown(OTHER_ORDER.to_owned()),
        reply => reply.into(),
    }
}

/// Sends an order that is in creation, but not after `until`. If an earlier process may have sent the order, the order
/// is looked up first, and sent only if it is not found.
pub(crate) async fn send_begun<O: UpstreamOrder>(
    ports: &Ports,
    order: &O,
    earlier: EarlierRequests,
    until: Timestamp,
) -> UpstreamResult<O::Record> {
    let result = match order.upstream(ports) {
        Ok(acquirer) => send_unless_found(ports, &*acquirer, order, earlier, until).await,
        Err(error) if earlier == EarlierRequests::None => UpstreamResult::NotAccepted(error.to_string()),
        Err(error) => UpstreamResult::Unknown(error.to_string()),
    };
    let (order, acquirer) = (order.id(), order.acquirer());
    match &result {
        UpstreamResult::Known(_) => {}
        UpstreamResult::Refused(reason) => {
            tracing::info!(%order, %acquirer, reason, "order refused by its acquirer; the order fails");
        }
        UpstreamResult::NotAccepted(reason) => {
            tracing::warn!(%order, %acquirer, reason, "order not accepted by its acquirer; the order is abandoned");
        }
        UpstreamResult::Unknown(reason) | UpstreamResult::RefusedUnproven(reason) => {
            tracing::warn!(%order, %acquirer, reason, "order outcome unknown after sending; the order stays open");
        }
    }
    result
}

async fn send_unless_found<O: UpstreamOrder>(
    ports: &Ports,
    acquirer: &O::Upstream,
    order: &O,
    earlier: EarlierRequests,
    until: Timestamp,
) -> UpstreamResult<O::Record> {
    if earlier != EarlierRequests::None {
        match order.look_up(ports, acquirer).await {
            Evidence::Found(record) => return UpstreamResult::Known(record),
            Evidence::Unreadable(reason) => return UpstreamResult::Unknown(reason),
            Evidence::Absent | Evidence::NotRead if O::IS_REPEATABLE => {}
            Evidence::Absent | Evidence::NotRead => {
                return UpstreamResult::Unknown(
                    "the acquirer does not show the order, and would execute it twice if it were sent twice".to_owned(),
                );
            }
        }
    }
    send(ports, acquirer, order, earlier, until).await
}

/// Sends an order, unless `until` has passed by this node's clock. After `until`, this node makes no further request,
/// so requests of two nodes rarely overlap ([`Sent::send_until`]).
pub(crate) async fn send<O: UpstreamOrder>(
    ports: &Ports,
    acquirer: &O::Upstream,
    order: &O,
    earlier: EarlierRequests,
    until: Timestamp,
) -> UpstreamResult<O::Record> {
    let reply = if ports.clock.now() >= until {
        SendReply::Unknown("the process was suspended beyond the time for sending".to_owned())
    } else {
        order.request(ports, acquirer, earlier).await
    };
    resolve(ports, acquirer, order, earlier, reply).await
}

/// Returns the state of an order after `reply`. Reads that cannot change the result are skipped.
async fn resolve<O: UpstreamOrder>(
    ports: &Ports,
    acquirer: &O::Upstream,
    order: &O,
    earlier: EarlierRequests,
    reply: SendReply<O::Record>,
) -> UpstreamResult<O::Record> {
    let look_up = match reply {
        SendReply::Refused(_) | SendReply::Unknown(_) => order.look_up(ports, acquirer).await,
        SendReply::Accepted(_) | SendReply::NotAccepted(_) => Evidence::NotRead,
    };
    let list = match (&reply, earlier, &look_up) {
        (SendReply::Refused(_), EarlierRequests::Unknown | EarlierRequests::Shown, Evidence::Absent) => {
            order.list(ports, acquirer).await
        }
        _ => Evidence::NotRead,
    };
    decide(earlier, reply, look_up, list)
}
