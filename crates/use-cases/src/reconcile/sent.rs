//! Compares sent Pix with the stored payouts.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::PayoutId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Acquirer, AcquirerError, ListRequest, QueryError, UpstreamPage, UpstreamPayout, UpstreamProgress};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;

use super::lists::{ComparedList, Unlisted, Window};
use super::report::{Difference, DifferenceKind, Finding, Findings, wide};
use super::windows::{Pages, Windows};
use super::{LIST_BUDGET, LOOK_UP_BUDGET, RETURNS_WITHIN, Run};
use crate::payouts::sync::refresh;
use crate::store_error::StoreError;
use crate::work::AT_ONCE;

/// The number of stored payouts in one read.
const AT_A_TIME: u32 = 1_000;

/// An acquirer's list of sent Pix, and our stored payouts at this acquirer.
pub(super) struct SentList<'a> {
    pub run: &'a Run<'a>,
    pub name: &'a AcquirerName,
    pub acquirer: &'a dyn Acquirer,
}

#[async_trait]
impl ComparedList for SentList<'_> {
    type Row = UpstreamPayout;
    type Record = Payout;
    type Id = PayoutId;

    const LIST: &'static str = "list of sent Pix";
    const RECORDS: &'static str = "payouts";
    const PROGRESS: &'static str = "sent";

    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn name(&self) -> &AcquirerName {
        self.name
    }

    async fn list(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        self.acquirer.list_sent(request, LIST_BUDGET).await
    }

    async fn records(&self, (from, until): Window, last: Option<&Payout>) -> Result<Vec<Payout>, StoreError> {
        let after = last.map(|last| last.id);
        Ok(self.run.ports.queries.list_payouts_between(self.name, from, until, after, AT_A_TIME).await?)
    }

    fn id(record: &Payout) -> PayoutId {
        record.id
    }

    fn id_of_unreadable(row: &str) -> Option<PayoutId> {
        InstructionId::parse(row).ok()?.payout()
    }

    async fn compare(
        &self,
        rows: Vec<UpstreamPayout>,
        _: Window,
        unlisted: &mut Unlisted<Self>,
        findings: &mut Findings,
    ) -> Result<u64, StoreError> {
        let count = wide(rows.len());
        findings.count_sent(count);
        let rows = rows.into_iter().map(|row| {
            let known = row.instruction_id.payout().and_then(|id| unlisted.remove(&id));
            (row, known)
        });
        let rows: Vec<(UpstreamPayout, Option<Payout>)> = rows.collect();
        let judged = stream::iter(rows).map(|(row, known)| judge(self.run, self.name, self.acquirer, row, known));
        for finding in judged.buffer_unordered(AT_ONCE).try_collect::<Vec<Finding>>().await? {
            findings.add(self.name, finding);
        }
        Ok(count)
    }

    /// Returns `false` for failed payouts, because a payout that was refused at once is never listed. Also returns
    /// `false` for payouts that were not sent, or were sent very recently.
    fn is_expected(&self, record: &Payout) -> bool {
        let is_known = match record.state.status() {
            PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Reversed => true,
            PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Failed => false,
        };
        is_known && record.state.sent().is_some_and(|sent| !self.run.is_young(sent.recorded_at))
    }

    async fn look_up(&self, records: Vec<Payout>, findings: &mut Findings) -> Result<(), StoreError> {
        let found = stream::iter(records).map(|payout| look_up(self.run, self.acquirer, payout));
        for finding in found.buffer_unordered(AT_ONCE).try_collect::<Vec<Finding>>().await? {
            findings.add(self.name, finding);
        }
        Ok(())
    }
}

/// Compares payouts that were sent before the run's span and returned within it. Acquirers list a return with its
/// payout, under the time at which the payout was sent. Windows without a stored payout are skipped.
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
            let rows = listed.rows.into_iter().filter(|row| has_return_within(run, row));
            let rows = rows.collect::<Vec<_>>();
            findings.count_sent(wide(rows.len()));
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

fn has_return_within(run: &Run<'_>, row: &UpstreamPayout) -> bool {
    row.returned.iter().any(|part| (run.from..run.until).contains(&part.at))
}

