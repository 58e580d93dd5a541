//! An action of the dashboard that waits for a one-time code.

use cais_domain::ids::{AccountId, ConfirmationId, SessionId, UserId};
use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_domain::text::{LineBreaks, Text};
use jiff::Timestamp;

/// An action that needs a second step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingAction {
    /// Creates an API key.
    CreateKey {
        /// The display name.
        name: Text,
        /// The scopes.
        scopes: Scopes,
        /// Days until the key expires.
        expires_in_days: Option<u32>,
    },
    /// Revokes an API key.
    RevokeKey {
        /// The public part of the key.
        prefix: KeyPrefix,
    },
}

impl PendingAction {
    /// Returns the name of the action, as in the audit log.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::CreateKey { .. } => "key.create",
            Self::RevokeKey { .. } => "key.revoke",
        }
    }

    /// Returns the terms of the action as the store holds them: one value per line.
    #[must_use]
    pub fn terms(&self) -> String {
        match self {
            Self::CreateKey { name, scopes, expires_in_days } => {
                let days = expires_in_days.map(|days| days.to_string()).unwrap_or_default();
                format!("{scopes}\n{days}\n{}", name.as_str())
            }
            Self::RevokeKey { prefix } => prefix.to_string(),
        }
    }

    /// Returns the action with this name and these terms.
    #[must_use]
    pub fn parse(kind: &str, terms: &str) -> Option<Self> {
        match kind {
            "key.create" => {
                let (scopes, rest) = terms.split_once('\n')?;
                let (days, name) = rest.split_once('\n')?;
                Some(Self::CreateKey {
                    name: Text::parse(name, usize::MAX, LineBreaks::Refused).ok()?,
                    scopes: Scopes::parse(scopes).ok()?,
                    expires_in_days: if days.is_empty() { None } else { Some(days.parse().ok()?) },
                })
            }
            "key.revoke" => Some(Self::RevokeKey { prefix: KeyPrefix::parse(terms).ok()? }),
            _ => None,
        }
    }
}

/// The state of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmationState {
    /// The code is missing.
    Open,
    /// The action was carried out.
    Done,
    /// Too many wrong codes ended it.
    Refused,
}

impl ConfirmationState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Refused];

    /// Returns the name in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    /// Returns the state with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// An action that waits for a one-time code, bound to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The identifier.
    pub id: ConfirmationId,
    /// The user who asked for the action.
    pub user: UserId,
    /// The account of a merchant.
    pub account: Option<AccountId>,
    /// The session in which the action began, and in which it must end.
    pub session: SessionId,
    /// The action.
    pub action: PendingAction,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The end of the time for the code.
    pub expires_at: Timestamp,
    /// The state.
    pub state: ConfirmationState,
    /// The number of wrong codes.
    pub wrong_codes: u32,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn actions_come_back_from_their_terms() {
        let name = |text| Text::parse(text, 100, LineBreaks::Refused).unwrap();
        for action in [
            PendingAction::CreateKey { name: name("caixa, loja"), scopes: Scopes::all(), expires_in_days: None },
            PendingAction::CreateKey { name: name(""), scopes: Scopes::all(), expires_in_days: Some(30) },
            PendingAction::RevokeKey { prefix: KeyPrefix::parse("ABCdef123456").unwrap() },
        ] {
            assert_eq!(PendingAction::parse(action.kind(), &action.terms()), Some(action));
        }
        for (kind, terms) in [("key.create", "all"), ("key.create", "all\nx\nname"), ("key.revoke", "-"), ("x", "")] {
            assert_eq!(PendingAction::parse(kind, terms), None, "{kind} {terms}");
        }
    }
}
