//! Refunding under a key or an external id that is known: what was made is the answer, what was begun is resumed.

use cais_domain::charge::Charge;
use cais_domain::ids::RefundId;
use cais_domain::refund::{Refund, RefundState, RefundStatus, RefundStep, Refundable};
use cais_ports::{Claim, CommitError, ReservationKey, Write};

use super::ROUNDS;
use super::complete::{complete, under_way};
use super::create::{CreateRefund, CreateRefundError, NOT_COVERED, finish, holds};
use super::decide::{charge_of, reread};
use super::resume::{of_claim, take_over};
use crate::answer::Answer;
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{ReplayDecision, RequestLease, answer_orphaned, of_the_other, remember};
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// A call whose key is known.
pub(super) async fn repeat(ports: &Ports, command: &CreateRefund, claim: Claim) -> Result<Answer, CreateRefundError> {
    let claim = match command.call().repeats(claim, ports.clock.now())? {
        ReplayDecision::Answered(answer) => return Ok(answer),
        ReplayDecision::Orphaned(claim) => claim,
    };
    for _ in 0..ROUNDS {
        let refund = of_claim(ports, &claim).await?;
        let resumed = if let RefundState::Abandoned { .. } = &refund.state {
            reopen(ports, command, &claim, refund).await?
        } else {
            resume(ports, command, &claim, refund).await?
        };
        if let Some(answer) = resumed {
            return Ok(answer);
        }
    }
    Err(Trouble::contended().into())
}

/// Its process died: somebody may have been asked. `None` when it was changed meanwhile.
async fn resume(
    ports: &Ports,
    command: &CreateRefund,
    claim: &Claim,
    refund: Refund,
) -> Result<Option<Answer>, CreateRefundError> {
    match take_over(ports, claim, refund, command.request).await {
        Ok(creation) => finish(complete(ports, creation).await?).map(Some),
        Err(CommitError::Claimed { claim }) => Ok(Some(of_the_other(*claim)?)),
        Err(CommitError::Stale) => Ok(None),
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// It was given up: it is judged and held anew, under its own id. `None` when it or its charge was changed meanwhile.
///
/// A balance that does not cover it now is its answer for good, as it would have been the first time.
async fn reopen(
    ports: &Ports,
    command: &CreateRefund,
    claim: &Claim,
    refund: Refund,
) -> Result<Option<Answer>, CreateRefundError> {
    command.account.permit_write()?;
    let charge = charge_of(ports, &refund).await?;
    let pix = &refund.end_to_end_id;
    let payment = ports.queries.find_payment(refund.account, pix).await.map_err(Trouble::from)?;
    let payment = payment.ok_or_else(|| Trouble::Internal(format!("{}: its payment {pix} is not there", refund.id)))?;
    let infractions = ports.queries.list_infractions_of_pix(refund.account, pix).await.map_err(Trouble::from)?;
    let refundable = Refundable { payment: &payment, infractions: &infractions };
    let now = ports.clock.now();
    let opened = match refund.clone().reopen(charge.clone(), refundable, now) {
        Ok(RefundStep::Taken(opened)) => *opened,
        Ok(RefundStep::AlreadyTaken(_)) => return Ok(None),
        // Another repeat was quicker, and has taken what was left of the charge for this very refund.
        Err(_) if reread(ports, &refund).await?.version != refund.version => return Ok(None),
        Err(error) => {
            return named(ports, command, &charge).await?.map_or_else(|| Err(error.into()), |it| Ok(Some(it)));
        }
    };
    let (retake, holding) = RequestLease::taken_over(claim, command.request, now);
    let change = holds(&opened, Write::UpdateRefund(Box::new(opened.refund.clone())), retake, now);
    match ports.store.commit(change).await {
        // Nobody has what was given up, so whoever is asked is asked for the first time.
        Ok(_) => finish(complete(ports, under_way(opened.refund, holding, false)).await?).map(Some),
        Err(CommitError::Claimed { claim }) => Ok(Some(of_the_other(*claim)?)),
        // Its external id has a new owner since.
        Err(CommitError::Taken { key: ReservationKey::RefundExternalId(..), by }) => {
            existing(ports, command, &charge, &by).await
        }
        Err(CommitError::Stale) => Ok(None),
        Err(CommitError::NotCovered { available, .. }) => {
            let body = ports.representation.insufficient_balance(command.request, refund.amount, available);
            Ok(Some(answer_orphaned(ports, &command.call(), claim, NOT_COVERED, body).await?))
        }
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// A call whose external id may have an owner; `None` when it has none.
pub(super) async fn named(
    ports: &Ports,
    command: &CreateRefund,
    charge: &Charge,
) -> Result<Option<Answer>, CreateRefundError> {
    let Some(key) = command.external_id_key() else { return Ok(None) };
    match ports.queries.find_owner(&key).await.map_err(Trouble::from)? {
        Some(owner) => existing(ports, command, charge, &owner).await,
        None => Ok(None),
    }
}

/// A call whose external id has an owner; `None` when the owner has just given it up.
pub(super) async fn existing(
    ports: &Ports,
    command: &CreateRefund,
    charge: &Charge,
    owner: &str,
) -> Result<Option<Answer>, CreateRefundError> {
    let id = RefundId::parse(owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_refund(command.account.id, id).await.map_err(Trouble::from)?;
    let refund = found.ok_or_else(|| Trouble::Internal(format!("{owner} owns an external id but does not exist")))?;
    match refund.state.status() {
        RefundStatus::Pending => Err(CreateRefundError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        RefundStatus::Abandoned => Ok(None),
        RefundStatus::Processing | RefundStatus::Completed | RefundStatus::Failed => {
            let same_amount = command.amount.is_none_or(|amount| amount == refund.amount);
            let same_pix = command.end_to_end_id.as_ref().is_none_or(|pix| *pix == refund.end_to_end_id);
            let fields =
                [("charge_id", refund.charge == charge.id), ("amount", same_amount), ("end_to_end_id", same_pix)];
            ExternalIdConflict::unless_same(owner, fields)?;
            let body = ports.representation.refund(&refund);
            Ok(Some(remember(ports, &command.call(), owner, 200, body).await?))
        }
    }
}
