//! Compares a crypto processor's withdrawals with the stored ones, in both directions.
//!
//! An open withdrawal takes the processor's outcome by its usual steps. No outcome is ever reversed, and nothing is sent.

use std::collections::HashMap;

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{CryptoProcessor, ListRequest, UpstreamWithdrawal, UpstreamWithdrawalStatus};
use jiff::Timestamp;

use super::report::{Difference, DifferenceKind, Findings};
use super::windows::{MAX_LOOKS, MOST_RECORDS, Pages, Windows};
use super::{LIST_BUDGET, LOOK_BUDGET, Run};
use crate::crypto::withdrawals::sync::{refresh, search};
use crate::store_error::StoreError;

/// The number of withdrawals in one read.
const AT_A_TIME: u32 = 1_000;

/// The stored withdrawals of one window.
type Ours = HashMap<CryptoWithdrawalId, Withdrawal>;

/// Compares the withdrawals that were created in the run's span. Stops if the list cannot be read.
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
            let listed = match processor.list_withdrawals(request, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => {
                    findings.cannot_read(name, format!("list of withdrawals: {error}"));
                    return Ok(());
                }
            };
            // An unreadable row is still listed, so its withdrawal must not be reported as absent.
            let named = listed.unreadable.iter().filter_map(|row| CryptoWithdrawalId::parse(&row.name).ok());
            for id in named {
                ours.remove(&id);
            }
            findings.unreadable(name, listed.unreadable);
            let mut compared = 0_u64;
            for row in listed.rows {
                let stored = find(run, processor, &row).await?;
                let is_ours = stored.as_ref().is_some_and(|stored| ours.remove(&stored.id).is_some());
                // The list has days around the window.
                if !is_ours && row.created_at.is_some_and(|at| !(window.0..window.1).contains(&at)) {
                    continue;
                }
                compared = compared.saturating_add(1);
                findings.note(judge(run, processor, row, stored).await?);
            }
            findings.count_withdrawals(compared);
            done = compared.saturating_add(done);
            run.done(name, "crypto withdrawals", done);
            page = match pages.turn(number, listed.next) {
                Ok(next) => next,
                Err(reason) => {
                    findings.cannot_read(name, format!("list of withdrawals: {reason}"));
                    return Ok(());
                }
            };
        }
        if !whole {
            findings.cannot_read(
                name,
                format!("more than {MOST_RECORDS} withdrawals at {}: not all are compared", window.0),
            );
        }
        not_listed(run, processor, ours, findings).await?;
        windows.advance();
    }
    Ok(())
}

/// Returns the withdrawals that were requested in the window. The result shows whether they are complete.
async fn ours(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    (from, until): (Timestamp, Timestamp),
) -> Result<(Ours, bool), StoreError> {
    let (mut ours, mut after) = (Ours::new(), None);
    loop {
        let queries = &run.ports.queries;
        let some = queries.list_crypto_withdrawals_between(processor.name(), from, until, after, AT_A_TIME).await?;
        let Some(last) = some.last() else { return Ok((ours, true)) };
        after = Some(last.id);
        ours.extend(some.into_iter().map(|withdrawal| (withdrawal.id, withdrawal)));
        if ours.len() > MOST_RECORDS {
            return Ok((ours, false));
        }
    }
}

/// Returns the stored withdrawal of a row: by our identifier, or by the batch.
async fn find(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    row: &UpstreamWithdrawal,
) -> Result<Option<Withdrawal>, StoreError> {
    let found = match row.order {
        Some(id) => run.ports.queries.find_crypto_withdrawal_of_any(id).await?,
        None => run.ports.queries.find_crypto_withdrawal_of_batch(processor.name(), &row.batch).await?,
    };
    Ok(found.filter(|withdrawal| withdrawal.processor == *processor.name()))
}

