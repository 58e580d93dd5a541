//! An action of the dashboard that waits for a one-time code.

use cais_domain::crypto::{Address, Currency};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId, ConfirmationId, EndpointId, SessionId, UserId};
use cais_domain::merchant::account_change::AccountChange;
use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_domain::merchant::webhook::{Subscription, WebhookUrl};
use cais_domain::money::Money;
use cais_domain::pix_key::{PixKey, PixKeyType};
use cais_domain::review_decision::{ReviewDecision, parse_note};
use cais_domain::text::{LineBreaks, Text};
use jiff::Timestamp;

/// An action that may need a one-time code before it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingAction {
    /// Creates an API key.
    CreateKey {
        /// The display name.
        name: Text,
        /// The permissions of the key.
        scopes: Scopes,
        /// The days until the key expires. `None` if the key does not expire.
        expires_in_days: Option<u32>,
        /// The CIDR blocks from which the key is accepted. If empty, all addresses are permitted.
        allowed_addresses: Vec<String>,
    },
    /// Revokes an API key.
    RevokeKey {
        /// The public part of the key.
        prefix: KeyPrefix,
    },
    /// Replaces the secret of a webhook endpoint, and shows the new one.
    RotateSecret {
        /// The endpoint.
        endpoint: EndpointId,
        /// The seconds for which webhooks are also signed with the previous secret.
        grace_s: u32,
    },
    /// Changes the address of a webhook endpoint, together with its subscription and display name.
    MoveEndpoint {
        /// The endpoint.
        endpoint: EndpointId,
        /// The new address.
        url: WebhookUrl,
        /// The new subscription.
        subscription: Subscription,
        /// The new display name, never empty. `None` removes the display name.
        description: Option<Text>,
    },
    /// Replaces the recovery codes of the user, and shows the new ones.
    RenewRecoveryCodes,
    /// Sends a payout.
    SendPayout {
        /// The amount that the recipient receives.
        amount: Money,
        /// The Pix key of the recipient.
        pix_key: PixKey,
        /// The text that the recipient sees, never empty.
        description: Option<Text>,
        /// The merchant's own id of the payout.
        external_id: Option<ExternalId>,
    },
    /// Refunds a payment of a charge.
    SendRefund {
        /// The charge of the payment.
        charge: ChargeId,
        /// The payment. `None` stands for the payment that paid the charge.
        payment: Option<EndToEndId>,
        /// The amount that the payer receives.
        amount: Money,
        /// The text that the payer sees, never empty.
        reason: Option<Text>,
    },
    /// Sends a crypto withdrawal.
    SendWithdrawal {
        /// The amount that is converted to coins.
        amount: Money,
        /// The recipient's address, which decides the currency.
        address: Address,
        /// Free text for the merchant's own use, never empty.
        description: Option<Text>,
        /// The merchant's own id of the withdrawal.
        external_id: Option<ExternalId>,
    },
    /// Changes an account. Only operators can do so.
    ChangeAccount {
        /// The account to change.
        account: AccountId,
        /// The version of the account that the operator saw. At another version the change is not made.
        seen: i64,
        /// The change.
        change: AccountChange,
    },
    /// Decides on a record in review. Only operators can do so.
    Decide {
        /// The decision.
        decision: ReviewDecision,
        /// The reason of the decision, for the audit log.
        note: Text,
    },
}

