//! Sends a payout, a refund or a crypto withdrawal after the user has confirmed it in the dashboard.
//!
//! Two commits precede the request to the acquirer. The first commit is the approval: it ends the confirmation, and
//! uses the one-time code if the order needs one. The second commit stores the order, as for an order of the API.
//!
//! The idempotency key of the order is derived from the confirmation's id. So a repeat after a crash, or a form that is
//! sent twice, creates at most one order.

use cais_domain::charge::Origin;
use cais_domain::ids::{ConfirmationId, CryptoQuoteId, RequestId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_ports::{
    Actor, ChangeSet, CommitError, Confirmation, ConfirmationState, Fingerprint, IdempotencyRef, PendingAction,
    QueryError, ResponseKind, Session, SessionStage, Write,
};

use super::{Browser, LoginError, Logins, MAX_ATTEMPTS, Visitor, confirm, sessions};
use crate::Ports;
use crate::audit::{self, AuditedChange, Fields};
use crate::charges::ChargeName;
use crate::crypto::withdrawals::create as withdrawals;
use crate::crypto::withdrawals::create::{CreateWithdrawal, CreateWithdrawalError, NewWithdrawal};
use crate::payouts::create as payouts;
use crate::payouts::create::{CreatePayout, CreatePayoutError, NewPayout};
use crate::refunds::create as refunds;
use crate::refunds::create::{CreateRefund, CreateRefundError, RequestedRefund};
use crate::response::Response;

/// The largest sum of payouts and refunds that a session can send without a one-time code: R$ 1,000.00. Each code
/// resets the sum to zero. So a thief with a stolen session can send at most this amount. The amount is the Central
/// Bank's limit for Pix at night.
pub const LARGEST_WITHOUT_CODE: Money = Money::from_centavos(100_000);
/// The `purpose` argument of the keyed hash that identifies the terms of an order.
const TERMS_PURPOSE: &str = "dashboard-order";

/// The result of sending an approved order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentOrder {
    /// The order exists, since this call or an earlier one. The value is its public id.
    Created(String),
    /// The available balance does not cover the order. No order was created, and a repeat has the same result.
    NotCovered,
}

/// The reason why an approved order was not sent. `E` is the error of the order's creation, for example
/// [`CreatePayoutError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError<E> {
    /// The confirmation contains another kind of action or is not approved, or its account does not exist.
    #[error("the confirmation contains no order of this kind")]
    OtherAction,
    /// The order was not created.
    #[error(transparent)]
    Order(E),
    /// A record could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Returns whether the action needs a one-time code in this session. A payout or refund needs none if the sum since the
/// last code, including this action, is at most [`LARGEST_WITHOUT_CODE`]. All other actions need one.
#[must_use]
pub fn needs_code(action: &PendingAction, session: &Session) -> bool {
    sum_with(action, session).is_none_or(|sum| sum > LARGEST_WITHOUT_CODE)
}

/// Returns the sum of this action and of all that the session has sent since its last code. Returns `None` for an
/// action that always needs a code. Coins that were sent cannot be returned, so each withdrawal needs a code.
fn sum_with(action: &PendingAction, session: &Session) -> Option<Money> {
    match action {
        PendingAction::SendPayout { amount, .. } | PendingAction::SendRefund { amount, .. } => {
            session.sent_without_code.checked_add(*amount).ok()
        }
        PendingAction::CreateKey { .. }
        | PendingAction::RevokeKey { .. }
        | PendingAction::RotateSecret { .. }
        | PendingAction::MoveEndpoint { .. }
        | PendingAction::RenewRecoveryCodes
        | PendingAction::ChangeAccount { .. }
        | PendingAction::Decide { .. }
        | PendingAction::SendWithdrawal { .. } => None,
    }
}

/// Returns the confirmation of an order, if the order was begun in this session less than ten minutes ago. The
/// confirmation is open or approved.
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

/// Approves an order, and returns its confirmation for [`send_payout`], [`send_refund`] or [`send_withdrawal`]. If the
/// order is already approved, no code is needed, and the confirmation is returned again.
///
/// # Errors
/// [`LoginError::CodeNeeded`] for a missing code, [`LoginError::Refused`] for a wrong code, [`LoginError::LastCode`]
/// for the last permitted wrong code, and other variants of [`LoginError`].
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
                // `Over`: another request with the same form may have approved the order, so the order is read again.
                Ok(_) | Err(LoginError::Over) => continue,
                Err(error) => return Err(error),
            }
        }
        let mut change = approval(&logins.ports, &visitor.actor(browser), &confirmation);
        if let Some(sum) = sum_with(&confirmation.action, &visitor.session) {
            change.writes.push(Write::update(Session { sent_without_code: sum, ..visitor.session }));
        }
        change.writes.push(Write::update(Confirmation { state: ConfirmationState::Done, ..confirmation }));
        match logins.ports.store.commit(change).await {
            Ok(_) | Err(CommitError::Stale) => {}
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}