/// Compares a row of the list with the stored withdrawal.
async fn judge(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    row: UpstreamWithdrawal,
    stored: Option<Withdrawal>,
) -> Result<Option<Difference>, StoreError> {
    if let Some(withdrawal) = stored {
        return settle(run, processor, withdrawal, row).await;
    }
    Ok(moves_coins(row.status).then(|| Difference {
        kind: DifferenceKind::WithdrawalUnknown,
        acquirer: processor.name().clone(),
        resource: row.order.map(|order| order.to_string()),
        upstream_id: row.batch.to_string(),
        ours: None,
        theirs: Some(order_of(&row)),
        repaired: false,
    }))
}

/// Returns the difference between a withdrawal and the processor's record. Refreshes an open withdrawal if the run
/// repairs.
async fn settle(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    withdrawal: Withdrawal,
    listed: UpstreamWithdrawal,
) -> Result<Option<Difference>, StoreError> {
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref());
    if batch.is_some_and(|batch| *batch != listed.batch) {
        // A second batch that is never verified is rejected by the processor.
        let repeated = difference(DifferenceKind::WithdrawalRepeated, &withdrawal, &listed);
        return Ok(moves_coins(listed.status).then_some(repeated));
    }
    if withdrawal.price.coins != listed.amount || withdrawal.terms.address != listed.address {
        let found = difference(DifferenceKind::WithdrawalAmount, &withdrawal, &listed);
        let ours = format!("{} to {}", withdrawal.price.coins, withdrawal.terms.address.as_str());
        return Ok(Some(Difference { ours: Some(ours), theirs: Some(order_of(&listed)), ..found }));
    }
    if agrees(&withdrawal, listed.status) {
        return Ok(None);
    }
    // Both sides may have changed since they were listed.
    let read = processor.get_withdrawal(withdrawal.id, &listed.batch, LOOK_BUDGET).await;
    let upstream = read.unwrap_or(listed);
    let withdrawal =
        run.ports.queries.find_crypto_withdrawal(withdrawal.account, withdrawal.id).await?.unwrap_or(withdrawal);
    if agrees(&withdrawal, upstream.status) {
        return Ok(None);
    }
    let found = difference(DifferenceKind::WithdrawalOutcome, &withdrawal, &upstream);
    let (is_open, is_young) = (is_open(&withdrawal), run.is_young(withdrawal.created_at));
    if run.repair && is_open {
        let repaired = match refresh(run.ports, withdrawal.clone(), LOOK_BUDGET).await {
            Ok(after) => agrees(&after, upstream.status),
            Err(error) => {
                tracing::warn!(withdrawal = %withdrawal.id, %error, "withdrawal could not be refreshed from its processor; the difference stays");
                false
            }
        };
        return Ok(Some(Difference { repaired, ..found }));
    }
    // The outcome may still be on its way to this service.
    Ok((!is_open || !is_young).then_some(found))
}

/// Looks up withdrawals that the processor should have and does not list.
async fn not_listed(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    ours: Ours,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let name = processor.name();
    let missing: Vec<Withdrawal> = ours.into_values().filter(|withdrawal| should_be_known(run, withdrawal)).collect();
    if missing.len() > MAX_LOOKS {
        findings.cannot_read(name, format!("{} withdrawals are not in its list: not all are looked up", missing.len()));
    }
    for withdrawal in missing.into_iter().take(MAX_LOOKS) {
        match search(run.ports, &withdrawal, LOOK_BUDGET).await {
            Ok(Some(upstream)) => findings.note(settle(run, processor, withdrawal, upstream).await?),
            Ok(None) => findings.note(Some(Difference {
                kind: DifferenceKind::WithdrawalNotListed,
                acquirer: name.clone(),
                resource: Some(withdrawal.id.to_string()),
                upstream_id: batch_of(&withdrawal),
                ours: Some(withdrawal.state.status().as_str().to_owned()),
                theirs: None,
                repaired: false,
            })),
            Err(error) => findings.cannot_read(name, format!("withdrawal {}: {error}", withdrawal.id)),
        }
    }
    Ok(())
}

