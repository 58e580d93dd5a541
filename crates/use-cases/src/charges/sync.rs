//! Updates a charge from its acquirer's record. Every such record is applied in this file; only the reply to the
//! creation is applied in `keyed.rs`.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeError, ChargeState, Issued, Step};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::ledger::{EntryKind, LedgerAccount, Transfer};
use cais_domain::money::Money;
use cais_domain::payment::Payment;
use cais_domain::refund::Refund;
use cais_ports::{
    AcquirerError, ChangeSet, CommitError, NewEvent, Reservation, ReservationKey, SplitCredit, UpstreamCharge,
    UpstreamPayment, UpstreamProgress, UpstreamReturn, UpstreamStatus, Write, alerts, entry_to_come,
};
use jiff::Timestamp;

use crate::infractions::med_returns::explains;
use crate::ports::Ports;
use crate::refunds;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::{self, StoredRecord as _};

/// The time for reading the acquirer while a caller waits for the charge. After this time the caller gets the stored
/// charge.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(3);

/// The reason why a charge could not be updated from its acquirer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// The acquirer did not answer, or refused the read.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The acquirer certainly does not have the charge.
    #[error("the acquirer does not have the charge")]
    Unknown,
    /// The acquirer sent a callback for a Pix, but its record of the charge does not contain the Pix.
    #[error("the acquirer does not show the Pix of its callback")]
    NotShown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SyncError> for upstream_order::SyncError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Upstream(error) => Self::Upstream(error),
            SyncError::Unknown | SyncError::NotShown => Self::Unknown,
            SyncError::Store(error) => Self::Store(error),
        }
    }
}

/// The result of a read at an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The charge after the read.
    pub charge: Charge,
    /// The Pix that were returned in full before they were credited. They are never credited. For each, an alert was
    /// raised unless an infraction explains the return.
    pub returned_in_full: Vec<EndToEndId>,
    /// `true` if the charge's status was read, and the charge can still be paid by the acquirer's clock.
    pub is_payable: bool,
}

/// Reads the charge at `acquirer` and applies the acquirer's record.
pub(crate) async fn refresh(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    budget: Duration,
) -> Result<Charge, SyncError> {
    Ok(refresh_seen(ports, charge, acquirer, budget).await?.charge)
}

/// Works like [`refresh`], and returns all facts of the read, not only the charge.
pub(crate) async fn refresh_seen(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    budget: Duration,
) -> Result<Seen, SyncError> {
    let upstream = ports.acquirer(acquirer)?.find_charge(&charge.txid, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply_seen(ports, charge, acquirer, &upstream).await?)
}

/// Applies the record of `acquirer`: credits every payment once, and updates refunds and the status of the charge.
///
/// A payment is credited from any acquirer's record. The status is applied only from the acquirer that issued the
/// charge's code. After a lost reply, a second acquirer may have a duplicate charge with the same txid; the status
/// there is ignored.
pub(crate) async fn apply(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    upstream: &UpstreamCharge,
) -> Result<Charge, StoreError> {
    Ok(apply_seen(ports, charge, acquirer, upstream).await?.charge)
}

async fn apply_seen(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    upstream: &UpstreamCharge,
) -> Result<Seen, StoreError> {
    let charge = issue_if_creating(ports, charge, acquirer, upstream).await?;
    let mut seen = credit_payments(ports, charge, acquirer, &upstream.payments).await?;
    if seen.charge.state.acquirer() == acquirer {
        seen.charge = cancel_or_expire(ports, seen.charge, upstream).await?;
        seen.is_payable = upstream.status == UpstreamStatus::Active && !upstream.has_reached(upstream.expires_at);
    }
    Ok(seen)
}

/// Credits each payment at `acquirer` once, unless its whole amount was returned before. Also updates the refunds from
/// the payments' returns.
pub(crate) async fn credit_payments(
    ports: &Ports,
    mut charge: Charge,
    acquirer: &AcquirerName,
    payments: &[UpstreamPayment],
) -> Result<Seen, StoreError> {
    let (mut refunds, mut returned_in_full) = (Vec::new(), Vec::new());
    for payment in payments {
        let (ours, foreign) = sort_returns(ports, &charge, acquirer, payment).await?;
        refunds.extend(ours);
        if foreign.all.is_positive() && is_returned_in_full(ports, &charge, payment, foreign).await? {
            // A return that is still processing can fail. The Pix is then credited later.
            if payment.returns.iter().all(|back| back.progress != UpstreamProgress::Processing) {
                returned_in_full.push(payment.end_to_end_id.clone());
            }
            continue;
        }
        charge = credit(ports, charge, acquirer, payment).await?;
    }
    // Refunds are applied after the payments, so that an error in a refund never prevents a credit.
    if !refunds.is_empty() {
        for (refund, upstream) in refunds {
            refunds::sync::apply(ports, refund, upstream).await?;
        }
        charge = charge.reread(ports).await?;
    }
    Ok(Seen { charge, returned_in_full, is_payable: false })
}

