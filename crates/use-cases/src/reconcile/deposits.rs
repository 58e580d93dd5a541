//! Compares a crypto processor's payments with the credited coins, in both directions.
//!
//! If the run repairs, the payments that callbacks and polls missed are credited. Most of them are later payments to
//! the address of a deposit: they can arrive after the last poll of the deposit.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{ArrivedCoins, Deposit, DepositPayment, DepositState, PaymentState};
use cais_ports::{AcquirerError, CryptoProcessor, ListRequest, UpstreamDeposit, UpstreamDepositStatus, UpstreamPage};

use super::lists::{ComparedList, Unlisted, Window};
use super::report::{Difference, DifferenceKind, Findings};
use super::{LIST_BUDGET, LOOK_UP_BUDGET, Run};
use crate::crypto::deposits::callback::deposit_of;
use crate::crypto::deposits::sync::{apply, find};
use crate::store_error::StoreError;

/// The number of stored payments in one read.
const AT_A_TIME: u32 = 1_000;

/// A processor's list of payments, and our stored payments of this processor.
pub(super) struct DepositList<'a> {
    pub run: &'a Run<'a>,
    pub processor: &'a dyn CryptoProcessor,
}

#[async_trait]
impl ComparedList for DepositList<'_> {
    type Row = UpstreamDeposit;
    type Record = DepositPayment;
    type Id = ProcessorId;

    const LIST: &'static str = "list of payments";
    const RECORDS: &'static str = "payments";
    const PROGRESS: &'static str = "crypto payments";

    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn name(&self) -> &AcquirerName {
        self.processor.name()
    }

    async fn list(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        self.processor.list_deposits(request, LIST_BUDGET).await
    }

    async fn records(
        &self,
        (from, until): Window,
        last: Option<&DepositPayment>,
    ) -> Result<Vec<DepositPayment>, StoreError> {
        let after = last.map(|last| (last.created_at, last.id.clone()));
        Ok(self.run.ports.queries.list_crypto_payments_between(self.name(), from, until, after, AT_A_TIME).await?)
    }

    fn id(record: &DepositPayment) -> ProcessorId {
        record.id.clone()
    }

    fn id_of_unreadable(row: &str) -> Option<ProcessorId> {
        ProcessorId::parse(row).ok()
    }

    async fn compare(
        &self,
        rows: Vec<UpstreamDeposit>,
        window: Window,
        unlisted: &mut Unlisted<Self>,
        findings: &mut Findings,
    ) -> Result<u64, StoreError> {
        let mut compared = 0_u64;
        for row in &rows {
            let known = unlisted.remove(&row.id);
            // The list may contain rows from days around the window. Such a row is skipped, unless its record is in the
            // window.
            if known.is_none() && row.created_at.is_some_and(|at| !(window.0..window.1).contains(&at)) {
                continue;
            }
            compared = compared.saturating_add(1);
            findings.note(judge(self.run, self.processor, row).await?);
        }
        findings.count_deposits(compared);
        Ok(compared)
    }

    fn is_expected(&self, record: &DepositPayment) -> bool {
        record.state == PaymentState::Credited
    }

    async fn look_up(&self, records: Vec<DepositPayment>, findings: &mut Findings) -> Result<(), StoreError> {
        for payment in records {
            match self.processor.get_deposit(&payment.id, LOOK_UP_BUDGET).await {
                Ok(row) => findings.note(judge(self.run, self.processor, &row).await?),
                // The processor returns the same error for a missing payment and for a lost reply. Here the payment is
                // missing: the whole list was read and does not contain it.
                Err(AcquirerError::OutcomeUnknown(_)) => findings.note(Some(Difference {
                    kind: DifferenceKind::DepositNotListed,
                    acquirer: self.name().clone(),
                    resource: Some(payment.deposit.to_string()),
                    upstream_id: payment.id.to_string(),
                    ours: Some(coins(&payment.coins)),
                    theirs: None,
                    repaired: false,
                })),
                Err(error @ (AcquirerError::Unavailable(_) | AcquirerError::Refused(_))) => {
                    findings.cannot_read(self.name(), format!("payment {}: {error}", payment.id));
                }
            }
        }
        Ok(())
    }
}

/// Compares a payment of the list with the local records. If the run repairs, the payment is applied.
async fn judge(
    run: &Run<'_>,
    processor: &dyn CryptoProcessor,
    row: &UpstreamDeposit,
) -> Result<Option<Difference>, StoreError> {
    let Some(deposit) = deposit_of(run.ports, processor.name(), row).await? else {
        // A payment without the id of a deposit belongs to another system.
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
    // If the row shows fewer coins than were credited, the difference stays, because an operator decides. If the row
    // contradicts the deposit, the row was not applied, and an alert was raised.
    let after = find(run.ports, &deposit, &row.id).await?;
    let repaired = kind == DifferenceKind::DepositMissed && after.is_some_and(|after| is_applied(&after, row));
    Ok(Some(Difference { repaired, ..found }))
}

/// Returns the kind of the difference between the stored payment and its row. Returns `None` if there is no difference.
fn kind_of(deposit: &Deposit, known: Option<&DepositPayment>, row: &UpstreamDeposit) -> Option<DifferenceKind> {
    if known.is_some_and(|known| known.state == PaymentState::Credited && !covers(row, known)) {
        return Some(DifferenceKind::DepositAmount);
    }
    // While the deposit is in creation, its first payment is not missed: the creation applies it.
    let is_missed =
        is_paid(row) && deposit.state != DepositState::Creating && known.is_none_or(|known| !is_applied(known, row));
    is_missed.then_some(DifferenceKind::DepositMissed)
}

/// Returns whether the stored payment has the coins of the row. For an unfinished payment and a finished row, returns
/// `false`, because the row is newer.
fn is_applied(payment: &DepositPayment, row: &UpstreamDeposit) -> bool {
    let has_finished = matches!(row.status, UpstreamDepositStatus::PartiallyPaid | UpstreamDepositStatus::Finished);
    has_coins_of(payment, row) && !(has_finished && payment.is_unfinished())
}

/// Returns whether the row shows the stored coins.
fn has_coins_of(payment: &DepositPayment, row: &UpstreamDeposit) -> bool {
    row.received.as_ref() == Some(&payment.coins)
}

/// Returns whether the processor shows at least the credited coins, and has not refunded them.
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

/// Returns whether the row is a payment whose coins must be credited, or must wait for an operator.
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
