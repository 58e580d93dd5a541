//! Compares sent Pix with the stored payouts.

use std::collections::HashMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::PayoutId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Acquirer, ListRequest, QueryError, UpstreamPayout, UpstreamProgress};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;

use super::report::{Difference, DifferenceKind, Finding, Findings, wide};
use super::windows::{MAX_LOOKS, MOST_RECORDS, Pages, Windows};
use super::{LIST_BUDGET, LOOK_BUDGET, RETURNS_WITHIN, Run};
use crate::payouts::sync::refresh;
use crate::store_error::StoreError;
use crate::work::AT_ONCE;

/// The number of payouts in one read.
const AT_A_TIME: u32 = 1_000;

/// The stored payouts of one window at one acquirer.
type Ours = HashMap<PayoutId, Payout>;

/// Compares one acquirer's list with the stored payouts at it. Stops if the list cannot be read.
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
        let (mut ours, whole) = match ours(run, name, window).await {
            Err(StoreError::Unavailable(_)) if windows.narrow() => continue,
            known => known?,
        };
        if !whole && windows.narrow() {
            continue;
        }
        let mut page = Some(0);
        while let Some(number) = page {
            let request = ListRequest { from: window.0, to: window.1, page: number };
            let listed = match acquirer.list_sent(request, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => {
                    findings.cannot_read(name, format!("list of sent Pix: {error}"));
                    return Ok(());
                }
            };
            findings.count_sent(listed.rows.len());
            // An unreadable row is still listed, so its payout must not be reported as absent.
            let named = listed.unreadable.iter().filter_map(|row| InstructionId::parse(&row.name).ok()?.payout());
            for id in named {
                ours.remove(&id);
            }
            findings.unreadable(name, listed.unreadable);
            done = wide(listed.rows.len()).saturating_add(done);
            let rows = listed.rows.into_iter().map(|row| {
                let known = row.instruction_id.payout().and_then(|id| ours.remove(&id));
                (row, known)
            });
            let rows: Vec<(UpstreamPayout, Option<Payout>)> = rows.collect();
            let judged =
                stream::iter(rows).map(|(row, known)| judge(run, name, acquirer, row, known)).buffer_unordered(AT_ONCE);
            for finding in judged.try_collect::<Vec<Finding>>().await? {
                findings.add(name, finding);
            }
            run.done(name, "sent", done);
            page = match pages.turn(number, listed.next) {
                Ok(next) => next,
                Err(reason) => {
                    findings.cannot_read(name, format!("list of sent Pix: {reason}"));
                    return Ok(());
                }
            };
        }
        if whole {
            not_listed(run, name, acquirer, ours, findings).await?;
        } else {
            findings
                .cannot_read(name, format!("more than {MOST_RECORDS} payouts at {}: not all are compared", window.0));
        }
        windows.advance();
    }
    Ok(())
}

/// Compares returns in the run's span of payouts that were sent before it. Acquirers list a return with its payout,
/// under the time of sending. Days without a payout are left out.
pub(super) async fn compare_returns(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let oldest = run.from.saturating_sub(RETURNS_WITHIN).unwrap_or(Timestamp::MIN);
    let mut windows = Windows::new(oldest, run.from);
    let mut pages = Pages::new();
    while let Some((from, to)) = windows.current() {
        let ours = match run.ports.queries.list_payouts_between(name, from, to, None, 1).await {
            Err(QueryError::Unavailable(_)) if windows.narrow() => continue,
            ours => ours?,
        };
        let mut page = (!ours.is_empty()).then_some(0);
        while let Some(number) = page {
            let listed = acquirer.list_sent(ListRequest { from, to, page: number }, LIST_BUDGET).await;
            let listed = listed.map_err(|error| error.to_string());
            let listed = listed.and_then(|listed| pages.turn(number, listed.next).map(|next| (listed, next)));
            let (listed, next) = match listed {
                Ok(listed) => listed,
                Err(reason) => {
                    findings.cannot_read(name, format!("returns of sent Pix: {reason}"));
                    return Ok(());
                }
            };
            findings.unreadable(name, listed.unreadable);
            let rows = listed.rows.into_iter().filter(|row| came_back_within(run, row));
            let rows = rows.collect::<Vec<_>>();
            findings.count_sent(rows.len());
            let judged =
                stream::iter(rows).map(|row| judge_returns(run, name, acquirer, row)).buffer_unordered(AT_ONCE);
            for finding in judged.try_collect::<Vec<Finding>>().await? {
                findings.add(name, finding);
            }
            page = next;
        }
        windows.advance();
    }
    Ok(())
}

