//! Compares received Pix with credited payments.

use std::collections::HashMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{Acquirer, ListRequest, ReceivedPix, ReservationKey};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;

use super::report::{Difference, DifferenceKind, Finding, Findings, wide};
use super::returns;
use super::windows::{MAX_LOOKS, MOST_RECORDS, Pages, Windows};
use super::{LIST_BUDGET, LOOK_BUDGET, Run};
use crate::charges::sync::refresh;
use crate::store_error::StoreError;
use crate::work::AT_ONCE;

/// The number of local payments in one read. The number is high, because a store may scan the whole window for each
/// page.
const AT_A_TIME: u32 = 5_000;

/// The credited payments of one window by end-to-end id.
type Credited = HashMap<EndToEndId, CreditedPayment>;

/// Compares one acquirer's list with the payments credited from it. Stops if the list cannot be read.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut windows = Windows::new(run.from, run.until);
    let (mut pages, mut done) = (Pages::new(), 0);
    while let Some(window) = windows.current() {
        // A window with too many local records, or too slow a read, is divided.
        let (mut credited, whole) = match credited(run, name, window).await {
            Err(StoreError::Unavailable(_)) if windows.narrow() => continue,
            known => known?,
        };
        if !whole && windows.narrow() {
            continue;
        }
        let mut page = Some(0);
        while let Some(number) = page {
            let request = ListRequest { from: window.0, to: window.1, page: number };
            let listed = match acquirer.list_received(request, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => {
                    findings.cannot_read(name, format!("list of received Pix: {error}"));
                    return Ok(());
                }
            };
            findings.count_received(listed.rows.len());
            // An unreadable row is still listed, so its payment must not be reported as absent.
            for id in listed.unreadable.iter().filter_map(|row| EndToEndId::parse(&row.name).ok()) {
                credited.remove(&id);
            }
            findings.unreadable(name, listed.unreadable);
            done = wide(listed.rows.len()).saturating_add(done);
            let rows = listed.rows.into_iter().map(|row| {
                let known = credited.remove(&row.payment.end_to_end_id);
                (row, known)
            });
            let rows: Vec<(ReceivedPix, Option<CreditedPayment>)> = rows.collect();
            let judged = stream::iter(rows).map(|(row, known)| judge(run, name, row, known)).buffer_unordered(AT_ONCE);
            for finding in judged.try_collect::<Vec<Finding>>().await? {
                findings.add(name, finding);
            }
            run.done(name, "received", done);
            page = match pages.turn(number, listed.next) {
                Ok(next) => next,
                Err(reason) => {
                    findings.cannot_read(name, format!("list of received Pix: {reason}"));
                    return Ok(());
                }
            };
        }
        if whole {
            not_listed(run, name, acquirer, credited, findings).await;
        } else {
            findings
                .cannot_read(name, format!("more than {MOST_RECORDS} payments at {}: not all are compared", window.0));
        }
        windows.advance();
    }
    Ok(())
}

/// Returns the credited payments of the acquirer in the window. The result shows whether they are complete.
async fn credited(
    run: &Run<'_>,
    name: &AcquirerName,
    (from, until): (Timestamp, Timestamp),
) -> Result<(Credited, bool), StoreError> {
    let (mut credited, mut after) = (Credited::new(), None);
    loop {
        let some = run.ports.queries.list_payments_between(name, from, until, after, AT_A_TIME).await?;
        let Some(last) = some.last() else { return Ok((credited, true)) };
        after = Some((last.payment.paid_at, last.payment.end_to_end_id.clone()));
        credited.extend(some.into_iter().map(|credit| (credit.payment.end_to_end_id.clone(), credit)));
        if credited.len() > MOST_RECORDS {
            return Ok((credited, false));
        }
    }
}