/// Compares a stored payout that was returned, in whole or in part. Unknown payouts are skipped, because the comparison
/// of the day on which they were sent reports them.
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
        // A failed Pix moved no money. So it is no difference if no payout of this acquirer belongs to it.
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

/// Returns the difference between a payout and its acquirer's record. If the run repairs, an open or returned payout is
/// refreshed. Returns `None` if both sides agree, or if this service may receive the outcome soon.
async fn settle(
    run: &Run<'_>,
    acquirer: &dyn Acquirer,
    payout: Payout,
    listed: UpstreamPayout,
) -> Result<Option<Difference>, StoreError> {
    let lists_returns = acquirer.lists_returns();
    let agrees = |payout: &Payout, upstream: &UpstreamPayout| agrees(payout, upstream, lists_returns);
    if agrees(&payout, &listed)? {
        return Ok(None);
    }
    // Both sides may have changed since the list was read.
    let upstream =
        acquirer.find_payout(&payout.instruction_id(), LOOK_UP_BUDGET).await.ok().flatten().unwrap_or(listed);
    let payout = run.ports.queries.find_payout(payout.account, payout.id).await?.unwrap_or(payout);
    if agrees(&payout, &upstream)? {
        return Ok(None);
    }
    if payout.terms.amount != upstream.amount {
        let (ours, theirs) = (payout.terms.amount.to_string(), upstream.amount.to_string());
        let wrong = difference(DifferenceKind::PayoutAmount, &payout, Some(theirs));
        return Ok(Some(Difference { ours: Some(ours), ..wrong }));
    }
    let theirs = outcome_text(status_name(&upstream), returned_amount(&upstream)?);
    let found = difference(DifferenceKind::PayoutOutcome, &payout, Some(theirs));
    let open = is_open(&payout);
    let has_new_return =
        payout.state.status() == PayoutStatus::Completed && returned_amount(&upstream)? > payout.returned;
    if run.repair && (open || has_new_return) {
        let after = match refresh(run.ports, payout.clone(), LOOK_UP_BUDGET).await {
            Ok(after) => after,
            Err(error) => {
                tracing::warn!(payout = %payout.id, %error, "payout could not be refreshed from its acquirer; the difference stays");
                payout
            }
        };
        return Ok(Some(Difference { repaired: agrees(&after, &upstream)?, ..found }));
    }
    // A young open payout is no difference yet, because this service may receive the outcome soon.
    Ok((!open || !run.is_young(payout.created_at)).then_some(found))
}

async fn look_up(run: &Run<'_>, acquirer: &dyn Acquirer, payout: Payout) -> Result<Finding, StoreError> {
    match acquirer.find_payout(&payout.instruction_id(), LOOK_UP_BUDGET).await {
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

fn agrees(payout: &Payout, upstream: &UpstreamPayout, lists_returns: bool) -> Result<bool, StoreError> {
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
    let returns_agree = !lists_returns || payout.returned == returned_amount(upstream)?;
    Ok(outcome && returns_agree && payout.terms.amount == upstream.amount)
}

fn returned_amount(upstream: &UpstreamPayout) -> Result<Money, StoreError> {
    let parts = upstream.returned.iter().map(|part| part.amount);
    Money::sum(parts).map_err(|error| StoreError::Internal(format!("returns of {}: {error}", upstream.instruction_id)))
}

fn difference(kind: DifferenceKind, payout: &Payout, theirs: Option<String>) -> Difference {
    Difference {
        kind,
        acquirer: payout.state.acquirer().clone(),
        resource: Some(payout.id.to_string()),
        upstream_id: payout.instruction_id().to_string(),
        ours: Some(outcome_text(payout.state.status().as_str(), payout.returned)),
        theirs,
        repaired: false,
    }
}

fn outcome_text(status: &str, returned: Money) -> String {
    if returned.is_positive() { format!("{status}, {returned} returned") } else { status.to_owned() }
}

const fn status_name(upstream: &UpstreamPayout) -> &'static str {
    match upstream.progress {
        UpstreamProgress::Processing => "processing",
        UpstreamProgress::Done { .. } => "completed",
        UpstreamProgress::Failed { .. } => "failed",
    }
}
