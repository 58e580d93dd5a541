//! Making a charge agree with what its acquirer says of it: the only place where upstream's truth becomes ours.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeState, Issued, Step};
use cais_domain::event::EventType;
use cais_domain::ids::{ChargeId, EventId};
use cais_domain::payment::Payment;
use cais_ports::{
    AcquirerError, ChangeSet, CommitError, NewEvent, Reservation, ReservationKey, UpstreamCharge, UpstreamPayment,
    UpstreamStatus, Write,
};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::trouble::{DECISIONS, Trouble};

/// How long a reader waits for upstream before it gets the stored state.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(3);
/// How rarely readers of one charge make us ask upstream.
const ASK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How many charges the gate remembers before it forgets the ones that may be asked again anyway.
const REMEMBERED: usize = 65_536;

/// Remembers when each charge was last asked upstream, so that readers ask at most once per second per charge.
#[derive(Debug, Clone, Default)]
pub struct SyncGate {
    asked: Arc<Mutex<HashMap<ChargeId, Timestamp>>>,
}

impl SyncGate {
    /// A gate that remembers nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the charge may be asked for now; if so, it is remembered.
    #[must_use]
    pub fn admit(&self, charge: ChargeId, now: Timestamp) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox moves both ways, so it is the distance that counts.
        let recent = |at: &Timestamp| now.duration_since(*at).abs() < ASK_EVERY;
        if asked.get(&charge).is_some_and(recent) {
            return false;
        }
        if asked.len() >= REMEMBERED {
            asked.retain(|_, at| recent(at));
        }
        if asked.len() < REMEMBERED {
            asked.insert(charge, now);
        }
        true
    }
}

/// Why a charge could not be made to agree with upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// Upstream has no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The acquirer certainly does not know the charge.
    #[error("the acquirer does not know the charge")]
    Unknown,
    /// The acquirer called back for a Pix that its charge does not show.
    #[error("the acquirer does not show the Pix that it called for")]
    NotShown,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Reads the truth at `acquirer` and applies it.
pub(crate) async fn refresh(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    budget: Duration,
) -> Result<Charge, SyncError> {
    let adapter = ports.acquirers.named(acquirer);
    let adapter = adapter.ok_or_else(|| AcquirerError::Unavailable(format!("{acquirer} is not configured")))?;
    let upstream = adapter.find_charge(&charge.txid, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, charge, acquirer, &upstream).await?)
}

/// Applies what `acquirer` says of the charge: every payment is credited, once; then its status follows.
///
/// A payment counts wherever it arrived. The status is believed only of the acquirer whose code was shown: one that has a
/// twin of the same txid says nothing of it.
pub(crate) async fn apply(
    ports: &Ports,
    charge: Charge,
    acquirer: &AcquirerName,
    upstream: &UpstreamCharge,
) -> Result<Charge, Trouble> {
    let mut charge = adopt(ports, charge, acquirer, upstream).await?;
    for payment in &upstream.payments {
        if payment.returned.is_positive() && stays_out(ports, &charge, payment).await? {
            continue;
        }
        charge = credit(ports, charge, acquirer, payment).await?;
    }
    if charge.state.acquirer() == acquirer { follow(ports, charge, upstream).await } else { Ok(charge) }
}

/// Whether a Pix that went back, without this service, must not be credited: all of it did, before we saw it.
///
/// What went back after it was credited, or in part, is told to an operator: somebody has to settle it.
async fn stays_out(ports: &Ports, charge: &Charge, payment: &UpstreamPayment) -> Result<bool, Trouble> {
    let key = ReservationKey::EndToEndId(payment.end_to_end_id.clone());
    let credited = ports.queries.find_owner(&key).await?.is_some();
    tracing::error!(
        charge = %charge.id, end_to_end_id = %payment.end_to_end_id, returned = %payment.returned, credited,
        "a Pix was returned at the acquirer: settle it with the merchant"
    );
    Ok(!credited && payment.returned >= payment.amount)
}

