//! The second step of an action: the user enters a new one-time code. A single commit uses the code, executes the
//! action and writes the audit row.

use cais_domain::ids::{AccountId, ConfirmationId, EndpointId};
use cais_domain::login::Code;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::merchant::webhook::{Endpoint, EndpointChange};
use cais_domain::money::Money;
use cais_ports::{
    ChangeSet, CommitError, Confirmation, ConfirmationState, PendingAction, Role, SecretHash, Session, SessionStage,
    SigningSecret, Totp, User, Write,
};

use super::{begin, decide};
use crate::Ports;
use crate::accounts::update;
use crate::infractions::resolve::Resolved;
use crate::keys::create::{self, CreatedKey, KeyTerms};
use crate::keys::revoke;
use crate::logins::{
    Browser, LoginError, Logins, MAX_ATTEMPTS, MAX_WRONG_CODES, Visitor, log_wrong_code, orders, recovery_codes,
    sessions,
};
use crate::webhooks::{change as move_endpoint, rotate};

/// The result of a confirmed action.
#[derive(Debug, Clone)]
pub enum Confirmed {
    /// A key was created. Its secret cannot be read later.
    Created(Box<CreatedKey>),
    /// A key was revoked. This node refuses the key at once if `KeyRing::forget` is called.
    Revoked(KeyPrefix),
    /// The secret of an endpoint was replaced. The new secret is available only here.
    SecretRotated(Box<(Endpoint, SigningSecret)>),
    /// The URL of an endpoint was changed.
    EndpointMoved(EndpointId),
    /// The recovery codes of the user were replaced. The new codes are available only here.
    RecoveryCodesRenewed(Vec<String>),
    /// An order was approved. `logins::orders` sends it.
    Approved,
    /// An account was changed.
    AccountChanged(AccountId),
    /// An infraction was resolved.
    InfractionResolved(Box<Resolved>),
    /// A crypto withdrawal or payment was resolved.
    CryptoResolved,
}

