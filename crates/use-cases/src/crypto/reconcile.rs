//! Compares the processor's list of payments with the credited coins, and credits the missing ones. Most of them are later
//! payments, which polls do not show: their callback was lost.

use std::time::Duration;

use cais_domain::crypto::deposit::{Deposit, DepositState};
use cais_ports::{
    CryptoProcessor, ListRequest, UnreadableRow, UpstreamDeposit, UpstreamDepositStatus, UpstreamList, alerts,
};
use jiff::{SignedDuration, Timestamp};

use super::deposits::callback::deposit_of;
use super::deposits::sync::{apply, find};
use crate::ports::Ports;
use crate::positions;
use crate::reconcile::Standing;
use crate::store_error::StoreError;
use crate::work::WorkError;

/// The part of the list before its position that is compared again. A payment is listed at its creation, and its coins
/// arrive up to a day later.
const OVERLAP: SignedDuration = SignedDuration::from_hours(48);
/// The span of one read of the list. The position moves after each.
const WINDOW: SignedDuration = SignedDuration::from_hours(24);
/// The time for one page.
const LIST_BUDGET: Duration = Duration::from_secs(30);
/// The largest number of pages of one window: far more than a busy account has in a window and its margin.
const MAX_PAGES: u32 = 1_000;
/// The largest number of differences and unreadable rows of a report.
const MAX_FINDINGS: usize = 1_000;

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepositDifferenceKind {
    /// Coins of a stored deposit were not processed.
    Missed,
    /// A payment names a deposit of this service that is not stored.
    Unknown,
}

impl DepositDifferenceKind {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missed => "deposit_missed",
            Self::Unknown => "deposit_unknown",
        }
    }
}

/// A difference between the processor's list and the stored payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositDifference {
    /// The kind.
    pub kind: DepositDifferenceKind,
    /// The public id of the deposit.
    pub deposit: String,
    /// The processor's identifier of the payment.
    pub payment: String,
    /// `true` if the coins are credited now, or wait for an operator.
    pub repaired: bool,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepositReport {
    /// The number of listed payments, also those of other systems on the same account.
    pub listed: u64,
    /// The first `MAX_FINDINGS` differences.
    pub differences: Vec<DepositDifference>,
    /// The first `MAX_FINDINGS` unreadable rows. The other rows are compared.
    pub unreadable: Vec<UnreadableRow>,
    /// The reason for which the list could not be read to its end.
    pub unread: Option<String>,
}

impl DepositReport {
    /// Adds the report of the next window. The lists of two windows overlap.
    fn add(&mut self, next: Self) {
        self.listed = self.listed.saturating_add(next.listed);
        for difference in next.differences {
            self.add_difference(difference);
        }
        for row in next.unreadable {
            self.add_unreadable(row);
        }
        self.unread = next.unread;
    }

    fn add_difference(&mut self, difference: DepositDifference) {
        if self.differences.len() < MAX_FINDINGS && !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }

    fn add_unreadable(&mut self, row: UnreadableRow) {
        if self.unreadable.len() < MAX_FINDINGS && !self.unreadable.contains(&row) {
            self.unreadable.push(row);
        }
    }

    /// Returns the number of findings that a person must review.
    #[must_use]
    pub fn open(&self) -> usize {
        self.differences.iter().filter(|difference| !difference.repaired).count().saturating_add(self.unreadable.len())
    }
}

/// The result of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepositRun {
    /// The number of repaired differences.
    pub done: usize,
    /// The state of the comparison. `None`: no processor is configured.
    pub standing: Option<Standing>,
}

/// Compares the payments since the last complete comparison, credits missed coins, and logs the other differences.
///
/// # Errors
/// [`WorkError`] if the local records cannot be read.
pub async fn run_once(ports: &Ports) -> Result<DepositRun, WorkError> {
    let Some(crypto) = &ports.crypto else { return Ok(DepositRun::default()) };
    let mut whole = DepositReport::default();
    let (processor, now) = (&*crypto.processor, ports.clock.now());
    let name = processor.name();
    let list = UpstreamList::CryptoDeposits;
    let mut position = match ports.queries.find_position(name, list).await? {
        Some(position) => position,
        None => positions::first(ports, name, list, now).await?,
    };
    // A position after now is from a wrong clock.
    let mut from = position.seen_until.min(now).saturating_sub(OVERLAP).unwrap_or(Timestamp::MIN);
    while from < now {
        let until = from.saturating_add(WINDOW).unwrap_or(now).min(now);
        let report = compare(ports, processor, (from, until), true).await?;
        whole.add(report);
        if whole.unread.is_some() {
            break;
        }
        if until > position.seen_until {
            position = positions::move_to(ports, position, until).await?;
        }
        from = until;
    }
    log(processor, &whole);
    let (done, open) = (whole.differences.iter().filter(|one| one.repaired).count(), whole.open());
    let (acquirer, compared_until) = (name.clone(), Some(position.seen_until));
    Ok(DepositRun { done, standing: Some(Standing { acquirer, compared_until, open }) })
}

