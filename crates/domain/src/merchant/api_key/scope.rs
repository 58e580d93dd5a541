//! The permissions of an API key.

use std::fmt;

named! {
    /// A permission of an API key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// List and read charges and their refunds.
        ChargesRead = "charges:read",
        /// Create, cancel and refund charges.
        ChargesWrite = "charges:write",
        /// List and read payouts.
        PayoutsRead = "payouts:read",
        /// Create payouts.
        PayoutsWrite = "payouts:write",
        /// List and read the transactions of the timeline.
        TransactionsRead = "transactions:read",
        /// Read the balance and the statement.
        BalanceRead = "balance:read",
        /// List and read infractions.
        InfractionsRead = "infractions:read",
        /// Submit defenses against infractions.
        InfractionsWrite = "infractions:write",
        /// Read crypto currencies, quotes, deposits and withdrawals.
        CryptoRead = "crypto:read",
        /// Create crypto quotes, deposits and withdrawals.
        CryptoWrite = "crypto:write",
        /// Read webhook endpoints and deliveries.
        WebhooksRead = "webhooks:read",
        /// Register, change, test and delete webhook endpoints, and resend events.
        WebhooksWrite = "webhooks:write",
        /// Read events.
        EventsRead = "events:read",
    }
}

/// The reason a list of scopes is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The list is empty.
    #[error("at least one scope is needed")]
    Empty,
    /// A name is not a scope.
    #[error("`{0}` is not a scope; use only `all` or any of {names}", names = Scope::ALL.map(Scope::as_str).join(", "))]
    Unknown(String),
}

impl Scope {
    const fn bit(self) -> u16 {
        match self {
            Self::ChargesRead => 1,
            Self::ChargesWrite => 1 << 1,
            Self::PayoutsRead => 1 << 2,
            Self::PayoutsWrite => 1 << 3,
            Self::TransactionsRead => 1 << 4,
            Self::BalanceRead => 1 << 5,
            Self::InfractionsRead => 1 << 6,
            Self::InfractionsWrite => 1 << 7,
            Self::CryptoRead => 1 << 8,
            Self::CryptoWrite => 1 << 9,
            Self::WebhooksRead => 1 << 10,
            Self::WebhooksWrite => 1 << 11,
            Self::EventsRead => 1 << 12,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u16);

impl Scopes {
    /// Returns the set of all scopes.
    #[must_use]
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Parses the text `all`, or a list of scopes such as `charges:read,balance:read`. Blanks around a name are
    /// ignored.
    ///
    /// # Errors
    /// [`ScopeError`] for an empty list or an unknown name.
    pub fn parse(text: &str) -> Result<Self, ScopeError> {
        match text.trim() {
            "" => Err(ScopeError::Empty),
            "all" => Ok(Self::all()),
            list => list
                .split(',')
                .map(|name| Scope::parse(name.trim()).ok_or_else(|| ScopeError::Unknown(name.trim().to_owned())))
                .collect(),
        }
    }

    /// Returns whether the set contains the scope.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the scopes in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

/// Formats the names of the scopes, separated by commas. [`Scopes::parse`] reads this format, unless the set is empty.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