fn came_back_within(run: &Run<'_>, row: &UpstreamPayout) -> bool {
    row.returned.iter().any(|part| (run.from..run.until).contains(&part.at))
}

/// Compares a stored payout that came back, in whole or in part. An unknown payout belongs to the day of its sending.
async fn judge_returns(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    row: UpstreamPayout,
) -> Result<Finding, StoreError> {
    match run.ports.queries.find_payout_by_instruction_id(&row.instruction_id).await? {
        Some(payout) if payout.state.acquirer() == name => settle(run, acquirer, payout, row).await.map(Finding::from),
        Some(_) | None => Ok(Finding::default()),
    }
}

/// Returns the stored payouts at the acquirer in the window. The result shows whether they are complete.
async fn ours(
    run: &Run<'_>,
    name: &AcquirerName,
    (from, until): (Timestamp, Timestamp),
) -> Result<(Ours, bool), StoreError> {
    let (mut ours, mut after) = (Ours::new(), None);
    loop {
        let some = run.ports.queries.list_payouts_between(name, from, until, after, AT_A_TIME).await?;
        let Some(last) = some.last() else { return Ok((ours, true)) };
        after = Some(last.id);
        ours.extend(some.into_iter().map(|payout| (payout.id, payout)));
        if ours.len() > MOST_RECORDS {
            return Ok((ours, false));
        }
    }
}

/// Compares one sent Pix with the local records.
async fn judge(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    row: UpstreamPayout,
    known: Option<Payout>,
) -> Result<Finding, StoreError> {
    let known = match known {
        Some(payout) => Some(payout),
        None => run.ports.queries.find_payout_by_instruction_id(&row.instruction_id).await?,
    };
    match known {
        Some(payout) if payout.state.acquirer() == name => settle(run, acquirer, payout, row).await.map(Finding::from),
        // A failed Pix moves no money.
        Some(_) | None if matches!(row.progress, UpstreamProgress::Failed { .. }) => Ok(Finding::default()),
        elsewhere => Ok(Finding::from(Some(Difference {
            kind: DifferenceKind::PayoutUnknown,
            acquirer: name.clone(),
            resource: elsewhere.map(|payout| payout.id.to_string()),
            upstream_id: row.instruction_id.to_string(),
            ours: None,
            theirs: Some(row.amount.to_string()),
            repaired: false,
        }))),
    }
}

/// Returns the difference between a payout and its acquirer's record. Refreshes an open or returned payout if the run
/// repairs.
async fn settle(
    run: &Run<'_>,
    acquirer: &dyn Acquirer,
    payout: Payout,
    listed: UpstreamPayout,
) -> Result<Option<Difference>, StoreError> {
    if agrees(&payout, &listed)? {
        return Ok(None);
    }
    // Both sides may have changed since they were listed.
    let upstream = acquirer.find_payout(&payout.instruction_id(), LOOK_BUDGET).await.ok().flatten().unwrap_or(listed);
    let payout = run.ports.queries.find_payout(payout.account, payout.id).await?.unwrap_or(payout);
    if agrees(&payout, &upstream)? {
        return Ok(None);
    }
    if payout.terms.amount != upstream.amount {
        let (ours, theirs) = (payout.terms.amount.to_string(), upstream.amount.to_string());
        let wrong = difference(DifferenceKind::PayoutAmount, &payout, Some(theirs));
        return Ok(Some(Difference { ours: Some(ours), ..wrong }));
    }
    let theirs = standing(status_name(&upstream), came_back(&upstream)?);
    let found = difference(DifferenceKind::PayoutOutcome, &payout, Some(theirs));
    let open = is_open(&payout);
    let came_back = payout.state.status() == PayoutStatus::Completed && came_back(&upstream)? > payout.returned;
    if run.repair && (open || came_back) {
        let after = match refresh(run.ports, payout.clone(), LOOK_BUDGET).await {
            Ok(after) => after,
            Err(error) => {
                tracing::warn!(payout = %payout.id, %error, "payout could not be refreshed from its acquirer; the difference stays");
                payout
            }
        };
        return Ok(Some(Difference { repaired: agrees(&after, &upstream)?, ..found }));
    }
    // The outcome may still be on its way to this service.
    Ok((!open || !run.is_young(payout.created_at)).then_some(found))
}

