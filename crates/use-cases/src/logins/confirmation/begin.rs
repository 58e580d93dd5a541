//! The first step of an action that needs a one-time code. This step stores the action.

use cais_domain::ids::ConfirmationId;
use cais_ports::{ChangeSet, Confirmation, ConfirmationState, PendingAction, Role, SessionStage, Write};
use jiff::{SignedDuration, Timestamp};

use crate::logins::{LoginError, Logins, Visitor};

/// The time in which the second step must follow.
const VALIDITY: SignedDuration = SignedDuration::from_mins(10);

/// Stores the action. [`super::confirm::confirm`] executes it in the same session.
///
/// # Errors
/// [`LoginError::Over`] in these cases:
/// - The login is not complete.
/// - The user's role does not permit the action.
/// - The action concerns an unknown account, or a key or endpoint that the account does not have.
pub async fn begin(logins: &Logins, visitor: &Visitor, action: PendingAction) -> Result<ConfirmationId, LoginError> {
    let ports = &logins.ports;
    let account = visitor.user.role.account();
    if visitor.session.stage != SessionStage::Complete {
        return Err(LoginError::Over);
    }
    let is_possible = match &action {
        PendingAction::CreateKey { .. }
        | PendingAction::SendPayout { .. }
        | PendingAction::SendRefund { .. }
        | PendingAction::SendWithdrawal { .. } => account.is_some(),
        PendingAction::RevokeKey { prefix } => {
            let found = ports.queries.find_key(prefix).await?;
            found.is_some_and(|(key, _)| Some(key.account) == account && key.revoked_at.is_none())
        }
        PendingAction::RotateSecret { endpoint, .. } | PendingAction::MoveEndpoint { endpoint, .. } => match account {
            Some(account) => {
                ports.queries.find_endpoint(account, *endpoint).await?.is_some_and(|found| found.is_visible())
            }
            None => false,
        },
        // The infraction, withdrawal or payment is checked when the decision on it is executed.
        PendingAction::Decide { .. } => visitor.user.role == Role::Operator,
        PendingAction::RenewRecoveryCodes => true,
        PendingAction::ChangeAccount { account: changed, .. } => {
            visitor.user.role == Role::Operator && ports.queries.find_account(*changed).await?.is_some()
        }
    };
    if !is_possible {
        return Err(LoginError::Over);
    }
    let now = ports.clock.now();
    let confirmation = Confirmation {
        id: ConfirmationId::new(ports.ids.next_uuid()),
        user: visitor.user.id,
        account,
        session: visitor.session.id,
        action,
        created_at: now,
        expires_at: now.saturating_add(VALIDITY).unwrap_or(Timestamp::MAX),
        state: ConfirmationState::Open,
        wrong_codes: 0,
        version: 0,
    };
    let id = confirmation.id;
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::insert(confirmation));
    ports.store.commit(change).await.map_err(LoginError::Store)?;
    Ok(id)
}

/// Returns a confirmation of this session that waits for its code.
///
/// # Errors
/// [`LoginError::Over`] if the session has no such open confirmation.
pub async fn find(logins: &Logins, visitor: &Visitor, id: ConfirmationId) -> Result<Confirmation, LoginError> {
    let now = logins.ports.clock.now();
    let found = find_own(logins, visitor, id, ConfirmationState::Open).await?;
    found.filter(|found| now < found.expires_at).ok_or(LoginError::Over)
}

/// Returns a confirmation of this session whose action was executed. The result of the action, for example a new key,
/// cannot be read again.
///
/// # Errors
/// [`LoginError::Over`] if the session has no such confirmation.
pub async fn find_done(logins: &Logins, visitor: &Visitor, id: ConfirmationId) -> Result<Confirmation, LoginError> {
    find_own(logins, visitor, id, ConfirmationState::Done).await?.ok_or(LoginError::Over)
}

async fn find_own(
    logins: &Logins,
    visitor: &Visitor,
    id: ConfirmationId,
    state: ConfirmationState,
) -> Result<Option<Confirmation>, LoginError> {
    let found = logins.ports.queries.find_confirmation(id).await?;
    let (user, session) = (visitor.user.id, visitor.session.id);
    Ok(found.filter(|found| found.user == user && found.session == session && found.state == state))
}
