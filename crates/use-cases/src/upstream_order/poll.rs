//! Polls the orders whose outcome is open. A missing order is sent again with the same identifier.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerError, CommitError};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};

use super::keyed::commit_update;
use super::order::{Refreshed, SyncError, UpstreamOrder, send};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream::is_overload;
use crate::upstream_result::{EarlierRequests, UpstreamResult};
use crate::work::{PASS_LIMIT, Pass, WorkError};

/// The time for one read of an acquirer by a worker.
pub(crate) const READ_BUDGET: Duration = Duration::from_secs(5);

/// Polls at most `PASS_LIMIT` orders whose outcome is open.
///
/// # Errors
/// [`WorkError`] if the due orders cannot be listed. An error of one order is logged and does not stop the others.
pub(crate) async fn run_once<O: UpstreamOrder>(ports: &Ports) -> Result<Pass, WorkError> {
    let orders = O::list_due(ports, ports.clock.now(), PASS_LIMIT).await?;
    let listed = orders.len();
    let mut by_acquirer: BTreeMap<AcquirerName, Vec<O>> = BTreeMap::new();
    for order in orders {
        by_acquirer.entry(order.acquirer().clone()).or_default().push(order);
    }
    let followed = by_acquirer.into_iter().map(|(acquirer, orders)| async move {
        let orders = O::read_lists(ports, &acquirer, orders).await;
        let follow = |(order, record)| follow_or_postpone(ports, order, record);
        match O::POLLS_AT_ONCE {
            Some(most) => stream::iter(orders).map(follow).buffer_unordered(most).collect::<Vec<_>>().await,
            None => ports.limits.run(&acquirer, orders, follow, |followed| followed.is_overload).await,
        }
    });
    let followed = join_all(followed).await.into_iter().flatten();
    Ok(Pass::of(listed, followed.filter(|followed| followed.is_ended).count()))
}

/// The result of one poll of an order.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    /// `true` if the outcome is known now.
    is_ended: bool,
    /// `true` if the acquirer could not answer, so fewer requests should be in flight.
    is_overload: bool,
}

async fn follow_or_postpone<O: UpstreamOrder>(ports: &Ports, order: O, record: Option<O::Record>) -> Followed {
    match follow(ports, order.clone(), record).await {
        Ok(followed) => followed,
        Err(error) => {
            let id = order.id();
            tracing::warn!(order = %id, %error, "open order could not be updated from its acquirer; the order is read again at its next poll");
            // An order that cannot be polled must not delay the others permanently.
            if let Err(error) = postpone(ports, order).await {
                tracing::warn!(order = %id, %error, "open order could not be postponed; the order stays due");
            }
            Followed::default()
        }
    }
}

/// Polls one order. `record` is the acquirer's record, if its lists contained one.
async fn follow<O: UpstreamOrder>(ports: &Ports, order: O, record: Option<O::Record>) -> Result<Followed, StoreError> {
    let due_at = order.due_at();
    let mut followed = Followed::default();
    let after = match refresh(ports, order.clone(), record).await {
        Ok(after) => after,
        Err(SyncError::Store(error)) => return Err(error),
        // The acquirer may show the order later, because the request can still be in transit.
        Err(SyncError::Unknown) if !order.is_overdue(ports.clock.now()) => order,
        Err(error) => {
            let is_reachable = !matches!(error, SyncError::Upstream(AcquirerError::Unavailable(_)));
            followed.is_overload = matches!(&error, SyncError::Upstream(error) if is_overload(error));
            still_open(ports, &order, is_reachable, &error.to_string());
            order
        }
    };
    if after.sent().is_none() {
        return Ok(Followed { is_ended: true, ..followed });
    }
    // If the order was sent again or polled by another process, its next poll is already set.
    if after.due_at() == due_at {
        postpone(ports, after).await?;
    }
    Ok(followed)
}

async fn refresh<O: UpstreamOrder>(ports: &Ports, order: O, record: Option<O::Record>) -> Result<O, SyncError> {
    if let Some(record) = record {
        return Ok(order.apply(ports, record).await?);
    }
    match order.refresh(ports, READ_BUDGET).await? {
        Refreshed::Shown(after) => Ok(after),
        Refreshed::Absent(order) => send_again(ports, order).await,
    }
}

/// Commits the time of an order's next poll. Each pause is longer than the one before.
async fn postpone<O: UpstreamOrder>(ports: &Ports, order: O) -> Result<(), StoreError> {
    let now = ports.clock.now();
    match commit_update(ports, order.postponed(now)).await {
        // `Stale`: another process changed the order. If its outcome is still open, the next pass polls it again.
        Ok(_) | Err(CommitError::Stale) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sends an order again that is missing at its acquirer, or waits there for its approval. The new request also approves
/// the order. Only one node sends the request.
///
/// Returns [`SyncError::Unknown`] if the order is not repeatable, or if its last request can still be in transit.
async fn send_again<O: UpstreamOrder>(ports: &Ports, order: O) -> Result<O, SyncError> {
    let now = ports.clock.now();
    let Some(last) = order.sent() else { return Ok(order) };
    if !O::IS_REPEATABLE || now.duration_since(last.recorded_at) < last.arrives_within {
        return Err(SyncError::Unknown);
    }
    let acquirer = order.upstream(ports)?;
    // The commit comes before the request: its version check ensures that only one node sends.
    let order = match commit_update(ports, order.clone().resent(now)?).await {
        Ok(order) => order,
        // Another node sends the order, or its outcome is known.
        Err(CommitError::Stale) => return Ok(order.reread(ports).await?),
        Err(error) => return Err(StoreError::from(error).into()),
    };
    tracing::warn!(order = %order.id(), acquirer = %order.acquirer(), "order is missing at its acquirer, or waits there for its approval; the order is sent again");
    let earlier = if last.is_shown { EarlierRequests::Shown } else { EarlierRequests::Unknown };
    let until = order.sent().map_or(now, |sent| sent.send_until());
    match send(ports, &*acquirer, &order, earlier, until).await {
        UpstreamResult::Known(record) => Ok(order.apply(ports, record).await?),
        UpstreamResult::Refused(reason) => Ok(order.end_refused(ports, &reason).await?),
        UpstreamResult::NotAccepted(reason) | UpstreamResult::Unknown(reason) => {
            still_open(ports, &order, true, &reason);
            Ok(order)
        }
        UpstreamResult::RefusedUnproven(reason) => {
            order.alert_unproven(&reason);
            Ok(order)
        }
    }
}

/// Logs that the outcome is still open. Raises the alert instead if the order is overdue and the acquirer is reachable.
fn still_open<O: UpstreamOrder>(ports: &Ports, order: &O, is_reachable: bool, reason: &str) {
    if is_reachable && order.is_overdue(ports.clock.now()) {
        order.alert_unproven(reason);
    } else {
        tracing::warn!(order = %order.id(), acquirer = %order.acquirer(), reason, "order outcome still unknown; the order stays open");
    }
}