/// A charge whose creation was never confirmed to us, but which upstream has as it was ordered: it is issued.
async fn adopt(
    ports: &Ports,
    mut charge: Charge,
    acquirer: &AcquirerName,
    upstream: &UpstreamCharge,
) -> Result<Charge, Trouble> {
    for _ in 0..DECISIONS {
        let (ChargeState::Creating { .. }, Some(copy_paste)) = (&charge.state, &upstream.copy_paste) else {
            return Ok(charge);
        };
        if upstream.amount != charge.terms.amount {
            tracing::warn!(charge = %charge.id, %acquirer, amount = %upstream.amount, "the acquirer has the charge with another amount");
            return Ok(charge);
        }
        let issued =
            Issued { acquirer: acquirer.clone(), copy_paste: copy_paste.clone(), expires_at: upstream.expires_at };
        let step = charge.clone().issue(issued)?;
        match commit_step(ports, step).await {
            Ok(moved) => return Ok(moved),
            Err(CommitError::Stale) => charge = reread(ports, &charge).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

async fn credit(
    ports: &Ports,
    mut charge: Charge,
    acquirer: &AcquirerName,
    payment: &UpstreamPayment,
) -> Result<Charge, Trouble> {
    let payment = Payment {
        end_to_end_id: payment.end_to_end_id.clone(),
        amount: payment.amount,
        paid_at: payment.paid_at,
        acquirer: acquirer.clone(),
    };
    for _ in 0..DECISIONS {
        let now = ports.clock.now();
        let credit = charge.clone().credit(payment.clone(), now)?;
        let mut change = ChangeSet::new(now);
        change.reserve.push(Reservation {
            key: ReservationKey::EndToEndId(payment.end_to_end_id.clone()),
            account: charge.account,
            owner: charge.id.to_string(),
        });
        // A payment that leaves the charge as it is still bumps its version: its role was judged against that state.
        let after = credit.charge.unwrap_or_else(|| charge.clone());
        change.writes.push(Write::UpdateCharge(Box::new(after.clone())));
        change.writes.push(Write::InsertPayment(Box::new(credit.payment)));
        change.transfers = credit.transfers;
        change.events.extend(credit.event.map(|kind| event(ports, &after, kind, now)));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(stored(after)),
            Err(CommitError::Taken { by, .. }) => {
                if by != charge.id.to_string() {
                    tracing::error!(charge = %charge.id, by, end_to_end_id = %payment.end_to_end_id, %acquirer, "a Pix is told of two charges: it was credited to the other");
                }
                return reread(ports, &charge).await;
            }
            Err(CommitError::Stale) => charge = reread(ports, &charge).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// A pending charge that upstream removed is cancelled; one whose time is over, here or there, is expired.
async fn follow(ports: &Ports, mut charge: Charge, upstream: &UpstreamCharge) -> Result<Charge, Trouble> {
    for _ in 0..DECISIONS {
        let ChargeState::Pending(issued) = &charge.state else { return Ok(charge) };
        let now = ports.clock.now();
        let ends_at = issued.expires_at.min(upstream.expires_at);
        let step = match upstream.status {
            UpstreamStatus::Removed => charge.clone().cancel(now)?,
            UpstreamStatus::Active if now >= ends_at => charge.clone().expire(ends_at, now)?,
            UpstreamStatus::Active | UpstreamStatus::Completed => return Ok(charge),
        };
        match commit_step(ports, step).await {
            Ok(moved) => return Ok(moved),
            Err(CommitError::Stale) => charge = reread(ports, &charge).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// Makes a step true and returns the charge as it is stored then.
pub(super) async fn commit_step(ports: &Ports, step: Step) -> Result<Charge, CommitError> {
    let (charge, kind) = match step {
        Step::AlreadyTaken(charge) => return Ok(charge),
        Step::Taken { charge, event } => (charge, event),
    };
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::UpdateCharge(Box::new(charge.clone())));
    change.events.extend(kind.map(|kind| event(ports, &charge, kind, now)));
    ports.store.commit(change).await?;
    Ok(stored(charge))
}

fn event(ports: &Ports, charge: &Charge, kind: EventType, at: Timestamp) -> NewEvent {
    NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: charge.account,
        kind,
        at,
        resource: charge.id.to_string(),
        data: ports.representation.charge(charge),
    }
}

fn stored(charge: Charge) -> Charge {
    Charge { version: charge.version.saturating_add(1), ..charge }
}

pub(super) async fn reread(ports: &Ports, charge: &Charge) -> Result<Charge, Trouble> {
    let found = ports.queries.find_charge(charge.account, charge.id).await?;
    found.ok_or_else(|| Trouble::Internal(format!("{} vanished", charge.id)))
}
