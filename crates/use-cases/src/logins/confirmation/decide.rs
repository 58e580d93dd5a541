//! Prepares the commit of an operator's decision on a record in review. The same commit uses the operator's one-time
//! code.

use cais_domain::review_decision::ReviewDecision;
use cais_domain::text::Text;
use cais_ports::{Actor, ChangeSet};

use super::confirm::Confirmed;
use crate::Ports;
use crate::crypto::deposits::review::{self as payment_review, ResolvePaymentError};
use crate::crypto::withdrawals::review::{self as withdrawal_review, MissingRecord};
use crate::infractions::resolve;

/// The reason why a decision was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// The decision on an infraction was refused.
    #[error(transparent)]
    Infraction(#[from] resolve::ResolveError),
    /// The decision on a crypto withdrawal was refused.
    #[error(transparent)]
    Withdrawal(#[from] withdrawal_review::ResolveError),
    /// The decision on a payment to the address of a crypto deposit was refused.
    #[error(transparent)]
    Payment(#[from] ResolvePaymentError),
}

/// Checks the decision. Returns its result, and the changes to commit, which contain a row of the audit log.
pub(super) async fn prepare(
    ports: &Ports,
    operator: &Actor,
    decision: &ReviewDecision,
    note: &Text,
) -> Result<(Confirmed, ChangeSet), DecisionError> {
    match decision {
        ReviewDecision::Infraction { id, seen, decision } => {
            let prepared = resolve::prepare(ports, operator, (*id, Some(*seen)), (*decision, note)).await?;
            Ok((Confirmed::InfractionResolved(Box::new(prepared.0)), prepared.1))
        }
        ReviewDecision::Withdrawal { id, decision } => {
            let (decision, missing) = ((decision, note), MissingRecord::Refused);
            let (_, change) = withdrawal_review::prepare(ports, operator, *id, decision, missing).await?;
            Ok((Confirmed::CryptoResolved, change))
        }
        ReviewDecision::Payment { processor, id, seen, decision } => {
            let payment = (processor, id, Some(*seen));
            let (_, change) = payment_review::prepare(ports, operator, payment, (*decision, note)).await?;
            Ok((Confirmed::CryptoResolved, change))
        }
    }
}
