//! The e-mail address that identifies an account.

use std::fmt;

/// The maximum length of an address, in characters. The API accepts the e-mail of a split recipient up to the same
/// length, so that every account can be a recipient.
const MAX_CHARS: usize = 200;

/// An e-mail address in lower case: `local@domain`, with a dot in the domain, at most 200 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountEmail(String);

/// The reason why a text is not the e-mail address of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address such as shop@example.com, at most 200 characters")]
pub struct AccountEmailError;

impl AccountEmail {
    /// Removes outer white space, changes the text to lower case, and checks the address.
    ///
    /// # Errors
    /// [`AccountEmailError`], whose text states the rule.
    pub fn parse(text: &str) -> Result<Self, AccountEmailError> {
        let folded = text.trim().to_lowercase();
        let (local, domain) = folded.split_once('@').ok_or(AccountEmailError)?;
        let plain = |part: &str| {
            !part.is_empty()
                && !part
                    .contains(|character: char| character.is_whitespace() || character.is_control() || character == '@')
        };
        let domain_is_good = domain.contains('.') && domain.split('.').all(plain);
        if plain(local) && domain_is_good && folded.chars().nth(MAX_CHARS).is_none() {
            Ok(Self(folded))
        } else {
            Err(AccountEmailError)
        }
    }

    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountEmail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::AccountEmail;

    #[test]
    fn address_is_changed_to_lower_case_and_checked() {
        for (text, expected) in [
            ("Shop@Example.COM", Some("shop@example.com")),
            (" a@b.co ", Some("a@b.co")),
            ("a@b", None),
            ("@b.co", None),
            ("a@b..co", None),
            ("a@b@c.co", None),
            ("a b@c.co", None),
            ("", None),
        ] {
            let read = AccountEmail::parse(text).ok();
            assert_eq!(read.as_ref().map(AccountEmail::as_str), expected, "{text}");
        }
        assert!(AccountEmail::parse(&format!("{}@b.co", "a".repeat(200))).is_err());
    }
}