impl PendingAction {
    /// Returns the name of the action. The audit log uses the same name.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::CreateKey { .. } => "key.create",
            Self::RevokeKey { .. } => "key.revoke",
            Self::RotateSecret { .. } => "webhook_endpoint.rotate_secret",
            Self::MoveEndpoint { .. } => "webhook_endpoint.change",
            Self::RenewRecoveryCodes => "user.renew_recovery_codes",
            Self::SendPayout { .. } => "payout.send",
            Self::SendRefund { .. } => "refund.send",
            Self::SendWithdrawal { .. } => "crypto_withdrawal.send",
            Self::ChangeAccount { change, .. } => change.name(),
            Self::Decide { decision, .. } => decision.name(),
        }
    }

    /// Returns whether the action sends money.
    #[must_use]
    pub const fn is_order(&self) -> bool {
        match self {
            Self::SendPayout { .. } | Self::SendRefund { .. } | Self::SendWithdrawal { .. } => true,
            Self::CreateKey { .. }
            | Self::RevokeKey { .. }
            | Self::RotateSecret { .. }
            | Self::MoveEndpoint { .. }
            | Self::RenewRecoveryCodes
            | Self::ChangeAccount { .. }
            | Self::Decide { .. } => false,
        }
    }

    /// Returns the terms of the action in their stored form: one line per value. Only the last value may have line
    /// breaks.
    #[must_use]
    pub fn terms(&self) -> String {
        match self {
            Self::CreateKey { name, scopes, expires_in_days, allowed_addresses } => {
                let days = expires_in_days.map(|days| days.to_string()).unwrap_or_default();
                format!("{scopes}\n{days}\n{}\n{}", allowed_addresses.join(","), name.as_str())
            }
            Self::RevokeKey { prefix } => prefix.to_string(),
            Self::RotateSecret { endpoint, grace_s } => format!("{endpoint}\n{grace_s}"),
            Self::MoveEndpoint { endpoint, url, subscription, description } => {
                let (names, text) = (subscription.names().join(","), description.as_ref().map(Text::as_str));
                // The description may have line breaks, so its place is the last one.
                format!("{endpoint}\n{url}\n{names}\n{}", text.unwrap_or_default())
            }
            Self::RenewRecoveryCodes => String::new(),
            Self::SendPayout { amount, pix_key, description, external_id } => {
                let (kind, free) = (pix_key.key_type(), free_terms(external_id.as_ref(), description.as_ref()));
                format!("{amount}\n{kind}\n{pix_key}\n{free}")
            }
            Self::SendRefund { charge, payment, amount, reason } => {
                let payment = payment.as_ref().map(ToString::to_string).unwrap_or_default();
                // The reason may have line breaks, so its place is the last one.
                format!("{charge}\n{payment}\n{amount}\n{}", reason.as_ref().map(Text::as_str).unwrap_or_default())
            }
            Self::SendWithdrawal { amount, address, description, external_id } => {
                let (currency, free) = (address.currency(), free_terms(external_id.as_ref(), description.as_ref()));
                format!("{amount}\n{currency}\n{address}\n{free}")
            }
            Self::ChangeAccount { account, seen, change } => format!("{account}\n{seen}\n{}", change.terms()),
            Self::Decide { decision, note } => format!("{}\n{}", decision.terms(), note.as_str()),
        }
    }

    /// Returns the action with this name and these terms. Returns `None` if the name is unknown or a term is invalid.
    #[must_use]
    pub fn parse(kind: &str, terms: &str) -> Option<Self> {
        match kind {
            "key.create" => {
                let (scopes, rest) = terms.split_once('\n')?;
                let (days, rest) = rest.split_once('\n')?;
                let (blocks, name) = rest.split_once('\n')?;
                Some(Self::CreateKey {
                    name: Text::parse(name, usize::MAX, LineBreaks::Refused).ok()?,
                    scopes: Scopes::parse(scopes).ok()?,
                    expires_in_days: if days.is_empty() { None } else { Some(days.parse().ok()?) },
                    allowed_addresses: blocks.split(',').filter(|block| !block.is_empty()).map(str::to_owned).collect(),
                })
            }
            "key.revoke" => Some(Self::RevokeKey { prefix: KeyPrefix::parse(terms).ok()? }),
            "webhook_endpoint.rotate_secret" => {
                let (endpoint, grace_s) = terms.split_once('\n')?;
                Some(Self::RotateSecret { endpoint: EndpointId::parse(endpoint).ok()?, grace_s: grace_s.parse().ok()? })
            }
            "webhook_endpoint.change" => {
                let mut parts = terms.splitn(4, '\n');
                let (endpoint, url) = (EndpointId::parse(parts.next()?).ok()?, WebhookUrl::parse(parts.next()?).ok()?);
                let subscription = Subscription::parse(parts.next()?.split(',')).ok()?;
                let description = match parts.next()? {
                    "" => None,
                    text => Some(Text::parse(text, usize::MAX, LineBreaks::Allowed).ok()?),
                };
                Some(Self::MoveEndpoint { endpoint, url, subscription, description })
            }
            "user.renew_recovery_codes" => terms.is_empty().then_some(Self::RenewRecoveryCodes),
            "payout.send" => {
                let OrderTerms { amount, kind, to, external_id, description } = OrderTerms::parse(terms)?;
                let pix_key = PixKey::parse_as(to, PixKeyType::parse(kind)?).ok()?;
                Some(Self::SendPayout { amount, pix_key, description, external_id })
            }
            "refund.send" => {
                let mut parts = terms.splitn(4, '\n');
                let (charge, payment) = (ChargeId::parse(parts.next()?).ok()?, parts.next()?);
                let (amount, reason) = (Money::parse(parts.next()?).ok()?, parts.next()?);
                let payment = if payment.is_empty() { None } else { Some(EndToEndId::parse(payment).ok()?) };
                let reason = match reason {
                    "" => None,
                    text => Some(Text::parse(text, usize::MAX, LineBreaks::Allowed).ok()?),
                };
                Some(Self::SendRefund { charge, payment, amount, reason })
            }
            "crypto_withdrawal.send" => {
                let OrderTerms { amount, kind, to, external_id, description } = OrderTerms::parse(terms)?;
                let address = Address::parse(Currency::parse(kind).ok()?, to).ok()?;
                Some(Self::SendWithdrawal { amount, address, description, external_id })
            }
            "infraction.resolve" | "crypto_withdrawal.resolve" | "crypto_payment.resolve" => {
                let (terms, note) = terms.rsplit_once('\n')?;
                Some(Self::Decide { decision: ReviewDecision::parse(kind, terms)?, note: parse_note(note).ok()? })
            }
            _ => {
                let (account, terms) = terms.split_once('\n')?;
                let (seen, terms) = terms.split_once('\n')?;
                let (account, change) = (AccountId::parse(account).ok()?, AccountChange::parse(kind, terms)?);
                Some(Self::ChangeAccount { account, seen: seen.parse().ok()?, change })
            }
        }
    }
}