/// Compares the payments created from `from` on and before `until`. Credits missed coins if `repair`.
///
/// # Errors
/// [`StoreError`] if the local records cannot be read.
pub async fn run(
    ports: &Ports,
    (from, until): (Timestamp, Timestamp),
    repair: bool,
) -> Result<DepositReport, StoreError> {
    match &ports.crypto {
        Some(crypto) => compare(ports, &*crypto.processor, (from, until), repair).await,
        None => Ok(DepositReport::default()),
    }
}

async fn compare(
    ports: &Ports,
    processor: &dyn CryptoProcessor,
    (from, to): (Timestamp, Timestamp),
    repair: bool,
) -> Result<DepositReport, StoreError> {
    let mut report = DepositReport::default();
    let mut page = 0;
    for _ in 0..MAX_PAGES {
        let listed = match processor.list_deposits(ListRequest { from, to, page }, LIST_BUDGET).await {
            Ok(listed) => listed,
            Err(error) => return Ok(DepositReport { unread: Some(error.to_string()), ..report }),
        };
        report.listed = report.listed.saturating_add(u64::try_from(listed.rows.len()).unwrap_or(u64::MAX));
        for row in listed.unreadable {
            report.add_unreadable(row);
        }
        for row in listed.rows.iter().filter(|row| is_paid(row)) {
            if let Some(difference) = compare_row(ports, processor, row, repair).await? {
                report.add_difference(difference);
            }
        }
        match listed.next {
            None => return Ok(report),
            Some(next) if next > page => page = next,
            Some(next) => {
                let reason = format!("page {page} of the list names page {next} as the next page");
                return Ok(DepositReport { unread: Some(reason), ..report });
            }
        }
    }
    Ok(DepositReport { unread: Some(format!("the list has more than {MAX_PAGES} pages")), ..report })
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

async fn compare_row(
    ports: &Ports,
    processor: &dyn CryptoProcessor,
    row: &UpstreamDeposit,
    repair: bool,
) -> Result<Option<DepositDifference>, StoreError> {
    let difference = |deposit: String, kind| DepositDifference {
        kind,
        deposit,
        payment: row.id.to_string(),
        repaired: repair && kind == DepositDifferenceKind::Missed,
    };
    let Some(deposit) = deposit_of(ports, processor.name(), row).await? else {
        // A payment without an order of ours belongs to another system.
        return Ok(row.order.map(|order| difference(order.to_string(), DepositDifferenceKind::Unknown)));
    };
    if deposit.state == DepositState::Creating || is_known(ports, &deposit, row).await? {
        return Ok(None);
    }
    let id = deposit.id.to_string();
    if repair {
        apply(ports, deposit.clone(), row).await?;
        if !is_known(ports, &deposit, row).await? {
            // The record contradicts the deposit, and an alert was raised.
            return Ok(Some(DepositDifference { repaired: false, ..difference(id, DepositDifferenceKind::Missed) }));
        }
    }
    Ok(Some(difference(id, DepositDifferenceKind::Missed)))
}

/// Returns whether the payment is stored with the listed coins, in any state.
async fn is_known(ports: &Ports, deposit: &Deposit, row: &UpstreamDeposit) -> Result<bool, StoreError> {
    let known = find(ports, deposit, &row.id).await?;
    Ok(known.is_some_and(|known| Some(&known.coins) == row.received.as_ref()))
}

fn log(processor: &dyn CryptoProcessor, report: &DepositReport) {
    let processor = processor.name();
    for DepositDifference { kind, deposit, payment, repaired } in &report.differences {
        let kind = kind.as_str();
        if *repaired {
            tracing::warn!(kind, %processor, deposit, payment, "difference with the crypto processor repaired");
        } else {
            tracing::error!(
                alert = alerts::RECONCILE_DIFFERENCE, kind, %processor, deposit, payment,
                "payments differ from the crypto processor's; manual review needed"
            );
        }
    }
    for UnreadableRow { name, reason } in &report.unreadable {
        tracing::error!(
            alert = alerts::RECONCILE_ROW_UNREADABLE, %processor, name, reason,
            "row of the crypto processor's list cannot be read; the others are compared"
        );
    }
    if let Some(reason) = &report.unread {
        tracing::warn!(%processor, reason, "crypto processor's list could not be compared to its end; the next run compares the list again");
    }
}
