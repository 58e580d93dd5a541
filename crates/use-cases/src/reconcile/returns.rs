//! Compares the returns of received Pix with the stored refunds.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, RefundTotals};
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::{PageRequest, ReturnNature, UpstreamPayment, UpstreamProgress, UpstreamReturn};

use super::report::{Difference, DifferenceKind, Finding, wide};
use super::{LOOK_UP_BUDGET, Run, infractions};
use crate::refunds::sync::{apply, fetch_upstream, of_return};
use crate::store_error::StoreError;

/// The number of stored refunds of one charge in one read.
const AT_A_TIME: u32 = 200;
/// The largest number of reads of refunds for one charge: 10,000 refunds.
const MAX_READS: u32 = 50;

/// Compares the returns of one Pix of a charge with the refunds, in both directions.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    payment: &UpstreamPayment,
) -> Result<Finding, StoreError> {
    let mut finding = Finding { refunds: wide(payment.returns.len()), ..Finding::default() };
    finding.differences.extend(infractions::compare(run, name, charge, payment).await?);
    for upstream in payment.returns.iter().filter(|upstream| upstream.nature == ReturnNature::Ordinary) {
        match of_return(run.ports, charge, (name, &payment.end_to_end_id), upstream).await? {
            Some(refund) => finding.differences.extend(settle(run, refund, upstream.clone()).await?),
            None if is_not_failed(upstream) => finding.differences.push(Difference {
                kind: DifferenceKind::RefundUnknown,
                acquirer: name.clone(),
                resource: Some(charge.id.to_string()),
                upstream_id: upstream.name.clone(),
                ours: None,
                theirs: Some(upstream.amount.to_string()),
                repaired: false,
            }),
            None => {}
        }
    }
    let pays = charge.state.settlement().is_some_and(|settled| settled.end_to_end_id == payment.end_to_end_id);
    let is_ordinary = pays && payment.amount == charge.terms.amount;
    if is_ordinary && charge.refunds == RefundTotals::default() {
        return Ok(finding);
    }
    let (mut after, mut has_more) = (None, true);
    for _ in 0..MAX_READS {
        let page = PageRequest { limit: AT_A_TIME, starting_after: after };
        let page = run.ports.queries.list_refunds(charge.account, charge.id, page).await?;
        after = page.rows.last().map(|refund| refund.id);
        for refund in page.rows {
            let listed = payment.returns.iter().any(|upstream| upstream.refund() == Some(refund.id));
            let of_this = refund.acquirer == *name && refund.end_to_end_id == payment.end_to_end_id;
            if of_this && !listed && refund.state.status() == RefundStatus::Completed {
                look_up_unlisted(run, refund, &mut finding).await?;
            }
        }
        has_more = page.has_more;
        if !has_more {
            break;
        }
    }
    if has_more {
        finding.unread = Some(format!("more than {} refunds of {}", MAX_READS.saturating_mul(AT_A_TIME), charge.id));
    }
    Ok(finding)
}

/// Looks up a completed refund that is missing among the returns of its Pix.
async fn look_up_unlisted(run: &Run<'_>, refund: Refund, finding: &mut Finding) -> Result<(), StoreError> {
    match fetch_upstream(run.ports, &refund, LOOK_UP_BUDGET).await {
        Ok(Some(upstream)) => finding.differences.extend(settle(run, refund, upstream).await?),
        Ok(None) => finding.differences.push(difference(DifferenceKind::RefundOutcome, &refund, None)),
        Err(error) => finding.unread = Some(format!("list of returns: {error}")),
    }
    Ok(())
}

