//! Reads the acquirer's records of received Pix. If many callbacks are due, pages of the acquirer's list show most of
//! their Pix. For each Pix that is not found there, its charge is read.

use std::collections::HashMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use cais_ports::{CallbackPix, ReceivedPix, ReservationKey, UpstreamPayment};
use futures_util::{StreamExt as _, stream};

use super::process::{CHARGES_PER_PASS, READ_BUDGET, Unread, Verdict};
use crate::charges::sync::{self, Seen, SyncError};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream::{ExpectedRow, Listed, is_overload, read_listed};
use crate::work::COMMITS_AT_ONCE;

/// A Pix in a callback, with the index of that callback in the pass.
pub(super) type Item = (usize, CallbackPix);
/// The verdict on an item, with the index of its callback in the pass.
pub(super) type Judged = (usize, Result<Verdict, Unread>);

/// A stored charge, with the Pix of its callbacks.
struct Named {
    charge: Charge,
    items: Vec<Item>,
}

/// Credits the Pix of each item, if the acquirer shows the Pix. Returns the verdict on each item.
pub(super) async fn judge(ports: &Ports, acquirer: &AcquirerName, items: Vec<Item>) -> Vec<Judged> {
    let (named, mut judged) = our_charges(ports, items).await;
    let listed = list(ports, acquirer, &named).await;
    let (listed, ports) = (&listed, ports);
    let credited = stream::iter(named).map(|named| async move { credit_listed(ports, acquirer, named, listed).await });
    let credited: Vec<_> = credited.buffer_unordered(COMMITS_AT_ONCE).collect().await;
    let mut left = Vec::new();
    for (known, rest) in credited {
        judged.extend(known);
        left.extend(rest);
    }
    left.sort_by_key(|named| named.items.iter().map(|(place, _)| *place).min());
    let later = left.split_off(left.len().min(CHARGES_PER_PASS));
    judged.extend(later.into_iter().flat_map(|named| named.items).map(|(place, _)| (place, Ok(Verdict::NotRead))));
    judged.extend(read_one_by_one(ports, acquirer, left).await);
    judged
}

/// Groups the items by charge. An item without a stored charge is unmatched, and no request is sent to the acquirer.
async fn our_charges(ports: &Ports, items: Vec<Item>) -> (Vec<Named>, Vec<Judged>) {
    let mut by_txid: HashMap<Txid, Vec<Item>> = HashMap::new();
    for item in items {
        by_txid.entry(item.1.txid.clone()).or_default().push(item);
    }
    let found = stream::iter(by_txid)
        .map(|(txid, items)| async move { (ports.queries.find_charge_by_txid(&txid).await, items) })
        .buffer_unordered(COMMITS_AT_ONCE);
    let (mut named, mut judged) = (Vec::new(), Vec::new());
    for (found, items) in found.collect::<Vec<_>>().await {
        match found.map_err(StoreError::from) {
            Ok(Some(charge)) => named.push(Named { charge, items }),
            Ok(None) => judged.extend(items.into_iter().map(|(place, _)| (place, Ok(Verdict::Unmatched)))),
            Err(error) => {
                judged.extend(items.into_iter().map(|(place, _)| (place, Err(Unread::Store(error.clone())))));
            }
        }
    }
    (named, judged)
}

/// Reads the parts of the acquirer's list that should contain the Pix of the charges.
async fn list(ports: &Ports, acquirer: &AcquirerName, named: &[Named]) -> Listed<EndToEndId, ReceivedPix> {
    let Some(adapter) = ports.acquirers.named(acquirer) else { return Listed::new() };
    let hints = named.iter().filter(|named| is_issued(&named.charge)).flat_map(|named| &named.items);
    let now = ports.clock.now();
    let hints =
        hints.filter_map(|(_, pix)| Some(ExpectedRow { key: pix.end_to_end_id.clone()?, at: pix.paid_at?.min(now) }));
    let adapter = &*adapter;
    let page = |request| async move { adapter.list_received(request, READ_BUDGET).await };
    let key = |row: &ReceivedPix| Some(row.payment.end_to_end_id.clone());
    read_listed((&ports.limits, acquirer), hints.collect(), page, key).await
}