/// Compares one received Pix with the local records.
async fn judge(
    run: &Run<'_>,
    name: &AcquirerName,
    row: ReceivedPix,
    known: Option<CreditedPayment>,
) -> Result<Finding, StoreError> {
    let difference = |kind, charge: Option<&Charge>, ours: Option<String>| Difference {
        kind,
        acquirer: name.clone(),
        resource: charge.map(|charge| charge.id.to_string()),
        upstream_id: row.payment.end_to_end_id.to_string(),
        ours,
        theirs: Some(row.payment.amount.to_string()),
        repaired: false,
    };
    let (charge, mut own) = if let Some(credit) = known {
        let charge = run.ports.queries.find_charge(credit.account, credit.charge).await?;
        let wrong = credit.payment.amount != row.payment.amount;
        let ours = Some(credit.payment.amount.to_string());
        let own = wrong.then(|| difference(DifferenceKind::PaymentAmount, charge.as_ref(), ours));
        (charge, Finding::from(own))
    } else {
        let charge = match &row.txid {
            Some(txid) => run.ports.queries.find_charge_by_txid(txid).await?,
            None => None,
        };
        let owner = owner(run, &row.payment.end_to_end_id).await?;
        let own = match (&charge, owner) {
            // The Pix is credited with an instant outside of the window, or listed without its txid.
            (None, Some(_)) => None,
            (Some(charge), Some(owner)) if owner == charge.id.to_string() => None,
            (Some(charge), Some(owner)) => Some(difference(DifferenceKind::PaymentUnknown, Some(charge), Some(owner))),
            // The Pix was returned in full, and neither side holds any of its amount.
            (_, None) if returns::all_went_back(run, charge.as_ref(), name, &row.payment).await? => {
                return Ok(Finding::default());
            }
            (None, None) => Some(difference(DifferenceKind::PaymentUnknown, None, None)),
            (Some(charge), None) => {
                let repaired = run.repair && credit(run, name, charge, &row.payment.end_to_end_id).await?;
                let missed = difference(DifferenceKind::PaymentMissed, Some(charge), None);
                Some(Difference { repaired, ..missed })
            }
        };
        (charge, Finding::from(own))
    };
    if let Some(charge) = charge {
        let returns = returns::compare(run, name, &charge, &row.payment).await?;
        own.refunds = returns.refunds;
        own.differences.extend(returns.differences);
        own.unread = returns.unread;
    }
    Ok(own)
}

/// Credits a missed Pix by refreshing its charge. Returns whether the Pix is credited now.
async fn credit(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    end_to_end_id: &EndToEndId,
) -> Result<bool, StoreError> {
    if let Err(error) = refresh(run.ports, charge.clone(), name, LOOK_BUDGET).await {
        tracing::warn!(charge = %charge.id, %end_to_end_id, %error, "missed payment could not be credited; the difference stays");
    }
    Ok(owner(run, end_to_end_id).await? == Some(charge.id.to_string()))
}

async fn owner(run: &Run<'_>, end_to_end_id: &EndToEndId) -> Result<Option<String>, StoreError> {
    let key = ReservationKey::EndToEndId(end_to_end_id.clone());
    Ok(run.ports.queries.find_owner(&key).await?)
}

/// Checks credited payments that the list does not show. An acquirer can show them with the charge.
async fn not_listed(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    credited: Credited,
    findings: &mut Findings,
) {
    let missing: Vec<CreditedPayment> =
        credited.into_values().filter(|credit| !run.is_young(credit.credited_at)).collect();
    if missing.len() > MAX_LOOKS {
        findings.cannot_read(name, format!("{} payments are not in its list: not all are looked up", missing.len()));
    }
    let found = stream::iter(missing.into_iter().take(MAX_LOOKS)).map(|credit| look_up(name, acquirer, credit));
    for finding in found.buffer_unordered(AT_ONCE).collect::<Vec<Finding>>().await {
        findings.add(name, finding);
    }
}

async fn look_up(name: &AcquirerName, acquirer: &dyn Acquirer, credit: CreditedPayment) -> Finding {
    let end_to_end_id = credit.payment.end_to_end_id;
    let found = match acquirer.find_charge(&Txid::of_charge(credit.charge), LOOK_BUDGET).await {
        Ok(found) => found,
        Err(error) => return Finding { unread: Some(format!("list of received Pix: {error}")), ..Finding::default() },
    };
    let is_shown = found.is_some_and(|charge| charge.payments.iter().any(|pix| pix.end_to_end_id == end_to_end_id));
    Finding::from((!is_shown).then(|| Difference {
        kind: DifferenceKind::PaymentNotListed,
        acquirer: name.clone(),
        resource: Some(credit.charge.to_string()),
        upstream_id: end_to_end_id.to_string(),
        ours: Some(credit.payment.amount.to_string()),
        theirs: None,
        repaired: false,
    }))
}