/// Returns the difference between a refund and its acquirer's record. If the run repairs, the record is applied to an
/// open refund. Returns `None` if both sides agree, or if this service may receive the outcome soon.
async fn settle(run: &Run<'_>, refund: Refund, listed: UpstreamReturn) -> Result<Option<Difference>, StoreError> {
    if agrees(&refund, &listed) {
        return Ok(None);
    }
    // Both sides may have changed since the list was read.
    let upstream = fetch_upstream(run.ports, &refund, LOOK_UP_BUDGET).await.ok().flatten().unwrap_or(listed);
    let refund = run.ports.queries.find_refund(refund.account, refund.id).await?.unwrap_or(refund);
    if agrees(&refund, &upstream) {
        return Ok(None);
    }
    if refund.amount != upstream.amount {
        let (ours, theirs) = (refund.amount.to_string(), upstream.amount.to_string());
        let wrong = difference(DifferenceKind::RefundAmount, &refund, Some(theirs));
        return Ok(Some(Difference { ours: Some(ours), ..wrong }));
    }
    let found = difference(DifferenceKind::RefundOutcome, &refund, Some(status_name(&upstream).to_owned()));
    let open = is_open(&refund);
    if open && run.repair {
        let after = match apply(run.ports, refund.clone(), upstream.clone()).await {
            Ok(after) => after,
            Err(error) => {
                tracing::warn!(refund = %refund.id, %error, "record of a refund could not be applied; the difference stays");
                refund
            }
        };
        return Ok(Some(Difference { repaired: agrees(&after, &upstream), ..found }));
    }
    // A young open refund is no difference yet, because this service may receive the outcome soon.
    Ok((!open || !run.is_young(refund.created_at)).then_some(found))
}

fn is_open(refund: &Refund) -> bool {
    match refund.state.status() {
        RefundStatus::Pending | RefundStatus::Processing => true,
        RefundStatus::Abandoned | RefundStatus::Completed | RefundStatus::Failed => false,
    }
}

fn agrees(refund: &Refund, upstream: &UpstreamReturn) -> bool {
    let outcome = match (refund.state.status(), &upstream.progress) {
        (RefundStatus::Pending | RefundStatus::Processing, UpstreamProgress::Processing)
        | (RefundStatus::Completed, UpstreamProgress::Done { .. })
        | (RefundStatus::Failed | RefundStatus::Abandoned, UpstreamProgress::Failed { .. }) => true,
        (
            RefundStatus::Pending | RefundStatus::Processing,
            UpstreamProgress::Done { .. } | UpstreamProgress::Failed { .. },
        )
        | (RefundStatus::Completed, UpstreamProgress::Processing | UpstreamProgress::Failed { .. })
        | (
            RefundStatus::Failed | RefundStatus::Abandoned,
            UpstreamProgress::Processing | UpstreamProgress::Done { .. },
        ) => false,
    };
    outcome && refund.amount == upstream.amount
}

fn difference(kind: DifferenceKind, refund: &Refund, theirs: Option<String>) -> Difference {
    Difference {
        kind,
        acquirer: refund.acquirer.clone(),
        resource: Some(refund.id.to_string()),
        upstream_id: refund.id.suffix(),
        ours: Some(refund.state.status().as_str().to_owned()),
        theirs,
        repaired: false,
    }
}

const fn status_name(upstream: &UpstreamReturn) -> &'static str {
    match upstream.progress {
        UpstreamProgress::Processing => "processing",
        UpstreamProgress::Done { .. } => "completed",
        UpstreamProgress::Failed { .. } => "failed",
    }
}

/// Returns whether the return moved money, or may still move it.
const fn is_not_failed(upstream: &UpstreamReturn) -> bool {
    match upstream.progress {
        UpstreamProgress::Processing | UpstreamProgress::Done { .. } => true,
        UpstreamProgress::Failed { .. } => false,
    }
}

/// Returns whether the whole Pix was returned, or is being returned, without a refund of this service. Such a Pix is
/// not credited afterwards.
pub(super) async fn is_returned_in_full(
    run: &Run<'_>,
    charge: Option<&Charge>,
    name: &AcquirerName,
    payment: &UpstreamPayment,
) -> Result<bool, StoreError> {
    let mut foreign = Money::ZERO;
    for upstream in payment.returns.iter().filter(|upstream| is_not_failed(upstream)) {
        let ours = match charge {
            Some(charge) => of_return(run.ports, charge, (name, &payment.end_to_end_id), upstream).await?,
            None => None,
        };
        if ours.is_none() {
            foreign = foreign.checked_add(upstream.amount).map_err(|error| StoreError::Internal(error.to_string()))?;
        }
    }
    Ok(foreign >= payment.amount)
}
