//! The differences between institutions of the standard, as data.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::grant::GrantForm;
use crate::http::instant;

/// The offset of Brasília, in hours. Brazil has had no daylight saving time since 2019.
const BRASILIA_H: i8 = -3;

/// The place of the client's id and secret in a token request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialsIn {
    /// The header `Authorization: Basic`.
    Header,
    /// The fields `client_id` and `client_secret` of the body.
    Body,
}

/// The form of instants in answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    /// RFC 3339 with an offset, as in the standard.
    Rfc3339,
    /// RFC 3339, with or without an offset. An instant without an offset is in the time of Brasília.
    Brasilia,
}

impl Dates {
    /// Parses an instant, truncated to the stored microseconds.
    pub(super) fn read(self, text: &str) -> Option<Timestamp> {
        match (instant(text), self) {
            (Some(at), _) => Some(at),
            (None, Self::Rfc3339) => None,
            (None, Self::Brasilia) => {
                let local: DateTime = text.parse().ok()?;
                let zone = TimeZone::fixed(Offset::constant(BRASILIA_H));
                instant(&local.to_zoned(zone).ok()?.timestamp().to_string())
            }
        }
    }
}

/// The differences of one institution from the standard.
///
/// In the values of `headers` and `query`, `{client_id}` and `{application_key}` stand for the configured values. `Debug`
/// shows only the names of headers, because configured values may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Profile {
    /// The path of the API, in place of `/v2`.
    pub path_prefix: String,
    /// The path below the base address that issues tokens. A configured `token_url` replaces base address and path.
    pub token_path: String,
    /// The encoding of the body of token requests.
    pub token_body: GrantForm,
    /// The query of token requests.
    pub token_query: Vec<(String, String)>,
    /// The place of the client's id and secret.
    pub credentials: CredentialsIn,
    /// The requested scopes, separated by blanks; `None` requests all scopes of the client.
    pub scope: Option<String>,
    /// Headers of every request of the API.
    pub headers: Vec<(String, String)>,
    /// Query parameters of every request of the API.
    pub query: Vec<(String, String)>,
    /// The form of instants in answers.
    pub dates: Dates,
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Profile")
            .field("path_prefix", &self.path_prefix)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

/// The standard, with the most common token request.
impl Default for Profile {
    fn default() -> Self {
        Self {
            path_prefix: "/v2".to_owned(),
            token_path: "/oauth/token".to_owned(),
            token_body: GrantForm::Form,
            token_query: Vec::new(),
            credentials: CredentialsIn::Header,
            scope: None,
            headers: Vec::new(),
            query: Vec::new(),
            dates: Dates::Rfc3339,
        }
    }
}

/// The scopes that the adapter uses.
const SCOPES: &str = "cob.write cob.read pix.write pix.read webhook.write webhook.read";

/// The profiles by name. Each follows public documents of the institution; none was tested with the real institution.
impl Profile {
    /// The names of all profiles.
    pub const NAMES: [&str; 5] = ["bb", "itau", "santander", "sicredi", "inter"];

    /// Returns the profile with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bb" => Self::banco_do_brasil(),
            "itau" => Self::itau(),
            "santander" => Self::santander(),
            "sicredi" => Self::sicredi(),
            "inter" => Self::inter(),
            _ => return None,
        })
    }

    /// Returns the profile of Banco do Brasil: every request has the key of the application. Tokens come from another host,
    /// which must be configured as `token_url`.
    fn banco_do_brasil() -> Self {
        Self {
            path_prefix: "/pix/v2".to_owned(),
            scope: Some(SCOPES.to_owned()),
            query: vec![("gw-dev-app-key".to_owned(), "{application_key}".to_owned())],
            ..Self::default()
        }
    }

    /// Returns the profile of Itaú: the credentials are in the body, and each request has the client's id in a header. Tokens
    /// come from another host, which must be configured as `token_url`. Issue 163 of the standard's repository
    /// (`bacen/pix-api`) reports instants without a correct offset.
    fn itau() -> Self {
        Self {
            path_prefix: "/pix_recebimentos/v2".to_owned(),
            token_path: "/api/oauth/token".to_owned(),
            credentials: CredentialsIn::Body,
            headers: vec![("x-itau-apikey".to_owned(), "{client_id}".to_owned())],
            dates: Dates::Brasilia,
            ..Self::default()
        }
    }

    /// Returns the profile of Santander: the grant type is in the query, and the credentials are in the body.
    fn santander() -> Self {
        Self {
            path_prefix: "/api/v1".to_owned(),
            token_query: vec![("grant_type".to_owned(), "client_credentials".to_owned())],
            credentials: CredentialsIn::Body,
            ..Self::default()
        }
    }

    /// Returns the profile of Sicredi: the standard below another path, with scopes.
    fn sicredi() -> Self {
        Self { path_prefix: "/api/v2".to_owned(), scope: Some(SCOPES.to_owned()), ..Self::default() }
    }

    /// Returns the profile of Inter: the credentials are in the body, and scopes are requested.
    fn inter() -> Self {
        Self {
            path_prefix: "/pix/v2".to_owned(),
            token_path: "/oauth/v2/token".to_owned(),
            credentials: CredentialsIn::Body,
            scope: Some(SCOPES.to_owned()),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dates, Profile};

    #[test]
    fn every_name_has_a_profile_of_its_own() {
        for name in Profile::NAMES {
            let profile = Profile::named(name);
            assert!(profile.as_ref().is_some_and(|profile| *profile != Profile::default()), "{name}");
        }
        assert_eq!(Profile::named("other"), None);
    }

    #[test]
    fn instant_without_offset_is_of_brasilia() {
        for (text, rfc, brasilia) in [
            ("2026-11-20T12:00:00Z", Some("2026-11-20T12:00:00Z"), Some("2026-11-20T12:00:00Z")),
            ("2026-11-20T12:00:00-03:00", Some("2026-11-20T15:00:00Z"), Some("2026-11-20T15:00:00Z")),
            ("2026-11-20T12:00:00.123456789", None, Some("2026-11-20T15:00:00.123456Z")),
            ("20/11/2026", None, None),
        ] {
            let read = |dates: Dates| dates.read(text).map(|at| at.to_string());
            assert_eq!(read(Dates::Rfc3339).as_deref(), rfc, "{text}");
            assert_eq!(read(Dates::Brasilia).as_deref(), brasilia, "{text}");
        }
    }
}
