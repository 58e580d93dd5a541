//! Where acquirers call back: kept at once, looked into later.

use cais_domain::acquirer_name::AcquirerName;
use cais_use_cases::notices;
use ring::hmac;

use super::call::{Call, to_the_end};
use super::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use super::reply::Reply;

/// Which acquirer calls on which secret path.
pub struct CallbackPaths {
    /// Tokens are compared by their codes, which takes the same time wherever they differ.
    key: hmac::Key,
    tokens: Vec<(AcquirerName, hmac::Tag)>,
}

impl CallbackPaths {
    /// The paths `/callbacks/<acquirer>/<token>`, by acquirer.
    #[must_use]
    pub fn new<'t>(tokens: impl IntoIterator<Item = (AcquirerName, &'t str)>) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"callback paths");
        let tokens = tokens.into_iter().map(|(name, token)| (name, hmac::sign(&key, token.as_bytes()))).collect();
        Self { key, tokens }
    }

    /// The acquirer of that name, when the token is its own.
    #[must_use]
    pub fn find(&self, acquirer: &str, token: &str) -> Option<&AcquirerName> {
        let (name, tag) = self.tokens.iter().find(|(name, _)| name.as_str() == acquirer)?;
        hmac::verify(&self.key, token.as_bytes(), tag.as_ref()).ok().map(|()| name)
    }
}

/// Keeps a callback and rings for the worker that reads the truth.
///
/// # Errors
/// `not_found` for a path that nobody was given; `service_unavailable` when it could not be kept, so that upstream calls again.
pub async fn answer(call: &Call<'_>) -> Result<Reply, ApiError> {
    let found = call.state.callbacks.find(call.params.first(), call.params.second());
    let acquirer = found.ok_or(ApiError::new(ErrorCode::NotFound))?.clone();
    let (state, body) = (call.state.clone(), call.body.to_vec());
    let kept = to_the_end(async move { notices::receive(&state.ports, &acquirer, body).await }).await?;
    kept.map_err(|error| {
        ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S).because(error.to_string())
    })?;
    call.state.wake.notices.ring();
    Ok(Reply::empty())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn only_the_right_token_opens() {
        let main = AcquirerName::parse("main").unwrap();
        let paths = CallbackPaths::new([(main.clone(), "secret")]);
        assert_eq!(paths.find("main", "secret"), Some(&main));
        for (acquirer, token) in [("main", "Secret"), ("main", "secre"), ("main", ""), ("other", "secret")] {
            assert_eq!(paths.find(acquirer, token), None, "{acquirer} {token}");
        }
    }
}