/// Returns the external id and the description of an order as two lines. The line of an absent value is empty.
fn free_terms(external_id: Option<&ExternalId>, description: Option<&Text>) -> String {
    let external_id = external_id.map(ExternalId::as_str).unwrap_or_default();
    format!("{external_id}\n{}", description.map(Text::as_str).unwrap_or_default())
}

/// The stored terms of a payout or crypto withdrawal, one per line.
struct OrderTerms<'t> {
    amount: Money,
    /// The kind of the Pix key, or the currency.
    kind: &'t str,
    /// The Pix key, or the address.
    to: &'t str,
    external_id: Option<ExternalId>,
    description: Option<Text>,
}

impl<'t> OrderTerms<'t> {
    fn parse(terms: &'t str) -> Option<Self> {
        let mut lines = terms.split('\n');
        let (amount, kind, to) = (Money::parse(lines.next()?).ok()?, lines.next()?, lines.next()?);
        let external_id = match lines.next()? {
            "" => None,
            text => Some(ExternalId::parse(text).ok()?),
        };
        let description = match lines.next()? {
            "" => None,
            text => Some(Text::parse(text, usize::MAX, LineBreaks::Refused).ok()?),
        };
        if lines.next().is_some() { None } else { Some(Self { amount, kind, to, external_id, description }) }
    }
}

cais_domain::named! {
    /// The state of a confirmation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ConfirmationState {
        /// The action is not confirmed yet.
        Open = "open",
        /// The action was executed, or an order was approved. An approved order is sent in a second step.
        Done = "done",
        /// Too many wrong codes were entered.
        Refused = "refused",
    }
}

/// An action that waits for a one-time code in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The identifier.
    pub id: ConfirmationId,
    /// The user who requested the action.
    pub user: UserId,
    /// The account of the user. `None` for an operator.
    pub account: Option<AccountId>,
    /// The session in which the action was requested. The code must be entered in the same session.
    pub session: SessionId,
    /// The action that the right code executes.
    pub action: PendingAction,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The instant until which the code can be entered.
    pub expires_at: Timestamp,
    /// The state.
    pub state: ConfirmationState,
    /// The number of wrong codes.
    pub wrong_codes: u32,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

#[cfg(test)]
mod tests;
