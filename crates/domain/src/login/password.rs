//! The rules of a new password.

/// The minimum number of characters in a password.
pub const MIN_CHARS: usize = 12;
/// The maximum number of characters in a password. The maximum limits the work of hashing.
pub const MAX_CHARS: usize = 200;

/// The reason why a password is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The password has too few characters.
    #[error("a password must have at least {MIN_CHARS} characters")]
    TooShort,
    /// The password has too many characters.
    #[error("a password must have at most {MAX_CHARS} characters")]
    TooLong,
    /// The password contains the e-mail, or consists of one repeated character.
    #[error("the password is too easy to guess")]
    Guessable,
}

/// Checks a new password of the user whose e-mail is `email`.
///
/// # Errors
/// [`PasswordError`] with the violated rule.
pub fn check(password: &str, email: &str) -> Result<(), PasswordError> {
    if password.chars().nth(MAX_CHARS).is_some() {
        return Err(PasswordError::TooLong);
    }
    if password.chars().count() < MIN_CHARS {
        return Err(PasswordError::TooShort);
    }
    let first = password.chars().next();
    let is_uniform = password.chars().all(|character| Some(character) == first);
    if is_uniform || password.to_lowercase().contains(&email.to_lowercase()) {
        return Err(PasswordError::Guessable);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_checked_for_length_and_content() {
        for (password, expected) in [
            ("correct horse", Ok(())),
            ("ção-ção-ção1", Ok(())),
            ("short", Err(PasswordError::TooShort)),
            ("aaaaaaaaaaaaaaa", Err(PasswordError::Guessable)),
            ("my Ana@Shop.example", Err(PasswordError::Guessable)),
        ] {
            assert_eq!(check(password, "ana@shop.example"), expected, "{password}");
        }
        assert_eq!(check(&"ab".repeat(101), "a@b.co"), Err(PasswordError::TooLong));
    }
}
