//! Updates a deposit from the processor's records. Every such record is applied in this file; only the reply to the
//! creation is applied in `keyed.rs`.
//!
//! The first payment is the processor's record for which the address was created. Each further transfer of coins to the
//! address is a later payment, with a record of its own.

use std::time::Duration;

use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{
    Arrival, ArrivedCoins, Deposit, DepositError, DepositPayment, DepositState, DepositStatus, DepositStep,
    PaymentState, Received,
};
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::ledger::Transfer;
use cais_ports::{
    ChangeSet, CommitError, NewEvent, Reservation, ReservationKey, UpstreamDeposit, UpstreamDepositStatus, Write,
    alerts,
};
use futures_util::future::join_all;
use jiff::Timestamp;

use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::StoredRecord as _;
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_text::{plain, whole_microseconds};

/// The largest number of stored payments of one deposit that are read. A payer usually makes one or two.
const MAX_PAYMENTS: u32 = 10_000;

/// The largest number of later payments that one refresh reads. The newest are read first. Payments that no refresh
/// reads are found by the reconciliation with the processor's list of payments.
const MAX_LATER_READS: usize = 5;

/// Reads the first payment of the deposit at its processor. Then reads the unfinished later payments that the record of
/// the first payment lists, and applies all records.
pub(crate) async fn refresh(ports: &Ports, deposit: Deposit, budget: Duration) -> Result<Deposit, SyncError> {
    let processor = ports.crypto_processor(&deposit.processor)?;
    let Some(issued) = deposit.state.issued() else { return Ok(deposit) };
    let first = issued.payment.clone();
    let record = processor.get_deposit(&first, budget).await?;
    let mut deposit = apply(ports, deposit, &record).await?;
    let open = open_later_payments(ports, &deposit, &record.later).await?;
    let records = join_all(open.iter().map(|id| processor.get_deposit(id, budget))).await;
    for (id, record) in open.iter().zip(records) {
        match record {
            Ok(record) if record.parent.as_ref().is_none_or(|parent| *parent == first) => {
                deposit = apply(ports, deposit, &record).await?;
            }
            Ok(record) => {
                contradicted(&deposit, &record, "later payment has another first payment; the record is not applied");
            }
            // The next refresh reads this payment again.
            Err(error) => {
                tracing::warn!(deposit = %deposit.id, payment = %id, %error, "later payment of a deposit could not be read; the payment is read again");
            }
        }
    }
    Ok(deposit)
}

/// Returns the later payments that are not stored, or that were unfinished when they were stored: at most
/// `MAX_LATER_READS`, the newest first.
async fn open_later_payments(
    ports: &Ports,
    deposit: &Deposit,
    later: &[ProcessorId],
) -> Result<Vec<ProcessorId>, StoreError> {
    if later.is_empty() {
        return Ok(Vec::new());
    }
    let stored = ports.queries.list_deposit_payments(deposit.account, deposit.id, MAX_PAYMENTS).await?;
    let is_over = |id: &ProcessorId| {
        let known = stored.iter().find(|payment| payment.id == *id);
        known.is_some_and(|payment| !payment.is_unfinished())
    };
    Ok(later.iter().rev().filter(|id| !is_over(id)).take(MAX_LATER_READS).cloned().collect())
}

