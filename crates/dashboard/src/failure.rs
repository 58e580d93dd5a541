//! The reasons for which a page is not shown. `guard` turns each reason into an error page or a redirect.

use std::fmt;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use cais_ports::{PasswordHashError, QueryError};
use cais_use_cases::logins::LoginError;
use cais_use_cases::statement::ListError;
use cais_use_cases::store_error::StoreError;
use cais_use_cases::upstream_order::FetchError;

/// The reason for which a page is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The page needs a login. The browser is redirected to the login page.
    LoginNeeded,
    /// The form came from another site, or its token is wrong. The text is for the log.
    Forged(&'static str),
    /// The request has no form, or not such a form as the dashboard's pages send. The text is for the log.
    BadForm(&'static str),
    /// The page, or the record that it shows, does not exist for this user.
    NotFound,
    /// The path does not serve the method, such as a GET of a path that only receives forms.
    OtherMethod,
    /// The user entered too many wrong one-time codes, so the login or the action ended.
    TooManyCodes,
    /// Another CSV file of the account is still being downloaded.
    FileUnfinished,
    /// Too many attempts at a login or a one-time code, or too many requests of a session or an IP address.
    Throttled,
    /// A part of the service failed, or exceeded its time limit. The text is for the log.
    Unavailable(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoginNeeded => formatter.write_str("login needed"),
            Self::Forged(reason) | Self::BadForm(reason) => formatter.write_str(reason),
            Self::NotFound => formatter.write_str("not found"),
            Self::OtherMethod => formatter.write_str("the path does not serve the method"),
            Self::TooManyCodes => formatter.write_str("too many wrong codes; the action ended"),
            Self::FileUnfinished => formatter.write_str("another CSV file of the account is still being downloaded"),
            Self::Throttled => formatter.write_str("too many attempts or requests"),
            Self::Unavailable(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Failure {}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::LoginNeeded => StatusCode::SEE_OTHER,
            Self::Forged(_) => StatusCode::FORBIDDEN,
            Self::BadForm(_) => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::OtherMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooManyCodes => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Throttled | Self::FileUnfinished => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<ListError> for Failure {
    fn from(error: ListError) -> Self {
        match error {
            ListError::UnknownCursor => Self::NotFound,
            ListError::Unavailable { .. } | ListError::Internal(_) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::NotFound => Self::NotFound,
            FetchError::InProgress { .. } | FetchError::Unavailable { .. } | FetchError::Internal(_) => {
                Self::Unavailable(error.to_string())
            }
        }
    }
}

impl From<LoginError> for Failure {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::Refused | LoginError::Over => Self::NotFound,
            LoginError::CodeNeeded => Self::BadForm("the code is missing"),
            LoginError::LastCode => Self::TooManyCodes,
            LoginError::Throttled => Self::Throttled,
            LoginError::Contended | LoginError::Secret | LoginError::Decision(_) => {
                Self::Unavailable(error.to_string())
            }
            LoginError::Query(cause) => Self::Unavailable(cause.to_string()),
            LoginError::Store(cause) => Self::Unavailable(cause.to_string()),
            LoginError::Password(cause @ (PasswordHashError::Busy | PasswordHashError::Failed(_))) => {
                Self::Unavailable(cause.to_string())
            }
        }
    }
}