/// Checks the code and executes the action. The code must be newer than the last used code. So the code of the login
/// does not confirm an action, and each code confirms one action. The fifth wrong code ends the confirmation.
///
/// # Errors
/// [`LoginError::CodeNeeded`] for an empty code, [`LoginError::Refused`] for a wrong code, [`LoginError::LastCode`] for
/// the last permitted wrong code, and other variants of [`LoginError`].
pub async fn confirm(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    id: ConfirmationId,
    text: &str,
) -> Result<Confirmed, LoginError> {
    let ports = &logins.ports;
    if text.trim().is_empty() {
        return Err(LoginError::CodeNeeded);
    }
    // A thief of the session could begin any number of confirmations, each with its own limit of wrong codes. So
    // attempts are also limited per user.
    let user = visitor.user.id.to_string();
    if !logins.throttle.take(&user, browser.address, ports.clock.now()) {
        tracing::warn!(%user, client = %browser.address_text(), "action refused; too many attempts");
        return Err(LoginError::Throttled);
    }
    for _ in 0..MAX_ATTEMPTS {
        let visitor = sessions::reread(logins, &visitor.session).await?;
        let confirmation = begin::find(logins, &visitor, id).await?;
        let now = ports.clock.now();
        let Totp::Enrolled { secret, last_step, mut recovery } = visitor.user.totp.clone() else {
            return Err(LoginError::Over);
        };
        if visitor.session.stage != SessionStage::Complete {
            return Err(LoginError::Over);
        }
        let opened =
            ports.secret_cipher.decrypt(&visitor.user.id.to_string(), &secret).map_err(|_| LoginError::Secret)?;
        let step = Code::parse(text).and_then(|code| logins.accept(now, &opened, Some(last_step), code));
        let Some(step) = step else {
            let action = confirmation.action.kind();
            let (change, error) = wrong_code(confirmation, now);
            match ports.store.commit(change).await {
                Err(CommitError::Stale) => continue,
                outcome => outcome.map_err(LoginError::Store)?,
            };
            log_wrong_code(action, visitor.user.id, browser, &error);
            return Err(error);
        };
        let (confirmed, mut change) = carry_out(logins, browser, &visitor, &confirmation, &mut recovery).await?;
        let totp = Totp::Enrolled { secret, last_step: step, recovery };
        change.writes.push(Write::update(User { totp, ..visitor.user }));
        change.writes.push(Write::update(Confirmation { state: ConfirmationState::Done, ..confirmation }));
        if !visitor.session.sent_without_code.is_zero() {
            change.writes.push(Write::update(Session { sent_without_code: Money::ZERO, ..visitor.session }));
        }
        match ports.store.commit(change).await {
            Ok(_) => {
                logins.throttle.restore(&user);
                if let Confirmed::InfractionResolved(resolved) = &confirmed {
                    resolved.alert();
                }
                return Ok(confirmed);
            }
            Err(CommitError::Stale) => {}
            // Another endpoint of the account has taken the new URL since the first step.
            Err(CommitError::Taken { .. }) => return Err(LoginError::Over),
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}

/// Returns the result of the action, and its changes. New recovery codes replace `recovery`.
async fn carry_out(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    confirmation: &Confirmation,
    recovery: &mut Vec<SecretHash>,
) -> Result<(Confirmed, ChangeSet), LoginError> {
    let ports = &logins.ports;
    let actor = visitor.actor(browser);
    let own_account = || visitor.user.role.account().ok_or(LoginError::Over);
    match &confirmation.action {
        PendingAction::CreateKey { name, scopes, expires_in_days, allowed_addresses } => {
            let account = writer(ports, visitor).await?.id;
            let blocks = allowed_addresses.iter().map(|block| create::parse_block(block)).collect::<Option<Vec<_>>>();
            let terms = KeyTerms {
                name: name.clone(),
                scopes: *scopes,
                expires_in_days: *expires_in_days,
                // If invalid blocks were left out, the list could become empty and permit all addresses. So one invalid
                // block refuses the key.
                allowed_addresses: blocks.ok_or(LoginError::Over)?,
            };
            let (created, change) = create::prepare(ports, &actor, account, terms).map_err(|_| LoginError::Over)?;
            Ok((Confirmed::Created(Box::new(created)), change))
        }
        PendingAction::ChangeAccount { account, seen, change } => {
            if visitor.user.role != Role::Operator {
                return Err(LoginError::Over);
            }
            // A form that was shown before the change of another operator must not undo that change.
            let found = ports.queries.find_account(*account).await?.filter(|found| found.version == *seen);
            let account = found.ok_or(LoginError::Over)?;
            let changed = change.apply(account.clone());
            let stored = update::prepare(ports, (&actor, change.name()), &account, &changed);
            Ok((Confirmed::AccountChanged(account.id), stored))
        }
        PendingAction::Decide { decision, note } => {
            if visitor.user.role != Role::Operator {
                return Err(LoginError::Over);
            }
            Ok(decide::prepare(ports, &actor, decision, note).await?)
        }
        PendingAction::RotateSecret { endpoint, grace_s } => {
            let account = writer(ports, visitor).await?.id;
            let found = ports.queries.find_endpoint(account, *endpoint).await?.ok_or(LoginError::Over)?;
            let (rotated, change) =
                rotate::prepare(ports, Some(&actor), &found, *grace_s).map_err(|_| LoginError::Over)?;
            Ok((Confirmed::SecretRotated(Box::new(rotated)), change))
        }
        PendingAction::MoveEndpoint { endpoint, url, subscription, description } => {
            let account = writer(ports, visitor).await?.id;
            let found = ports.queries.find_endpoint(account, *endpoint).await?.ok_or(LoginError::Over)?;
            let requested = EndpointChange {
                url: Some(url.clone()),
                subscription: Some(subscription.clone()),
                description: Some(description.clone()),
                active: None,
            };
            let moved = move_endpoint::prepare(ports, Some(&actor), &found, requested).map_err(|_| LoginError::Over)?;
            Ok((
                Confirmed::EndpointMoved(*endpoint),
                moved.map_or_else(|| ChangeSet::new(ports.clock.now()), |(_, change)| change),
            ))
        }
        PendingAction::RenewRecoveryCodes => {
            let (codes, hashes) = recovery_codes::draw(logins);
            *recovery = hashes;
            let mut change = ChangeSet::new(ports.clock.now());
            change.writes.push(recovery_codes::renewal(logins, browser, visitor, change.at));
            Ok((Confirmed::RecoveryCodesRenewed(codes), change))
        }
        PendingAction::RevokeKey { prefix } => {
            let account = own_account()?;
            let found = ports.queries.find_key(prefix).await?;
            let (key, _) =
                found.filter(|(key, _)| key.account == account && key.revoked_at.is_none()).ok_or(LoginError::Over)?;
            let (_, change) = revoke::prepare(ports, &actor, &key);
            Ok((Confirmed::Revoked(prefix.clone()), change))
        }
        PendingAction::SendPayout { .. } | PendingAction::SendRefund { .. } | PendingAction::SendWithdrawal { .. } => {
            Ok((Confirmed::Approved, orders::approval(ports, &actor, confirmation)))
        }
    }
}

/// Returns the account of the visitor, if the account may write.
async fn writer(ports: &Ports, visitor: &Visitor) -> Result<Account, LoginError> {
    let account = visitor.user.role.account().ok_or(LoginError::Over)?;
    let account = ports.queries.find_account(account).await?.ok_or(LoginError::Over)?;
    account.permit_write().map_err(|_| LoginError::Over)?;
    Ok(account)
}

fn wrong_code(confirmation: Confirmation, now: jiff::Timestamp) -> (ChangeSet, LoginError) {
    let wrong_codes = confirmation.wrong_codes.saturating_add(1);
    let is_last = wrong_codes >= MAX_WRONG_CODES;
    let state = if is_last { ConfirmationState::Refused } else { ConfirmationState::Open };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(Confirmation { wrong_codes, state, ..confirmation }));
    (change, if is_last { LoginError::LastCode } else { LoginError::Refused })
}
