//! Sends a payout or a crypto withdrawal after its user confirmed it in the dashboard.
//!
//! Two commits follow each other. The first one is the approval: it uses the code and ends the confirmation. The second
//! one is the first commit of the order, as for an order of the API. The id of the confirmation names the idempotency key
//! of the order. So a repeat after a crash, and a form that is sent twice, create one order at most.

use cais_domain::charge::Origin;
use cais_domain::ids::{ConfirmationId, RequestId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_ports::{
    ChangeSet, CommitError, Confirmation, ConfirmationState, Fingerprint, IdempotencyRef, Operator, PendingAction,
    QueryError, ResponseKind, Session, SessionStage, Write,
};

use super::{Browser, LoginError, Logins, MAX_ATTEMPTS, Visitor, confirm, sessions};
use crate::Ports;
use crate::audit::{self, AuditedChange, escaped};
use crate::crypto::withdrawals::create as withdrawals;
use crate::crypto::withdrawals::create::{CreateWithdrawal, CreateWithdrawalError, NewWithdrawal};
use crate::payouts::create as payouts;
use crate::payouts::create::{CreatePayout, CreatePayoutError, NewPayout};
use crate::response::Response;

/// The largest sum of payouts that a session sends without a one-time code: R$ 1,000.00. Each code sets the sum to zero.
/// So a stolen session sends at most this amount. The Central Bank uses the same amount as its limit for Pix at night.
pub const LARGEST_WITHOUT_CODE: Money = Money::from_centavos(100_000);
/// The purpose of the keyed hash that identifies the terms of an order.
const TERMS_PURPOSE: &str = "dashboard-order";

/// The result of an approved order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentOrder {
    /// The public id of the order, which exists now.
    Created(String),
    /// The available balance does not cover the order. Nothing was created, and a repeat has the same result.
    NotCovered,
}

/// The reason for which an approved order was not sent. `E` are the errors of the order itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError<E> {
    /// The confirmation holds another kind of action, or the account does not exist.
    #[error("the confirmation holds no order of this kind")]
    OtherAction,
    /// The order was not created.
    #[error(transparent)]
    Order(E),
    /// A record could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Returns whether the action needs a one-time code in this session: all actions do, but for payouts whose sum since the
/// last code is at most [`LARGEST_WITHOUT_CODE`]. Sent coins cannot come back, so each withdrawal needs a code.
#[must_use]
pub fn needs_code(action: &PendingAction, session: &Session) -> bool {
    match action {
        PendingAction::SendPayout { amount, .. } => {
            session.sent_without_code.checked_add(*amount).map_or(true, |sum| sum > LARGEST_WITHOUT_CODE)
        }
        PendingAction::CreateKey { .. }
        | PendingAction::RevokeKey { .. }
        | PendingAction::ChangeAccount { .. }
        | PendingAction::SendWithdrawal { .. } => true,
    }
}

/// Returns an order that waits for its confirmation in this session, or was confirmed less than ten minutes after its
/// beginning.
///
/// # Errors
/// [`LoginError::Over`] if the session has no such order.
pub async fn find(logins: &Logins, visitor: &Visitor, id: ConfirmationId) -> Result<Confirmation, LoginError> {
    let now = logins.ports.clock.now();
    let found = logins.ports.queries.find_confirmation(id).await?.ok_or(LoginError::Over)?;
    let is_own = found.user == visitor.user.id && found.session == visitor.session.id;
    let is_usable = found.state != ConfirmationState::Refused && now < found.expires_at;
    if found.action.is_order() && is_own && is_usable { Ok(found) } else { Err(LoginError::Over) }
}

