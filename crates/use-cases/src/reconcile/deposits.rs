//! Compares a crypto processor's payments with the credited coins, in both directions.
//!
//! Payments that a lost callback and the polls missed are credited, above all later payments to an address: only the
//! list and callbacks show them.

use std::collections::HashMap;

use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{ArrivedCoins, Deposit, DepositPayment, DepositState, PaymentState};
use cais_ports::{AcquirerError, CryptoProcessor, ListRequest, UpstreamDeposit, UpstreamDepositStatus};
use jiff::Timestamp;

use super::report::{Difference, DifferenceKind, Findings};
use super::windows::{MAX_LOOKS, MOST_RECORDS, Pages, Windows};
use super::{LIST_BUDGET, LOOK_BUDGET, Run};
use crate::crypto::deposits::callback::deposit_of;
use crate::crypto::deposits::sync::{apply, find};
use crate::store_error::StoreError;

/// The number of payments in one read.
const AT_A_TIME: u32 = 1_000;

/// The stored payments of one window.
type Ours = HashMap<ProcessorId, DepositPayment>;

/// Compares the payments created in the run's span with the stored ones, and the payments that were first seen in it
/// with the processor. Stops if the list cannot be read.
pub(super) async fn compare(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let name = processor.name();
    let mut windows = Windows::new(run.from, run.until);
    let (mut pages, mut done) = (Pages::new(), 0_u64);
    while let Some(window) = windows.current() {
        // A window with too many local records, or too slow a read, is divided.
        let (mut ours, whole) = match ours(run, processor, window).await {
            Err(StoreError::Unavailable(_)) if windows.narrow() => continue,
            known => known?,
        };
        if !whole && windows.narrow() {
            continue;
        }
        let mut page = Some(0);
        while let Some(number) = page {
            let request = ListRequest { from: window.0, to: window.1, page: number };
            let listed = match processor.list_deposits(request, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => {
                    findings.cannot_read(name, format!("list of payments: {error}"));
                    return Ok(());
                }
            };
            // An unreadable row is still listed, so its payment must not be reported as absent.
            let named = listed.unreadable.iter().filter_map(|row| ProcessorId::parse(&row.name).ok());
            for id in named {
                ours.remove(&id);
            }
            findings.unreadable(name, listed.unreadable);
            let mut compared = 0_u64;
            for row in &listed.rows {
                let known = ours.remove(&row.id);
                // The list has days around the window.
                if known.is_none() && row.created_at.is_some_and(|at| !(window.0..window.1).contains(&at)) {
                    continue;
                }
                compared = compared.saturating_add(1);
                findings.note(judge(run, processor, row).await?);
            }
            findings.count_deposits(compared);
            done = compared.saturating_add(done);
            run.done(name, "crypto payments", done);
            page = match pages.turn(number, listed.next) {
                Ok(next) => next,
                Err(reason) => {
                    findings.cannot_read(name, format!("list of payments: {reason}"));
                    return Ok(());
                }
            };
        }
        if !whole {
            findings
                .cannot_read(name, format!("more than {MOST_RECORDS} payments at {}: not all are compared", window.0));
        }
        not_listed(run, processor, ours, findings).await?;
        windows.advance();
    }
    Ok(())
}

/// Returns the payments that were first seen in the window. The result shows whether they are complete.
async fn ours(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    (from, until): (Timestamp, Timestamp),
) -> Result<(Ours, bool), StoreError> {
    let (mut ours, mut after) = (Ours::new(), None);
    loop {
        let queries = &run.ports.queries;
        let some = queries.list_crypto_payments_between(processor.name(), from, until, after, AT_A_TIME).await?;
        let Some(last) = some.last() else { return Ok((ours, true)) };
        after = Some((last.created_at, last.id.clone()));
        ours.extend(some.into_iter().map(|payment| (payment.id.clone(), payment)));
        if ours.len() > MOST_RECORDS {
            return Ok((ours, false));
        }
    }
}

/// Compares a payment of the list with the local records. Applies it if the run repairs.
async fn judge(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    row: &UpstreamDeposit,
) -> Result<Option<Difference>, StoreError> {
    let Some(deposit) = deposit_of(run.ports, processor.name(), row).await? else {
        // A payment without an order of ours belongs to another system.
        let named = row.order.filter(|_| is_paid(row)).map(|order| order.to_string());
        return Ok(named.map(|resource| difference(processor, DifferenceKind::DepositUnknown, resource, row)));
    };
    let known = find(run.ports, &deposit, &row.id).await?;
    let Some(kind) = kind_of(&deposit, known.as_ref(), row) else { return Ok(None) };
    let found = difference(processor, kind, deposit.id.to_string(), row);
    let found = Difference { ours: known.as_ref().map(|known| coins(&known.coins)), ..found };
    if !run.repair {
        return Ok(Some(found));
    }
    apply(run.ports, deposit.clone(), row).await?;
    // Fewer coins are left to an operator, and an alert was raised for a record that contradicts the deposit.
    let after = find(run.ports, &deposit, &row.id).await?;
    let repaired = kind == DifferenceKind::DepositMissed && after.is_some_and(|after| has_coins_of(&after, row));
    Ok(Some(Difference { repaired, ..found }))
}

