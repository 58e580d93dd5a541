//! Compares received Pix with credited payments.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{Acquirer, AcquirerError, ListRequest, ReceivedPix, ReservationKey, UpstreamPage};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::lists::{ComparedList, Unlisted, Window};
use super::report::{Difference, DifferenceKind, Finding, Findings, wide};
use super::returns;
use super::{LIST_BUDGET, LOOK_UP_BUDGET, Run};
use crate::charges::sync::refresh;
use crate::store_error::StoreError;
use crate::work::AT_ONCE;

/// The number of local payments in one read. The number is high, so that a window needs few reads.
const AT_A_TIME: u32 = 5_000;

/// An acquirer's list of received Pix, and the credited payments of the same acquirer.
pub(super) struct ReceivedList<'a> {
    pub run: &'a Run<'a>,
    pub name: &'a AcquirerName,
    pub acquirer: &'a dyn Acquirer,
}

#[async_trait]
impl ComparedList for ReceivedList<'_> {
    type Row = ReceivedPix;
    type Record = CreditedPayment;
    type Id = EndToEndId;

    const LIST: &'static str = "list of received Pix";
    const RECORDS: &'static str = "payments";
    const PROGRESS: &'static str = "received";

    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn name(&self) -> &AcquirerName {
        self.name
    }

    async fn list(&self, request: ListRequest) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        self.acquirer.list_received(request, LIST_BUDGET).await
    }

    async fn records(
        &self,
        (from, until): Window,
        last: Option<&CreditedPayment>,
    ) -> Result<Vec<CreditedPayment>, StoreError> {
        let after = last.map(|last| (last.payment.paid_at, last.payment.end_to_end_id.clone()));
        Ok(self.run.ports.queries.list_payments_between(self.name, from, until, after, AT_A_TIME).await?)
    }

    fn id(record: &CreditedPayment) -> EndToEndId {
        record.payment.end_to_end_id.clone()
    }

    fn id_of_unreadable(row: &str) -> Option<EndToEndId> {
        EndToEndId::parse(row).ok()
    }

    async fn compare(
        &self,
        rows: Vec<ReceivedPix>,
        _: Window,
        unlisted: &mut Unlisted<Self>,
        findings: &mut Findings,
    ) -> Result<u64, StoreError> {
        let count = wide(rows.len());
        findings.count_received(count);
        let rows = rows.into_iter().map(|row| {
            let known = unlisted.remove(&row.payment.end_to_end_id);
            (row, known)
        });
        let rows: Vec<(ReceivedPix, Option<CreditedPayment>)> = rows.collect();
        let judged = stream::iter(rows).map(|(row, known)| judge(self.run, self.name, row, known));
        for finding in judged.buffer_unordered(AT_ONCE).try_collect::<Vec<Finding>>().await? {
            findings.add(self.name, finding);
        }
        Ok(count)
    }

    fn is_expected(&self, record: &CreditedPayment) -> bool {
        !self.run.is_young(record.credited_at)
    }

    /// Looks up the charge of each record, because some acquirers show a payment only with its charge.
    async fn look_up(&self, records: Vec<CreditedPayment>, findings: &mut Findings) -> Result<(), StoreError> {
        let found = stream::iter(records).map(|credit| look_up(self.name, self.acquirer, credit));
        for finding in found.buffer_unordered(AT_ONCE).collect::<Vec<Finding>>().await {
            findings.add(self.name, finding);
        }
        Ok(())
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
            // The Pix is credited, but its payment is not among the records of this window, for example because its
            // stored instant is outside the window. The row also has no txid of a known charge, so there is nothing to
            // compare.
            (None, Some(_)) => None,
            (Some(charge), Some(owner)) if owner == charge.id.to_string() => None,
            (Some(charge), Some(owner)) => Some(difference(DifferenceKind::PaymentUnknown, Some(charge), Some(owner))),
            // The acquirer returned the whole Pix, or is returning it, and this service has not credited it. So nothing
            // is missing.
            (_, None) if returns::is_returned_in_full(run, charge.as_ref(), name, &row.payment).await? => {
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

/// Credits a missed Pix by refreshing its charge. Returns `true` if the Pix is credited now.
async fn credit(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    end_to_end_id: &EndToEndId,
) -> Result<bool, StoreError> {
    if let Err(error) = refresh(run.ports, charge.clone(), name, LOOK_UP_BUDGET).await {
        tracing::warn!(charge = %charge.id, %end_to_end_id, %error, "missed payment could not be credited; the difference stays");
    }
    Ok(owner(run, end_to_end_id).await? == Some(charge.id.to_string()))
}

async fn owner(run: &Run<'_>, end_to_end_id: &EndToEndId) -> Result<Option<String>, StoreError> {
    let key = ReservationKey::EndToEndId(end_to_end_id.clone());
    Ok(run.ports.queries.find_owner(&key).await?)
}

async fn look_up(name: &AcquirerName, acquirer: &dyn Acquirer, credit: CreditedPayment) -> Finding {
    let end_to_end_id = credit.payment.end_to_end_id;
    let found = match acquirer.find_charge(&Txid::of_charge(credit.charge), LOOK_UP_BUDGET).await {
        Ok(found) => found,
        Err(error) => {
            let unread = Some(format!("look-up of the charge of a received Pix: {error}"));
            return Finding { unread, ..Finding::default() };
        }
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