/// Approves an order, and returns its confirmation for [`send_payout`] or [`send_withdrawal`]. An approved order is
/// returned again without a code.
///
/// # Errors
/// [`LoginError::Refused`] for a wrong code, [`LoginError::Over`] after the last; others of [`LoginError`].
pub async fn approve(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    id: ConfirmationId,
    code: &str,
) -> Result<Confirmation, LoginError> {
    for _ in 0..MAX_ATTEMPTS {
        let visitor = sessions::reread(logins, &visitor.session).await?;
        if visitor.session.stage != SessionStage::Complete {
            return Err(LoginError::Over);
        }
        let confirmation = find(logins, &visitor, id).await?;
        if confirmation.state == ConfirmationState::Done {
            return Ok(confirmation);
        }
        if needs_code(&confirmation.action, &visitor.session) {
            match confirm::confirm(logins, browser, &visitor, id, code).await {
                // `Over`: the same form was sent twice, and the other request approved the order meanwhile.
                Ok(_) | Err(LoginError::Over) => continue,
                Err(error) => return Err(error),
            }
        }
        let mut change = approval(&logins.ports, &visitor.operator(browser), &confirmation);
        if let PendingAction::SendPayout { amount, .. } = &confirmation.action {
            let sent = visitor.session.sent_without_code.checked_add(*amount).map_err(|_| LoginError::Over)?;
            change.writes.push(Write::update(Session { sent_without_code: sent, ..visitor.session }));
        }
        change.writes.push(Write::update(Confirmation { state: ConfirmationState::Done, ..confirmation }));
        match logins.ports.store.commit(change).await {
            Ok(_) | Err(CommitError::Stale) => {}
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}

/// Returns the audit row of an approval, as a change.
pub(super) fn approval(ports: &Ports, operator: &Operator, confirmation: &Confirmation) -> ChangeSet {
    let mut change = ChangeSet::new(ports.clock.now());
    let terms = match &confirmation.action {
        PendingAction::SendPayout { amount, pix_key, .. } => {
            format!(r#"{{"amount":{amount},"pix_key":"{}"}}"#, escaped(pix_key.as_str()))
        }
        PendingAction::SendWithdrawal { amount, address, .. } => {
            format!(r#"{{"amount":{amount},"currency":"{}","address":"{address}"}}"#, address.currency())
        }
        PendingAction::CreateKey { .. } | PendingAction::RevokeKey { .. } | PendingAction::ChangeAccount { .. } => {
            return change;
        }
    };
    let audited = AuditedChange {
        action: confirmation.action.kind(),
        subject: confirmation.id.to_string(),
        account: confirmation.account,
        before: None,
        after: Some(terms.into_bytes()),
    };
    change.writes.push(audit::record(ports, operator, change.at, audited));
    change
}

/// Sends the payout of an approved confirmation, or returns the payout that an earlier call sent.
///
/// # Errors
/// [`SendError`].
pub async fn send_payout(
    ports: &Ports,
    confirmation: &Confirmation,
) -> Result<SentOrder, SendError<CreatePayoutError>> {
    let PendingAction::SendPayout { amount, pix_key, description, external_id } = confirmation.action.clone() else {
        return Err(SendError::OtherAction);
    };
    let Order { account, request, name, fingerprint } =
        Order::of(ports, confirmation).await?.ok_or(SendError::OtherAction)?;
    let (key, origin) = (name.key.clone(), Origin::Manual);
    let terms = NewPayout { amount, pix_key, recipient_document: None, description, external_id, origin };
    let command = CreatePayout { account, request, key, fingerprint, terms };
    let response = payouts::create(ports, command).await.map_err(SendError::Order)?;
    Ok(sent(ports, &name, &response).await?)
}

/// Sends the withdrawal of an approved confirmation at the current rate, or returns the withdrawal that an earlier call
/// sent.
///
/// # Errors
/// [`SendError`].
pub async fn send_withdrawal(
    ports: &Ports,
    confirmation: &Confirmation,
) -> Result<SentOrder, SendError<CreateWithdrawalError>> {
    let PendingAction::SendWithdrawal { amount, address, description, external_id } = confirmation.action.clone()
    else {
        return Err(SendError::OtherAction);
    };
    let Order { account, request, name, fingerprint } =
        Order::of(ports, confirmation).await?.ok_or(SendError::OtherAction)?;
    let (key, origin) = (name.key.clone(), Origin::Manual);
    let terms = NewWithdrawal { amount, address, description, external_id, origin, quote: None };
    let command = CreateWithdrawal { account, request, key, fingerprint, terms };
    let response = withdrawals::create(ports, command).await.map_err(SendError::Order)?;
    Ok(sent(ports, &name, &response).await?)
}

/// The parts of a request that do not depend on the kind of the order.
struct Order {
    account: Account,
    request: RequestId,
    name: IdempotencyRef,
    fingerprint: Fingerprint,
}

impl Order {
    /// Returns the parts for an approved confirmation; `None` for another state, or without an account.
    async fn of(ports: &Ports, confirmation: &Confirmation) -> Result<Option<Self>, QueryError> {
        let id = confirmation.account.filter(|_| confirmation.state == ConfirmationState::Done);
        let Some(id) = id else { return Ok(None) };
        let Some(account) = ports.queries.find_account(id).await? else { return Ok(None) };
        let Ok(key) = IdempotencyKey::parse(&format!("dashboard:{}", confirmation.id)) else { return Ok(None) };
        let text = format!("{}\n{}", confirmation.action.kind(), confirmation.action.terms());
        let fingerprint = Fingerprint(ports.keyed_hash.hash(TERMS_PURPOSE, text.as_bytes()).0);
        let (request, name) = (RequestId::new(ports.ids.next_uuid()), IdempotencyRef { account: id, key });
        Ok(Some(Self { account, request, name, fingerprint }))
    }
}

/// Returns the order behind a response. The record of the key names it.
async fn sent(ports: &Ports, name: &IdempotencyRef, response: &Response) -> Result<SentOrder, QueryError> {
    match response.kind {
        ResponseKind::InsufficientBalance => Ok(SentOrder::NotCovered),
        ResponseKind::Created | ResponseKind::Existing => {
            let record = ports.queries.find_idempotency_record(name).await?;
            let missing = || QueryError::Corrupt("an answered idempotency key has no record".to_owned());
            Ok(SentOrder::Created(record.ok_or_else(missing)?.resource))
        }
    }
}