/// The amounts of a Pix that were returned, or are being returned, without a refund of this service.
#[derive(Debug, Clone, Copy, Default)]
struct Foreign {
    /// The total of these amounts.
    all: Money,
    /// The part of the total that no infraction explains.
    unexplained: Money,
}

/// Splits the returns of a Pix into the refunds of this service and the amounts of all other returns.
async fn sort_returns(
    ports: &Ports,
    charge: &Charge,
    acquirer: &AcquirerName,
    payment: &UpstreamPayment,
) -> Result<(Vec<(Refund, UpstreamReturn)>, Foreign), StoreError> {
    let (mut ours, mut foreign) = (Vec::new(), Foreign::default());
    for upstream in &payment.returns {
        if let Some(refund) =
            refunds::sync::of_return(ports, charge, (acquirer, &payment.end_to_end_id), upstream).await?
        {
            ours.push((refund, upstream.clone()));
            continue;
        }
        let amount = amount_not_failed(upstream);
        foreign.all = foreign.all.checked_add(amount).map_err(ChargeError::from)?;
        if !explains(ports, acquirer, upstream) {
            foreign.unexplained = foreign.unexplained.checked_add(amount).map_err(ChargeError::from)?;
        }
    }
    Ok((ours, foreign))
}

/// Returns the amount of a return that is completed or processing. Money that may still be returned must not be
/// credited.
fn amount_not_failed(upstream: &UpstreamReturn) -> Money {
    match upstream.progress {
        UpstreamProgress::Processing | UpstreamProgress::Done { .. } => upstream.amount,
        UpstreamProgress::Failed { .. } => Money::ZERO,
    }
}

/// Returns whether a Pix must not be credited because its whole amount was returned before it was credited.
///
/// An unexplained return raises an alert, because a person must agree on the difference with the merchant. A return
/// that an infraction explains is resolved with the infraction.
async fn is_returned_in_full(
    ports: &Ports,
    charge: &Charge,
    payment: &UpstreamPayment,
    foreign: Foreign,
) -> Result<bool, StoreError> {
    let key = ReservationKey::EndToEndId(payment.end_to_end_id.clone());
    let credited = ports.queries.find_owner(&key).await?.is_some();
    if foreign.unexplained.is_positive() {
        tracing::error!(
            alert = alerts::PAYMENT_RETURNED, charge = %charge.id, end_to_end_id = %payment.end_to_end_id, returned = %foreign.unexplained, credited,
            "Pix returned at the acquirer without a known cause; an operator must agree on the difference with the merchant"
        );
    }
    Ok(!credited && foreign.all >= payment.amount)
}