/// Returns whether the processor should have the withdrawal. A failed withdrawal may have been refused at once.
fn should_be_known(run: &Run<'_>, withdrawal: &Withdrawal) -> bool {
    let known = match withdrawal.state.status() {
        WithdrawalStatus::Processing | WithdrawalStatus::Completed => true,
        WithdrawalStatus::Pending | WithdrawalStatus::Abandoned | WithdrawalStatus::Failed => false,
    };
    known && withdrawal.state.sent().is_some_and(|sent| !run.is_young(sent.at))
}

fn is_open(withdrawal: &Withdrawal) -> bool {
    match withdrawal.state.status() {
        WithdrawalStatus::Pending | WithdrawalStatus::Processing => true,
        WithdrawalStatus::Abandoned | WithdrawalStatus::Completed | WithdrawalStatus::Failed => false,
    }
}

/// Returns whether coins are sent, or may be. The processor sends none before the verification.
const fn moves_coins(status: UpstreamWithdrawalStatus) -> bool {
    match status {
        UpstreamWithdrawalStatus::Processing
        | UpstreamWithdrawalStatus::Finished
        | UpstreamWithdrawalStatus::Failed => true,
        UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Rejected => false,
    }
}

/// Returns whether both sides have the same outcome. A withdrawal that the processor reports as failed waits for an
/// operator, who may give the money back.
fn agrees(withdrawal: &Withdrawal, upstream: UpstreamWithdrawalStatus) -> bool {
    match (withdrawal.state.status(), upstream) {
        (
            WithdrawalStatus::Pending | WithdrawalStatus::Processing,
            UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Processing,
        )
        | (WithdrawalStatus::Completed, UpstreamWithdrawalStatus::Finished)
        | (
            WithdrawalStatus::Failed | WithdrawalStatus::Abandoned,
            UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Rejected,
        )
        | (WithdrawalStatus::Failed, UpstreamWithdrawalStatus::Failed) => true,
        (WithdrawalStatus::Processing, UpstreamWithdrawalStatus::Failed) => withdrawal.state.review_since().is_some(),
        (
            WithdrawalStatus::Pending,
            UpstreamWithdrawalStatus::Finished | UpstreamWithdrawalStatus::Rejected | UpstreamWithdrawalStatus::Failed,
        )
        | (WithdrawalStatus::Processing, UpstreamWithdrawalStatus::Finished | UpstreamWithdrawalStatus::Rejected)
        | (
            WithdrawalStatus::Completed,
            UpstreamWithdrawalStatus::Unverified
            | UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Failed
            | UpstreamWithdrawalStatus::Rejected,
        )
        | (WithdrawalStatus::Failed, UpstreamWithdrawalStatus::Processing | UpstreamWithdrawalStatus::Finished)
        | (
            WithdrawalStatus::Abandoned,
            UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Finished
            | UpstreamWithdrawalStatus::Failed,
        ) => false,
    }
}

fn difference(kind: DifferenceKind, withdrawal: &Withdrawal, upstream: &UpstreamWithdrawal) -> Difference {
    Difference {
        kind,
        acquirer: withdrawal.processor.clone(),
        resource: Some(withdrawal.id.to_string()),
        upstream_id: upstream.batch.to_string(),
        ours: Some(withdrawal.state.status().as_str().to_owned()),
        theirs: Some(status_name(upstream.status).to_owned()),
        repaired: false,
    }
}

fn order_of(upstream: &UpstreamWithdrawal) -> String {
    let UpstreamWithdrawal { amount, address, .. } = upstream;
    format!("{amount} {} to {}", amount.currency(), address.as_str())
}

/// Returns the processor's identifier, or ours while that is unknown.
fn batch_of(withdrawal: &Withdrawal) -> String {
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref());
    batch.map_or_else(|| withdrawal.id.to_string(), ToString::to_string)
}

const fn status_name(status: UpstreamWithdrawalStatus) -> &'static str {
    match status {
        UpstreamWithdrawalStatus::Unverified => "unverified",
        UpstreamWithdrawalStatus::Processing => "processing",
        UpstreamWithdrawalStatus::Finished => "finished",
        UpstreamWithdrawalStatus::Failed => "failed",
        UpstreamWithdrawalStatus::Rejected => "rejected",
    }
}
