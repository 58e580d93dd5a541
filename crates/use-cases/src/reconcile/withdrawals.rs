//! Compares a crypto processor's withdrawals with the stored withdrawals, in both directions.
//!
//! To repair a difference, an open withdrawal is refreshed from the processor. The comparison reverses no outcome and
//! sends no withdrawal.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{
    AcquirerError, CryptoProcessor, ListRequest, UpstreamPage, UpstreamWithdrawal, UpstreamWithdrawalStatus,
};

use super::lists::{ComparedList, Unlisted, Window};
use super::report::{Difference, DifferenceKind, Findings};
use super::{LIST_BUDGET, LOOK_UP_BUDGET, Run};
use crate::crypto::withdrawals::sync::{refresh, search};
use crate::store_error::StoreError;

/// The number of stored withdrawals in one read.
const AT_A_TIME: u32 = 1_000;

/// A processor's list of withdrawals, and our stored withdrawals at this processor.
pub(super) struct WithdrawalList<'a> {
    pub run: &'a Run<'a>,
    pub processor: &'a dyn CryptoProcessor,
}

#[async_trait]
impl ComparedList for WithdrawalList<'_> {
    type Row = UpstreamWithdrawal;
    type Record = Withdrawal;
    type Id = CryptoWithdrawalId;

    const LIST: &'static str = "list of withdrawals";
    const RECORDS: &'static str = "withdrawals";
    const PROGRESS: &'static str = "crypto withdrawals";

    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn name(&self) -> &AcquirerName {
        self.processor.name()
    }

    async fn list(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError> {
        self.processor.list_withdrawals(request, LIST_BUDGET).await
    }

    async fn records(&self, (from, until): Window, last: Option<&Withdrawal>) -> Result<Vec<Withdrawal>, StoreError> {
        let after = last.map(|last| last.id);
        Ok(self.run.ports.queries.list_crypto_withdrawals_between(self.name(), from, until, after, AT_A_TIME).await?)
    }

    fn id(record: &Withdrawal) -> CryptoWithdrawalId {
        record.id
    }

    fn id_of_unreadable(row: &str) -> Option<CryptoWithdrawalId> {
        CryptoWithdrawalId::parse(row).ok()
    }

    async fn compare(
        &self,
        rows: Vec<UpstreamWithdrawal>,
        window: Window,
        unlisted: &mut Unlisted<Self>,
        findings: &mut Findings,
    ) -> Result<u64, StoreError> {
        let mut compared = 0_u64;
        for row in rows {
            let stored = find(self.run, self.processor, &row).await?;
            let is_ours = stored.as_ref().is_some_and(|stored| unlisted.remove(&stored.id).is_some());
            // The list may contain rows from days around the window. Such a row is skipped, unless its record is in the
            // window.
            if !is_ours && row.created_at.is_some_and(|at| !(window.0..window.1).contains(&at)) {
                continue;
            }
            compared = compared.saturating_add(1);
            findings.note(judge(self.run, self.processor, row, stored).await?);
        }
        findings.count_withdrawals(compared);
        Ok(compared)
    }

    /// Returns `false` for failed withdrawals, because a withdrawal that was refused at once is never listed. Also
    /// returns `false` for withdrawals that were not sent, or were sent very recently.
    fn is_expected(&self, record: &Withdrawal) -> bool {
        let is_known = match record.state.status() {
            WithdrawalStatus::Processing | WithdrawalStatus::Completed => true,
            WithdrawalStatus::Pending | WithdrawalStatus::Abandoned | WithdrawalStatus::Failed => false,
        };
        is_known && record.state.sent().is_some_and(|sent| !self.run.is_young(sent.recorded_at))
    }

    async fn look_up(&self, records: Vec<Withdrawal>, findings: &mut Findings) -> Result<(), StoreError> {
        for withdrawal in records {
            match search(self.run.ports, &withdrawal, LOOK_UP_BUDGET).await {
                Ok(Some(upstream)) => findings.note(settle(self.run, self.processor, withdrawal, upstream).await?),
                Ok(None) => findings.note(Some(Difference {
                    kind: DifferenceKind::WithdrawalNotListed,
                    acquirer: self.name().clone(),
                    resource: Some(withdrawal.id.to_string()),
                    upstream_id: batch_of(&withdrawal),
                    ours: Some(withdrawal.state.status().as_str().to_owned()),
                    theirs: None,
                    repaired: false,
                })),
                Err(error) => findings.cannot_read(self.name(), format!("withdrawal {}: {error}", withdrawal.id)),
            }
        }
        Ok(())
    }
}

/// Returns the stored withdrawal of a row. If the row has our identifier, the withdrawal is found by it; otherwise by
/// the processor's batch id.
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

/// Returns the difference between a withdrawal and the processor's record. If the run repairs, an open withdrawal is
/// refreshed. Returns `None` if both sides agree, or if this service may receive the outcome soon.
async fn settle(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    withdrawal: Withdrawal,
    listed: UpstreamWithdrawal,
) -> Result<Option<Difference>, StoreError> {
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref());
    if batch.is_some_and(|batch| *batch != listed.batch) {
        // The row is a second batch of this withdrawal. If the batch is not verified, the processor rejects the batch
        // and sends no coins. So such a batch is no difference.
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
    // Both sides may have changed since the list was read.
    let read = processor.get_withdrawal(withdrawal.id, &listed.batch, LOOK_UP_BUDGET).await;
    let upstream = read.unwrap_or(listed);
    let withdrawal =
        run.ports.queries.find_crypto_withdrawal(withdrawal.account, withdrawal.id).await?.unwrap_or(withdrawal);
    if agrees(&withdrawal, upstream.status) {
        return Ok(None);
    }
    let found = difference(DifferenceKind::WithdrawalOutcome, &withdrawal, &upstream);
    let (is_open, is_young) = (is_open(&withdrawal), run.is_young(withdrawal.created_at));
    if run.repair && is_open {
        let repaired = match refresh(run.ports, withdrawal.clone(), LOOK_UP_BUDGET).await {
            Ok(after) => agrees(&after, upstream.status),
            Err(error) => {
                tracing::warn!(withdrawal = %withdrawal.id, %error, "withdrawal could not be refreshed from its processor; the difference stays");
                false
            }
        };
        return Ok(Some(Difference { repaired, ..found }));
    }
    // A young open withdrawal is no difference yet, because this service may receive the outcome soon.
    Ok((!is_open || !is_young).then_some(found))
}

fn is_open(withdrawal: &Withdrawal) -> bool {
    match withdrawal.state.status() {
        WithdrawalStatus::Pending | WithdrawalStatus::Processing => true,
        WithdrawalStatus::Abandoned | WithdrawalStatus::Completed | WithdrawalStatus::Failed => false,
    }
}

/// Returns whether the coins are sent, or may be sent. The processor sends no coins before a withdrawal is verified.
const fn moves_coins(status: UpstreamWithdrawalStatus) -> bool {
    match status {
        UpstreamWithdrawalStatus::Processing
        | UpstreamWithdrawalStatus::Finished
        | UpstreamWithdrawalStatus::Failed => true,
        UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Rejected => false,
    }
}

/// Returns whether both sides have the same outcome. If the withdrawal has failed at the processor, both sides agree
/// while the stored withdrawal is open and waits for an operator's decision.
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

/// Returns the id of the processor's batch. Returns our own identifier if this id is not known yet.
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