/// Returns the kind of the difference between a payment and its row, if any.
fn kind_of(deposit: &Deposit, known: Option<&DepositPayment>, row: &UpstreamDeposit) -> Option<DifferenceKind> {
    if known.is_some_and(|known| known.state == PaymentState::Credited && !covers(row, known)) {
        return Some(DifferenceKind::DepositAmount);
    }
    // The creation of a deposit applies the first payment.
    let is_missed =
        is_paid(row) && deposit.state != DepositState::Creating && known.is_none_or(|known| !has_coins_of(known, row));
    is_missed.then_some(DifferenceKind::DepositMissed)
}

/// Returns whether the row shows the stored coins.
fn has_coins_of(payment: &DepositPayment, row: &UpstreamDeposit) -> bool {
    row.received.as_ref() == Some(&payment.coins)
}

/// Returns whether the processor shows at least the credited coins.
fn covers(row: &UpstreamDeposit, payment: &DepositPayment) -> bool {
    let has_enough = match (&payment.coins, &row.received) {
        (ArrivedCoins::Supported(ours), Some(ArrivedCoins::Supported(theirs))) => {
            ours.currency() == theirs.currency() && theirs.units() >= ours.units()
        }
        (_, Some(_)) => has_coins_of(payment, row),
        (_, None) => false,
    };
    has_enough && row.status != UpstreamDepositStatus::Refunded
}

/// Returns whether the row is a payment whose coins were credited, or wait for an operator.
fn is_paid(row: &UpstreamDeposit) -> bool {
    let has_ended = match row.status {
        UpstreamDepositStatus::PartiallyPaid
        | UpstreamDepositStatus::Finished
        | UpstreamDepositStatus::Failed
        | UpstreamDepositStatus::Expired => true,
        UpstreamDepositStatus::Waiting
        | UpstreamDepositStatus::Confirming
        | UpstreamDepositStatus::Confirmed
        | UpstreamDepositStatus::Sending
        | UpstreamDepositStatus::Refunded
        | UpstreamDepositStatus::Unknown => false,
    };
    has_ended && row.has_coins()
}

/// Looks up credited payments that the list does not have.
async fn not_listed(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    ours: Ours,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let name = processor.name();
    let missing: Vec<DepositPayment> =
        ours.into_values().filter(|payment| payment.state == PaymentState::Credited).collect();
    if missing.len() > MAX_LOOKS {
        findings.cannot_read(name, format!("{} payments are not in its list: not all are looked up", missing.len()));
    }
    for payment in missing.into_iter().take(MAX_LOOKS) {
        match processor.get_deposit(&payment.id, LOOK_BUDGET).await {
            Ok(row) => findings.note(judge(run, processor, &row).await?),
            // A missing payment and a lost reply have the same error. The list was read to its end without the payment.
            Err(AcquirerError::OutcomeUnknown(_)) => findings.note(Some(Difference {
                kind: DifferenceKind::DepositNotListed,
                acquirer: name.clone(),
                resource: Some(payment.deposit.to_string()),
                upstream_id: payment.id.to_string(),
                ours: Some(coins(&payment.coins)),
                theirs: None,
                repaired: false,
            })),
            Err(error @ (AcquirerError::Unavailable(_) | AcquirerError::Refused(_))) => {
                findings.cannot_read(name, format!("payment {}: {error}", payment.id));
            }
        }
    }
    Ok(())
}

fn difference(
    processor: &dyn CryptoProcessor,
    kind: DifferenceKind,
    resource: String,
    row: &UpstreamDeposit,
) -> Difference {
    let theirs = match &row.received {
        Some(_) if row.status == UpstreamDepositStatus::Refunded => "refunded".to_owned(),
        Some(received) => coins(received),
        None => "no coins".to_owned(),
    };
    Difference {
        kind,
        acquirer: processor.name().clone(),
        resource: Some(resource),
        upstream_id: row.id.to_string(),
        ours: None,
        theirs: Some(theirs),
        repaired: false,
    }
}

fn coins(coins: &ArrivedCoins) -> String {
    match coins {
        ArrivedCoins::Supported(coins) => format!("{coins} {}", coins.currency()),
        ArrivedCoins::Unsupported { currency, amount } => format!("{amount} {currency}"),
    }
}