/// Applies the record of a payment. The coins of each payment are credited once. The record of the first payment also
/// changes the status.
///
/// A deposit in creation is skipped: its creation stores the address or abandons the deposit.
pub(crate) async fn apply(
    ports: &Ports,
    mut deposit: Deposit,
    record: &UpstreamDeposit,
) -> Result<Deposit, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        if deposit.state == DepositState::Creating || !is_of(&deposit, record) {
            return Ok(deposit);
        }
        let now = ports.clock.now();
        let Some(steps) = judge(ports, &deposit, record, now).await? else { return Ok(deposit) };
        let (change, after) = steps.done(ports, now);
        match ports.store.commit(change).await {
            Ok(_) => return Ok(after.stored()),
            // Another process has applied a record since the read.
            Err(CommitError::Stale | CommitError::Taken { .. }) => deposit = deposit.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Returns whether the order, parent and address of a record fit the deposit. If they do not, an alert is raised, and
/// the record must not be applied.
fn is_of(deposit: &Deposit, record: &UpstreamDeposit) -> bool {
    let first = deposit.state.issued().filter(|issued| issued.payment == record.id);
    let has_address = |address: &str| record.address.as_ref().is_none_or(|shown| shown.as_str() == address);
    let agrees = record.order.is_none_or(|order| order == deposit.id)
        && first.is_none_or(|issued| record.parent.is_none() && has_address(&issued.address));
    if !agrees {
        contradicted(
            deposit,
            record,
            "payment has another order or address at the processor; the record is not applied",
        );
    }
    agrees
}

fn contradicted(deposit: &Deposit, record: &UpstreamDeposit, message: &str) {
    tracing::error!(
        alert = alerts::CRYPTO_DEPOSIT_CONTRADICTED, deposit = %deposit.id, processor = %deposit.processor,
        payment = %record.id, ours = deposit.state.status().as_str(), theirs = ?record.status, "{message}"
    );
}

/// The changes of one commit.
struct Steps {
    deposit: Deposit,
    events: Vec<EventType>,
    transfers: Vec<Transfer>,
    /// The payment. The second value is `true` if the payment is new and has no reservation yet.
    payment: Option<(DepositPayment, bool)>,
}

/// Returns the changes that follow from a record. Returns `None` if nothing changes.
async fn judge(
    ports: &Ports,
    deposit: &Deposit,
    record: &UpstreamDeposit,
    now: Timestamp,
) -> Result<Option<Steps>, StoreError> {
    use UpstreamDepositStatus::{
        Confirmed, Confirming, Expired, Failed, Finished, PartiallyPaid, Refunded, Sending, Unknown, Waiting,
    };
    let is_later = deposit.state.issued().is_some_and(|issued| issued.payment != record.id);
    let has_ended_without_coins = matches!(record.status, Refunded | Failed) || (record.status == Expired && is_later);
    if has_ended_without_coins && find(ports, deposit, &record.id).await?.is_some_and(|known| known.gross.is_positive())
    {
        contradicted(
            deposit,
            record,
            "credited payment is refunded, failed or expired at its processor; manual review needed",
        );
        return Ok(None);
    }
    let coins = record.received.as_ref().filter(|_| record.has_coins());
    match (record.status, coins) {
        (Finished | PartiallyPaid, Some(coins)) => receive(ports, deposit, record, coins, now).await,
        (Failed | Expired, Some(coins)) => unfinished(ports, deposit, record, coins, now).await,
        (Finished | PartiallyPaid, None) => {
            tracing::warn!(deposit = %deposit.id, payment = %record.id, "payment finished without coins at the processor; nothing is credited");
            Ok(follow(deposit, record, now))
        }
        (Waiting | Confirming | Confirmed | Sending | Refunded | Unknown, _) | (Failed | Expired, None) => {
            Ok(follow(deposit, record, now))
        }
    }
}

/// Returns the changes that credit the coins of a payment, or mark them for review by an operator.
async fn receive(
    ports: &Ports,
    deposit: &Deposit,
    record: &UpstreamDeposit,
    coins: &ArrivedCoins,
    now: Timestamp,
) -> Result<Option<Steps>, StoreError> {
    let known = find(ports, deposit, &record.id).await?;
    let is_unreserved = is_unreserved(deposit, record, known.as_ref());
    let arrival = arrival(deposit, known.as_ref(), record, coins, now);
    let received = deposit.clone().receive(known, arrival, now);
    match received.map_err(|error| StoreError::Internal(format!("{}: payment {}: {error}", deposit.id, record.id)))? {
        Received::AlreadyTaken => Ok(follow(deposit, record, now)),
        Received::Review(payment) => Ok(Some(review(deposit, *payment, is_unreserved, now))),
        Received::Credited(resolved) => Ok(Some(Steps {
            deposit: resolved.deposit,
            events: resolved.events,
            transfers: resolved.transfers,
            payment: Some((resolved.payment, is_unreserved)),
        })),
    }
}

/// Returns the changes for a payment that failed or expired with coins. The coins are marked for review, because the
/// processor may not have them.
async fn unfinished(
    ports: &Ports,
    deposit: &Deposit,
    record: &UpstreamDeposit,
    coins: &ArrivedCoins,
    now: Timestamp,
) -> Result<Option<Steps>, StoreError> {
    let known = find(ports, deposit, &record.id).await?;
    let is_unreserved = is_unreserved(deposit, record, known.as_ref());
    let arrival = arrival(deposit, known.as_ref(), record, coins, now);
    let waiting = deposit.unfinished(known, &arrival);
    let ended = follow(deposit, record, now);
    Ok(match (waiting, ended) {
        (None, ended) => ended,
        (Some(payment), Some(ended)) => Some(Steps { payment: Some((payment, is_unreserved)), ..ended }),
        (Some(payment), None) => Some(review(deposit, payment, is_unreserved, now)),
    })
}

/// Returns the steps that mark a payment for review. The write of the deposit checks its version, so that another
/// process cannot credit the payment at the same time.
fn review(deposit: &Deposit, payment: DepositPayment, is_unreserved: bool, now: Timestamp) -> Steps {
    let (deposit, events) = deposit.clone().await_decision(&payment, now);
    Steps { deposit, events, transfers: Vec::new(), payment: Some((payment, is_unreserved)) }
}

/// Returns the stored payment with this id.
pub(crate) async fn find(
    ports: &Ports,
    deposit: &Deposit,
    payment: &ProcessorId,
) -> Result<Option<DepositPayment>, StoreError> {
    let payments = ports.queries.list_deposit_payments(deposit.account, deposit.id, MAX_PAYMENTS).await?;
    Ok(payments.into_iter().find(|known| known.id == *payment))
}

/// Returns whether the payment still needs a reservation. The first payment was reserved when its address was stored.
fn is_unreserved(deposit: &Deposit, record: &UpstreamDeposit, known: Option<&DepositPayment>) -> bool {
    known.is_none() && deposit.state.issued().is_none_or(|issued| issued.payment != record.id)
}

fn arrival(
    deposit: &Deposit,
    known: Option<&DepositPayment>,
    record: &UpstreamDeposit,
    coins: &ArrivedCoins,
    now: Timestamp,
) -> Arrival {
    let coins = match coins {
        ArrivedCoins::Supported(coins) => ArrivedCoins::Supported(*coins),
        ArrivedCoins::Unsupported { currency, amount } => {
            ArrivedCoins::Unsupported { currency: plain(currency), amount: plain(amount) }
        }
    };
    let tx_hash = record.tx_hash.as_deref().map(plain).filter(|hash| !hash.is_empty());
    Arrival { id: record.id.clone(), coins, tx_hash, seen_at: seen_at(deposit, known, record, now) }
}

/// Returns the instant at which the coins were first seen. The processor creates the record of a later payment when its
/// coins arrive. If the first payment was confirming before the deposit expired, its coins count as arrived before the
/// expiry.
fn seen_at(deposit: &Deposit, known: Option<&DepositPayment>, record: &UpstreamDeposit, now: Timestamp) -> Timestamp {
    let at = match (known, &deposit.state) {
        (Some(known), _) if known.gross.is_zero() => known.created_at,
        (None, DepositState::Confirming(issued)) if issued.payment == record.id => issued.expires_at,
        (None, _) if deposit.state.issued().is_some_and(|issued| issued.payment != record.id) => {
            record.created_at.map_or(now, whole_microseconds)
        }
        (Some(_) | None, _) => last_change(record, now),
    };
    at.min(now)
}

/// Returns the instant of the record's last change. The coins arrived before this instant, even if this service was
/// down then.
fn last_change(record: &UpstreamDeposit, now: Timestamp) -> Timestamp {
    record.updated_at.map_or(now, whole_microseconds).min(now)
}

/// Returns the change of the deposit that follows from the status of the first payment's record. Later payments change
/// only the credited sums. Only a pending deposit becomes confirming. So if a deposit is confirming, its coins were
/// seen before the deposit was marked as expired.
fn follow(deposit: &Deposit, record: &UpstreamDeposit, now: Timestamp) -> Option<Steps> {
    use DepositStatus as Ours;
    use UpstreamDepositStatus as Theirs;
    let issued = deposit.state.issued().filter(|issued| issued.payment == record.id)?;
    let tx_hash = record.tx_hash.as_deref().map(plain).filter(|hash| !hash.is_empty());
    let ours = deposit.state.status();
    let step = match (record.status, ours) {
        // A finished payment comes here only if nothing is credited for it: it has no coins, or its coins were marked
        // for review before.
        (Theirs::Waiting | Theirs::Finished | Theirs::PartiallyPaid, Ours::Pending) if now >= issued.expires_at => {
            deposit.clone().expire(now)
        }
        (Theirs::Expired, Ours::Pending) => deposit.clone().expire(now),
        (Theirs::Confirming | Theirs::Confirmed | Theirs::Sending, Ours::Pending)
            if !deposit.accepts_payment_of(last_change(record, now)) =>
        {
            deposit.clone().expire(now)
        }
        (Theirs::Confirming, Ours::Pending) => deposit.clone().start_confirming(tx_hash, now),
        (Theirs::Confirmed | Theirs::Sending, Ours::Pending | Ours::Confirming) => {
            deposit.clone().confirm(tx_hash, now)
        }
        (Theirs::Failed, Ours::Pending | Ours::Confirming | Ours::Expired) => deposit.clone().fail(now),
        (Theirs::Refunded, Ours::Pending | Ours::Confirming | Ours::Expired | Ours::Failed) => {
            deposit.clone().refund(now)
        }
        (Theirs::Expired, Ours::Confirming) => {
            contradicted(deposit, record, "outcome of a deposit contradicted by its processor; manual review needed");
            return None;
        }
        _ => return None,
    };
    match step {
        Ok(DepositStep::Taken { deposit, event }) => {
            Some(Steps { deposit: *deposit, events: event.into_iter().collect(), transfers: Vec::new(), payment: None })
        }
        Ok(DepositStep::AlreadyTaken(_)) => None,
        Err(DepositError::InvalidState(_)) => {
            contradicted(
                deposit,
                record,
                "deposit's status excludes the step that the processor reports; the deposit is unchanged",
            );
            None
        }
    }
}

impl Steps {
    /// Returns all changes of the commit, and the deposit with its version before the commit.
    fn done(self, ports: &Ports, now: Timestamp) -> (ChangeSet, Deposit) {
        let Self { deposit, events, transfers, payment } = self;
        let mut change = ChangeSet::new(now);
        change.writes.push(Write::update(deposit.clone()));
        if let Some((payment, is_unreserved)) = payment {
            if is_unreserved {
                let key = ReservationKey::crypto_payment(&payment.processor, &payment.id);
                change.reserve.push(Reservation { key, account: deposit.account, owner: deposit.id.to_string() });
            }
            alert_review(&payment);
            change.writes.push(if payment.version == 0 { Write::insert(payment) } else { Write::update(payment) });
        }
        change.transfers = transfers;
        change.events = events.into_iter().map(|kind| event(ports, &deposit, kind, now)).collect();
        (change, deposit)
    }
}

fn alert_review(payment: &DepositPayment) {
    if let PaymentState::Review(reason) = payment.state {
        tracing::error!(
            alert = alerts::CRYPTO_DEPOSIT_NEEDS_REVIEW, deposit = %payment.deposit, processor = %payment.processor,
            payment = %payment.id, coins = ?payment.coins, reason = reason.as_str(),
            "coins of a deposit cannot be credited; the coins wait for an operator"
        );
    }
}

/// Returns the event that a step of the deposit publishes.
pub(crate) fn event(ports: &Ports, deposit: &Deposit, kind: EventType, at: Timestamp) -> NewEvent {
    NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: deposit.account,
        kind,
        at,
        resource: deposit.id.to_string(),
        data: ports.representation.crypto_deposit(deposit),
        postback: deposit.terms.postback.clone(),
    }
}
