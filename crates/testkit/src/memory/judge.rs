//! Whether a change set may become true: the checks in their documented order, without changing anything.

use std::collections::HashMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, AuditId, ChargeId, EndpointId, InfractionId, KeyId, NoticeId, PayoutId, RefundId};
use cais_ports::{ChangeSet, ClaimChange, CommitError, ReservationKey, UpstreamList, Write};

use super::books::{self, Moved};
use super::state::State;

/// Judges all of it; what it moves comes back.
pub(super) fn judge(state: &State, change: &ChangeSet) -> Result<Moved, CommitError> {
    judge_claim(state, change)?;
    judge_reservations(state, change)?;
    judge_versions(state, change)?;
    books::judge(state, change)
}

fn judge_claim(state: &State, change: &ChangeSet) -> Result<(), CommitError> {
    let Some(wanted) = &change.claim else {
        return Ok(());
    };
    let known = state.claims.get(wanted.name());
    let fence = match wanted {
        ClaimChange::Take(_) => None,
        ClaimChange::Retake { fence, .. } | ClaimChange::Answer { fence, .. } | ClaimChange::Release { fence, .. } => {
            Some(*fence)
        }
    };
    match (known, fence) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(corrupt("there is no such idempotency claim")),
        (Some(claim), Some(fence)) if claim.answer.is_none() && claim.fence == fence => Ok(()),
        (Some(claim), _) => Err(CommitError::Claimed { claim: Box::new(claim.clone()) }),
    }
}

fn judge_reservations(state: &State, change: &ChangeSet) -> Result<(), CommitError> {
    let mut owners: HashMap<&ReservationKey, &str> = HashMap::new();
    for wanted in &change.reserve {
        let stored = state.reservations.get(&wanted.key);
        let owner = stored.map(|known| known.owner.as_str()).or_else(|| owners.get(&wanted.key).copied());
        if let Some(owner) = owner {
            return Err(CommitError::Taken { key: wanted.key.clone(), by: owner.to_owned() });
        }
        owners.insert(&wanted.key, &wanted.owner);
    }
    Ok(())
}

/// Names a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Record {
    Account(AccountId),
    Key(KeyId),
    Charge(ChargeId),
    Payment(EndToEndId),
    Release(EndToEndId),
    Payout(PayoutId),
    Refund(RefundId),
    Notice(NoticeId),
    Endpoint(EndpointId),
    Infraction(InfractionId),
    Position(AcquirerName, UpstreamList),
    Audit(AuditId),
}

/// The record, and the version that an update was based on.
fn target(write: &Write) -> (Record, Option<i64>) {
    match write {
        Write::InsertAccount(account) => (Record::Account(account.id), None),
        Write::UpdateAccount(account) => (Record::Account(account.id), Some(account.version)),
        Write::InsertKey(key) => (Record::Key(key.id), None),
        Write::UpdateKey(key) => (Record::Key(key.id), Some(key.version)),
        Write::InsertCharge(charge) => (Record::Charge(charge.id), None),
        Write::UpdateCharge(charge) => (Record::Charge(charge.id), Some(charge.version)),
        Write::InsertPayment(paid) => (Record::Payment(paid.payment.end_to_end_id.clone()), None),
        Write::InsertRelease(release) => (Record::Release(release.end_to_end_id.clone()), None),
        Write::UpdateRelease(release) => (Record::Release(release.end_to_end_id.clone()), Some(release.version)),
        Write::InsertPayout(payout) => (Record::Payout(payout.id), None),
        Write::UpdatePayout(payout) => (Record::Payout(payout.id), Some(payout.version)),
        Write::InsertRefund(refund) => (Record::Refund(refund.id), None),
        Write::UpdateRefund(refund) => (Record::Refund(refund.id), Some(refund.version)),
        Write::InsertNotice(notice) => (Record::Notice(notice.id), None),
        Write::UpdateNotice(notice) => (Record::Notice(notice.id), Some(notice.version)),
        Write::InsertEndpoint(endpoint) => (Record::Endpoint(endpoint.id), None),
        Write::UpdateEndpoint(endpoint) => (Record::Endpoint(endpoint.id), Some(endpoint.version)),
        Write::InsertInfraction(infraction) => (Record::Infraction(infraction.id), None),
        Write::UpdateInfraction(infraction) => (Record::Infraction(infraction.id), Some(infraction.version)),
        Write::InsertAudit(row) => (Record::Audit(row.id), None),
        Write::InsertPosition(position) => (Record::Position(position.acquirer.clone(), position.list), None),
        Write::UpdatePosition(position) => {
            (Record::Position(position.acquirer.clone(), position.list), Some(position.version))
        }
    }
}

fn stored_version(state: &State, record: &Record) -> Option<i64> {
    match record {
        Record::Account(id) => state.accounts.get(id).map(|account| account.version),
        Record::Key(id) => state.keys.get(id).map(|key| key.version),
        Record::Charge(id) => state.charges.get(id).map(|charge| charge.version),
        Record::Payment(id) => state.payments.get(id).map(|_| 1),
        Record::Release(id) => state.releases.get(id).map(|release| release.version),
        Record::Payout(id) => state.payouts.get(id).map(|payout| payout.version),
        Record::Refund(id) => state.refunds.get(id).map(|refund| refund.version),
        Record::Notice(id) => state.notices.get(id).map(|notice| notice.version),
        Record::Endpoint(id) => state.endpoints.get(id).map(|endpoint| endpoint.version),
        Record::Infraction(id) => state.infractions.get(id).map(|infraction| infraction.version),
        Record::Audit(id) => state.audit.get(id).map(|_| 1),
        Record::Position(name, list) => state.positions.get(&(name.clone(), *list)).map(|position| position.version),
    }
}

fn judge_versions(state: &State, change: &ChangeSet) -> Result<(), CommitError> {
    let mut written: HashMap<Record, i64> = HashMap::new();
    for write in &change.writes {
        let (record, based_on) = target(write);
        let current = written.get(&record).copied().or_else(|| stored_version(state, &record));
        let next = match (current, based_on) {
            (None, None) => 1,
            (Some(_), None) => return Err(corrupt("a new record is there already")),
            (Some(current), Some(read)) if current == read => current.saturating_add(1),
            (Some(_) | None, Some(_)) => return Err(CommitError::Stale),
        };
        if let Write::InsertKey(new) = write
            && state.keys.values().any(|key| key.prefix == new.prefix)
        {
            return Err(corrupt("two keys with one prefix"));
        }
        written.insert(record, next);
    }
    Ok(())
}

pub(super) fn corrupt(why: &(impl ToString + ?Sized)) -> CommitError {
    CommitError::Corrupt(why.to_string())
}