/// Returns a change set with the audit row of the approval. For an action that is no order, the change set is empty.
pub(super) fn approval(ports: &Ports, actor: &Actor, confirmation: &Confirmation) -> ChangeSet {
    let mut change = ChangeSet::new(ports.clock.now());
    let terms = match &confirmation.action {
        PendingAction::SendPayout { amount, pix_key, .. } => {
            Fields::new().money("amount", *amount).text("pix_key", pix_key.as_str())
        }
        PendingAction::SendRefund { charge, payment, amount, .. } => {
            let fields = Fields::new().money("amount", *amount).text("charge_id", charge);
            fields.nullable_text("end_to_end_id", payment.as_ref())
        }
        PendingAction::SendWithdrawal { amount, address, .. } => {
            let fields = Fields::new().money("amount", *amount).text("currency", address.currency());
            fields.text("address", address)
        }
        PendingAction::CreateKey { .. }
        | PendingAction::RevokeKey { .. }
        | PendingAction::RotateSecret { .. }
        | PendingAction::MoveEndpoint { .. }
        | PendingAction::RenewRecoveryCodes
        | PendingAction::ChangeAccount { .. }
        | PendingAction::Decide { .. } => return change,
    };
    let audited = AuditedChange {
        action: confirmation.action.kind(),
        subject: confirmation.id.to_string(),
        account: confirmation.account,
        before: None,
        after: Some(terms.into_json()),
    };
    change.writes.push(audit::record(ports, actor, change.at, audited));
    change
}

/// Sends the payout of an approved confirmation. If an earlier call has sent the payout, returns that payout.
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
    let OrderContext { account, request, name, fingerprint } =
        OrderContext::of(ports, confirmation).await?.ok_or(SendError::OtherAction)?;
    let (key, origin) = (name.key.clone(), Origin::Manual);
    let terms = NewPayout { amount, pix_key, recipient_document: None, description, external_id, origin };
    let command = CreatePayout { account, request, key, fingerprint, terms };
    let response = payouts::create(ports, command).await.map_err(SendError::Order)?;
    Ok(sent(ports, &name, &response).await?)
}

/// Sends the refund of an approved confirmation. If an earlier call has sent the refund, returns that refund.
///
/// # Errors
/// [`SendError`].
pub async fn send_refund(
    ports: &Ports,
    confirmation: &Confirmation,
) -> Result<SentOrder, SendError<CreateRefundError>> {
    let PendingAction::SendRefund { charge, payment, amount, reason } = confirmation.action.clone() else {
        return Err(SendError::OtherAction);
    };
    let OrderContext { account, request, name, fingerprint } =
        OrderContext::of(ports, confirmation).await?.ok_or(SendError::OtherAction)?;
    let (charge, key) = (ChargeName::Id(charge), name.key.clone());
    let terms = RequestedRefund { charge, end_to_end_id: payment, amount: Some(amount), reason, external_id: None };
    let command = CreateRefund { account, request, key, fingerprint, terms };
    let response = refunds::create(ports, command).await.map_err(SendError::Order)?;
    Ok(sent(ports, &name, &response).await?)
}

/// Sends the withdrawal of an approved confirmation at the price of `quote`. If an earlier call has sent the
/// withdrawal, returns that withdrawal.
///
/// # Errors
/// [`SendError`].
pub async fn send_withdrawal(
    ports: &Ports,
    confirmation: &Confirmation,
    quote: CryptoQuoteId,
) -> Result<SentOrder, SendError<CreateWithdrawalError>> {
    let PendingAction::SendWithdrawal { amount, address, description, external_id } = confirmation.action.clone()
    else {
        return Err(SendError::OtherAction);
    };
    let OrderContext { account, request, name, fingerprint } =
        OrderContext::of(ports, confirmation).await?.ok_or(SendError::OtherAction)?;
    let (key, origin) = (name.key.clone(), Origin::Manual);
    let terms = NewWithdrawal { amount, address, description, external_id, origin, quote: Some(quote) };
    let command = CreateWithdrawal { account, request, key, fingerprint, terms };
    let response = withdrawals::create(ports, command).await.map_err(SendError::Order)?;
    Ok(sent(ports, &name, &response).await?)
}

/// The parts of a request that do not depend on the kind of the order.
struct OrderContext {
    account: Account,
    request: RequestId,
    name: IdempotencyRef,
    fingerprint: Fingerprint,
}

impl OrderContext {
    /// Returns the context of an approved confirmation. Returns `None` if the confirmation is not approved or has no
    /// account.
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

/// Returns the result that follows from the response. The id of the order is read from the idempotency record.
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
