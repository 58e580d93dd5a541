//! Opens an infraction on a Pix that was credited here.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{ChargeId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStep, NewInfraction, Review, ReviewReason};
use cais_domain::txid::Txid;
use cais_ports::{CommitError, Reservation, ReservationKey, UpstreamInfraction, alerts};

use super::case::Case;
use super::look::AT_LEISURE;
use super::rounds;
use super::steps::change_set;
use super::sync::{Applied, SyncError, adapter, complain, is_news, new_infraction};
use crate::charges;
use crate::charges::sync::SyncError as ChargeSyncError;
use crate::ports::Ports;
use crate::trouble::Trouble;

/// The result of an attempt to open.
pub(super) enum Opening {
    /// The infraction is open now.
    Opened,
    /// Another process opened the infraction or changed a record that it depends on. The records must be read again.
    Again,
    /// The infraction cannot be opened, or not yet.
    Not(Applied),
}

/// Opens the infraction in a round that is not open yet. With a `review` reason, it is marked for review from the beginning.
pub(super) async fn open(
    ports: &Ports,
    acquirer: &AcquirerName,
    told: &UpstreamInfraction,
    (round, review): (u32, Option<ReviewReason>),
) -> Result<Opening, SyncError> {
    if !is_believed(acquirer, told, round) {
        return Ok(Opening::Not(Applied::NotBelieved));
    }
    let charge = match charge_of(ports, acquirer, told).await? {
        Ok(charge) => charge,
        Err(applied) => return Ok(Opening::Not(applied)),
    };
    let case = Case::read(ports, charge.account, charge.id, &told.end_to_end_id).await?;
    if case.payment().payment.acquirer != *acquirer {
        complain(acquirer, told, "it is about a Pix that another acquirer received");
        return Ok(Opening::Not(Applied::NotBelieved));
    }
    let now = ports.clock.now();
    let asked = NewInfraction { id: InfractionId::new(ports.ids.next_uuid()), ..new_infraction(acquirer, told, now) };
    let mut opened = match Infraction::open(asked, case.disputed(), now).map_err(Trouble::from)? {
        InfractionStep::Taken(opened) => *opened,
        InfractionStep::AlreadyTaken(_) => return Ok(Opening::Again),
    };
    opened.infraction.review = review.map(|reason| Review { reason, since: now });
    let (mut change, infraction) = (change_set(ports, &opened, now), &opened.infraction);
    change.reserve.push(Reservation {
        key: rounds::key(acquirer, &told.id, round),
        account: infraction.account,
        owner: infraction.id.to_string(),
    });
    match ports.store.commit(change).await {
        Ok(_) => {
            tracing::warn!(
                infraction = %infraction.id, charge = %infraction.charge, %acquirer, upstream = told.id, round,
                amount = %infraction.amount, limit = %infraction.limit, "a payer disputes a Pix"
            );
            Ok(Opening::Opened)
        }
        Err(CommitError::Taken { key: ReservationKey::Infraction(_), .. } | CommitError::Stale) => Ok(Opening::Again),
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// Returns whether an infraction can begin with this report. Raises an alert if not.
fn is_believed(acquirer: &AcquirerName, told: &UpstreamInfraction, round: u32) -> bool {
    let why = if round > rounds::MAX_ROUNDS {
        "the infraction was reopened too often"
    } else if told.amount.is_positive() {
        return true;
    } else {
        "the disputed amount is not positive"
    };
    complain(acquirer, told, why);
    false
}

/// Returns the charge to which the Pix was credited. A Pix that is not credited yet is read from the acquirer and
/// credited now.
async fn charge_of(
    ports: &Ports,
    name: &AcquirerName,
    told: &UpstreamInfraction,
) -> Result<Result<Charge, Applied>, SyncError> {
    if let Some(charge) = credited(ports, &told.end_to_end_id).await? {
        return Ok(Ok(charge));
    }
    let acquirer = adapter(ports, name)?;
    let Some(received) = acquirer.find_received(&told.end_to_end_id, AT_LEISURE.budget).await? else {
        return Ok(Err(not_yet(name, told, "its acquirer does not show its Pix")));
    };
    let charge = match received.txid {
        Some(txid) => ports.queries.find_charge_by_txid(&txid).await.map_err(Trouble::from)?,
        None => None,
    };
    let Some(charge) = charge else { return Ok(Err(not_ours(name, told, "its Pix is not for a charge of ours"))) };
    match charges::sync::look(ports, charge, name, AT_LEISURE.budget).await {
        Ok(seen) if seen.went_back.contains(&told.end_to_end_id) => {
            return Ok(Err(not_ours(name, told, "its Pix went back before it was credited")));
        }
        Ok(_) | Err(ChargeSyncError::Unknown | ChargeSyncError::NotShown) => {}
        Err(ChargeSyncError::Upstream(error)) => return Err(error.into()),
        Err(ChargeSyncError::Store(trouble)) => return Err(trouble.into()),
    }
    let charge = credited(ports, &told.end_to_end_id).await?;
    Ok(charge.ok_or_else(|| not_yet(name, told, "its Pix is not credited yet")))
}

/// Returns the charge to which the Pix was credited.
async fn credited(ports: &Ports, end_to_end_id: &EndToEndId) -> Result<Option<Charge>, Trouble> {
    let Some(owner) = ports.queries.find_owner(&ReservationKey::EndToEndId(end_to_end_id.clone())).await? else {
        return Ok(None);
    };
    let id = ChargeId::parse(&owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let charge = ports.queries.find_charge_by_txid(&Txid::of_charge(id)).await?;
    charge.map(Some).ok_or_else(|| Trouble::Internal(format!("{id}, which {end_to_end_id} paid, is not there")))
}

fn not_yet(acquirer: &AcquirerName, told: &UpstreamInfraction, why: &'static str) -> Applied {
    if is_news(acquirer, told, why) {
        tracing::warn!(%acquirer, upstream = told.id, end_to_end_id = %told.end_to_end_id, why, "an infraction waits for its Pix");
    }
    Applied::NotYet
}

fn not_ours(acquirer: &AcquirerName, told: &UpstreamInfraction, why: &'static str) -> Applied {
    if is_news(acquirer, told, why) {
        tracing::error!(
            alert = alerts::INFRACTION_UNMATCHED, %acquirer, upstream = told.id, end_to_end_id = %told.end_to_end_id, amount = %told.amount, why,
            "an infraction is about a Pix that was not credited here; manual review needed"
        );
    }
    Applied::NotOurs
}