/// Looks up payouts that the acquirer should have and does not list.
async fn not_listed(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    ours: Ours,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let missing: Vec<Payout> = ours.into_values().filter(|payout| should_be_known(run, payout)).collect();
    if missing.len() > MAX_LOOKS {
        findings.cannot_read(name, format!("{} payouts are not in its list: not all are looked up", missing.len()));
    }
    let found = stream::iter(missing.into_iter().take(MAX_LOOKS)).map(|payout| look_up(run, acquirer, payout));
    for finding in found.buffer_unordered(AT_ONCE).try_collect::<Vec<Finding>>().await? {
        findings.add(name, finding);
    }
    Ok(())
}

/// Returns whether the acquirer should have the payout. A failed payout may have been refused at once and never listed.
fn should_be_known(run: &Run<'_>, payout: &Payout) -> bool {
    let known = match payout.state.status() {
        PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Reversed => true,
        PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Failed => false,
    };
    known && payout.state.sent().is_some_and(|sent| !run.is_young(sent.at))
}

async fn look_up(run: &Run<'_>, acquirer: &dyn Acquirer, payout: Payout) -> Result<Finding, StoreError> {
    match acquirer.find_payout(&payout.instruction_id(), LOOK_BUDGET).await {
        Ok(Some(upstream)) => settle(run, acquirer, payout, upstream).await.map(Finding::from),
        Ok(None) => Ok(Finding::from(Some(difference(DifferenceKind::PayoutNotListed, &payout, None)))),
        Err(error) => Ok(Finding { unread: Some(format!("list of sent Pix: {error}")), ..Finding::default() }),
    }
}

fn is_open(payout: &Payout) -> bool {
    match payout.state.status() {
        PayoutStatus::Pending | PayoutStatus::Processing => true,
        PayoutStatus::Abandoned | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => false,
    }
}

fn agrees(payout: &Payout, upstream: &UpstreamPayout) -> Result<bool, StoreError> {
    let arrived = !upstream.returned.is_empty();
    let outcome = match (payout.state.status(), &upstream.progress) {
        (PayoutStatus::Pending | PayoutStatus::Processing, UpstreamProgress::Processing) => !arrived,
        (PayoutStatus::Completed | PayoutStatus::Reversed, UpstreamProgress::Done { .. })
        | (PayoutStatus::Failed | PayoutStatus::Abandoned, UpstreamProgress::Failed { .. }) => true,
        (PayoutStatus::Completed | PayoutStatus::Reversed, UpstreamProgress::Processing) => arrived,
        (
            PayoutStatus::Pending | PayoutStatus::Processing,
            UpstreamProgress::Done { .. } | UpstreamProgress::Failed { .. },
        )
        | (PayoutStatus::Completed | PayoutStatus::Reversed, UpstreamProgress::Failed { .. })
        | (
            PayoutStatus::Failed | PayoutStatus::Abandoned,
            UpstreamProgress::Processing | UpstreamProgress::Done { .. },
        ) => false,
    };
    Ok(outcome && payout.terms.amount == upstream.amount && payout.returned == came_back(upstream)?)
}

fn came_back(upstream: &UpstreamPayout) -> Result<Money, StoreError> {
    let parts = upstream.returned.iter().map(|part| part.amount);
    Money::sum(parts).map_err(|error| StoreError::Internal(format!("returns of {}: {error}", upstream.instruction_id)))
}

fn difference(kind: DifferenceKind, payout: &Payout, theirs: Option<String>) -> Difference {
    Difference {
        kind,
        acquirer: payout.state.acquirer().clone(),
        resource: Some(payout.id.to_string()),
        upstream_id: payout.instruction_id().to_string(),
        ours: Some(standing(payout.state.status().as_str(), payout.returned)),
        theirs,
        repaired: false,
    }
}

fn standing(status: &str, returned: Money) -> String {
    if returned.is_positive() { format!("{status}, {returned} returned") } else { status.to_owned() }
}

const fn status_name(upstream: &UpstreamPayout) -> &'static str {
    match upstream.progress {
        UpstreamProgress::Processing => "processing",
        UpstreamProgress::Done { .. } => "completed",
        UpstreamProgress::Failed { .. } => "failed",
    }
}