/// Returns whether the charge is stored as issued. Otherwise the acquirer's record of the charge is read: only this
/// record shows whether the charge was issued. The list contains only payments.
fn is_issued(charge: &Charge) -> bool {
    !matches!(charge.state.status(), ChargeStatus::Creating | ChargeStatus::Abandoned)
}

/// Credits the Pix of one charge, as far as the list contains them. Returns the verdicts on these items, and the charge
/// with its other items, if there are any.
async fn credit_listed(
    ports: &Ports,
    acquirer: &AcquirerName,
    named: Named,
    listed: &Listed<EndToEndId, ReceivedPix>,
) -> (Vec<Judged>, Option<Named>) {
    if !is_issued(&named.charge) {
        return (Vec::new(), Some(named));
    }
    let Named { charge, items } = named;
    let (mut listed_items, mut rest) = (Vec::new(), Vec::new());
    let mut payments: Vec<UpstreamPayment> = Vec::new();
    for (place, pix) in items {
        let row = pix.end_to_end_id.as_ref().and_then(|id| listed.get(id));
        match row.filter(|row| row.txid.as_ref() == Some(&charge.txid)) {
            Some(row) => {
                if !payments.contains(&row.payment) {
                    payments.push(row.payment.clone());
                }
                listed_items.push((place, row.payment.end_to_end_id.clone()));
            }
            None => rest.push((place, pix)),
        }
    }
    if listed_items.is_empty() {
        return (Vec::new(), Some(Named { charge, items: rest }));
    }
    let seen = sync::credit_payments(ports, charge.clone(), acquirer, &payments).await;
    let seen = seen.map_err(SyncError::from);
    let mut judged = Vec::new();
    for (place, end_to_end_id) in listed_items {
        // A Pix without a return is credited by now, because no commit failed.
        let untouched =
            |payment: &UpstreamPayment| payment.end_to_end_id == end_to_end_id && payment.returns.is_empty();
        let verdict = match &seen {
            Ok(_) if payments.iter().any(untouched) => Ok(Verdict::Applied),
            Ok(seen) => is_credited(ports, seen, end_to_end_id).await,
            Err(error) => Err(error.clone().into()),
        };
        judged.push((place, verdict));
    }
    let charge = seen.map_or(charge, |seen| seen.charge);
    (judged, (!rest.is_empty()).then_some(Named { charge, items: rest }))
}

/// Reads each charge by itself, with all its payments.
async fn read_one_by_one(ports: &Ports, acquirer: &AcquirerName, left: Vec<Named>) -> Vec<Judged> {
    let read = |named: Named| async move {
        let Named { charge, items } = named;
        let seen = sync::refresh_seen(ports, charge, acquirer, READ_BUDGET).await;
        let mut judged = Vec::with_capacity(items.len());
        for (place, pix) in items {
            let verdict = match (&seen, pix.end_to_end_id) {
                (Ok(_), None) => Ok(Verdict::Applied),
                (Ok(seen), Some(end_to_end_id)) => is_credited(ports, seen, end_to_end_id).await,
                // Even `SyncError::Unknown` leads to another attempt: the acquirer may not show a new charge yet.
                (Err(error), _) => Err(error.clone().into()),
            };
            judged.push((place, verdict));
        }
        judged
    };
    let is_overload = |judged: &Vec<Judged>| {
        judged.iter().any(
            |(_, verdict)| matches!(verdict, Err(Unread::Charge(SyncError::Upstream(error))) if is_overload(error)),
        )
    };
    ports.limits.run(acquirer, left, read, is_overload).await.into_iter().flatten().collect()
}

/// Returns the verdict on one Pix. The callback may come before the acquirer's record, so the Pix is done only when it
/// is credited or was returned in full.
async fn is_credited(ports: &Ports, seen: &Seen, end_to_end_id: EndToEndId) -> Result<Verdict, Unread> {
    if seen.returned_in_full.contains(&end_to_end_id) {
        return Ok(Verdict::Applied);
    }
    let credited =
        ports.queries.find_owner(&ReservationKey::EndToEndId(end_to_end_id)).await.map_err(StoreError::from)?;
    Ok(credited.map(|_| Verdict::Applied).ok_or(SyncError::NotShown)?)
}