/// Records a charge in creation as issued, if the acquirer has the charge with the ordered amount.
async fn issue_if_creating(
    ports: &Ports,
    mut charge: Charge,
    acquirer: &AcquirerName,
    upstream: &UpstreamCharge,
) -> Result<Charge, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let (ChargeState::Creating { .. }, Some(copy_paste)) = (&charge.state, &upstream.copy_paste) else {
            return Ok(charge);
        };
        if upstream.amount != charge.terms.amount {
            tracing::warn!(charge = %charge.id, %acquirer, amount = %upstream.amount, "charge has another amount at its acquirer; the charge is not issued");
            return Ok(charge);
        }
        let issued =
            Issued { acquirer: acquirer.clone(), copy_paste: copy_paste.clone(), expires_at: upstream.expires_at };
        let step = charge.clone().issue(issued)?;
        match commit_step(ports, step).await {
            Ok(moved) => return Ok(moved),
            Err(CommitError::Stale) => charge = charge.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Returns the id of the charge to which the Pix is already credited, or `None` if no such charge is found. This check
/// prevents most commits of a second credit. Such a commit would fail, and its whole batch would be committed again.
///
/// The Pix of a charge that can still be paid is almost always new. So for such a charge the store is not read; the
/// commit itself would detect a second credit.
async fn credited_to(ports: &Ports, charge: &Charge, payment: &UpstreamPayment) -> Result<Option<String>, StoreError> {
    if charge.state.settlement().is_some_and(|settlement| settlement.end_to_end_id == payment.end_to_end_id) {
        return Ok(Some(charge.id.to_string()));
    }
    if charge.is_payable() {
        return Ok(None);
    }
    Ok(ports.queries.find_owner(&ReservationKey::EndToEndId(payment.end_to_end_id.clone())).await?)
}

fn alert_ambiguous_payment(charge: &Charge, by: &str, payment: &EndToEndId, acquirer: &AcquirerName) {
    if by != charge.id.to_string() {
        tracing::error!(alert = alerts::PAYMENT_AMBIGUOUS, charge = %charge.id, by, end_to_end_id = %payment, %acquirer, "one Pix reported for two charges; the Pix was credited only to the charge in `by`");
    }
}

async fn credit(
    ports: &Ports,
    mut charge: Charge,
    acquirer: &AcquirerName,
    payment: &UpstreamPayment,
) -> Result<Charge, StoreError> {
    if let Some(by) = credited_to(ports, &charge, payment).await? {
        alert_ambiguous_payment(&charge, &by, &payment.end_to_end_id, acquirer);
        return Ok(charge);
    }
    let payment = Payment {
        end_to_end_id: payment.end_to_end_id.clone(),
        amount: payment.amount,
        paid_at: payment.paid_at,
        acquirer: acquirer.clone(),
    };
    let account = ports.queries.find_account(charge.account).await?;
    let account = account.ok_or_else(|| StoreError::Internal(format!("{}: its account is missing", charge.id)))?;
    for _ in 0..MAX_COMMIT_RETRIES {
        let now = ports.clock.now();
        let credit = charge.clone().credit(payment.clone(), account.release_delay_s, now)?;
        let mut change = ChangeSet::new(now);
        change.reserve.push(Reservation {
            key: ReservationKey::EndToEndId(payment.end_to_end_id.clone()),
            account: charge.account,
            owner: charge.id.to_string(),
        });
        // If the payment does not change the charge, the charge is still written. The credit was decided for this state
        // of the charge, so a concurrent change of the charge must make the commit fail.
        let after = credit.charge.unwrap_or_else(|| charge.clone());
        change.writes.push(Write::update(after.clone()));
        change.writes.push(Write::insert(credit.payment));
        change.writes.extend(credit.release.map(Write::insert));
        change.transfers = credit.transfers;
        change.events.extend(credit.event.map(|kind| event(ports, &after, kind, now)));
        change.events.extend(credit.unexpected.map(|payment| {
            let data = ports.representation.unexpected_payment(&payment);
            event_with(ports, &after, (EventType::PaymentUnexpected, data), now)
        }));
        let shares = splits_received(ports, &change.transfers, &charge, now);
        change.events.extend(shares);
        match ports.store.commit(change).await {
            Ok(_) => return Ok(after.stored()),
            Err(CommitError::Taken { by, .. }) => {
                alert_ambiguous_payment(&charge, &by, &payment.end_to_end_id, acquirer);
                return charge.reread(ports).await;
            }
            Err(CommitError::Stale) => charge = charge.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Returns one event for each account that receives a share of the payment. These events are not sent to the creator's
/// `postback_url`.
fn splits_received(ports: &Ports, transfers: &[Transfer], charge: &Charge, at: Timestamp) -> Vec<NewEvent> {
    let received = |transfer: &Transfer| match transfer.to {
        LedgerAccount::Merchant(account, _) if transfer.kind == EntryKind::Split => {
            let credit = SplitCredit { id: entry_to_come(), amount: transfer.amount, created_at: at };
            Some(NewEvent {
                id: EventId::new(ports.ids.next_uuid()),
                account,
                kind: EventType::SplitReceived,
                at,
                resource: charge.id.to_string(),
                data: ports.representation.split_credit(&credit),
                postback: None,
            })
        }
        LedgerAccount::Merchant(..) | LedgerAccount::System(..) => None,
    };
    transfers.iter().filter_map(received).collect()
}

/// Cancels a pending charge that the acquirer removed. An overdue charge expires only if the acquirer's clock agrees,
/// because the local clock may be ahead of it.
async fn cancel_or_expire(ports: &Ports, mut charge: Charge, upstream: &UpstreamCharge) -> Result<Charge, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let ChargeState::Pending(issued) = &charge.state else { return Ok(charge) };
        let now = ports.clock.now();
        let ends_at = issued.expires_at.min(upstream.expires_at);
        let step = match upstream.status {
            UpstreamStatus::Removed => charge.clone().cancel(now)?,
            UpstreamStatus::Active if now >= ends_at && upstream.has_reached(ends_at) => {
                charge.clone().expire(ends_at, now)?
            }
            UpstreamStatus::Active | UpstreamStatus::Completed => return Ok(charge),
        };
        match commit_step(ports, step).await {
            Ok(moved) => return Ok(moved),
            Err(CommitError::Stale) => charge = charge.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Commits a step and returns the stored charge.
pub(super) async fn commit_step(ports: &Ports, step: Step) -> Result<Charge, CommitError> {
    let (charge, kind) = match step {
        Step::AlreadyTaken(charge) => return Ok(charge),
        Step::Taken { charge, event } => (charge, event),
    };
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(charge.clone()));
    change.events.extend(kind.map(|kind| event(ports, &charge, kind, now)));
    ports.store.commit(change).await?;
    Ok(charge.stored())
}

fn event(ports: &Ports, charge: &Charge, kind: EventType, at: Timestamp) -> NewEvent {
    event_with(ports, charge, (kind, ports.representation.charge(charge)), at)
}

fn event_with(ports: &Ports, charge: &Charge, (kind, data): (EventType, Vec<u8>), at: Timestamp) -> NewEvent {
    NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: charge.account,
        kind,
        at,
        resource: charge.id.to_string(),
        data,
        postback: charge.terms.postback.clone(),
    }
}
