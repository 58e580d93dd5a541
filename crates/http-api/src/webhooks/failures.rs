//! The errors of requests about endpoints, deliveries and events.

use cais_domain::merchant::webhook::{MAX_ENDPOINTS, MAX_WAITING_REQUESTS};
use cais_ports::UrlRefusal;
use cais_strict_json::Issue;
use cais_use_cases::webhooks::change::ChangeEndpointError;
use cais_use_cases::webhooks::create::CreateEndpointError;
use cais_use_cases::webhooks::deliveries::ListDeliveriesError;
use cais_use_cases::webhooks::{SendAgainError, WriteEndpointError};

use crate::error::{ApiError, ErrorCode};
use crate::paging::STARTING_AFTER;

/// Returns the error for an endpoint that the account does not have.
pub(crate) fn no_such_endpoint() -> ApiError {
    ApiError::new(ErrorCode::NotFound).with_message("The webhook endpoint does not exist.")
}

fn refused(refusal: UrlRefusal) -> ApiError {
    ApiError::invalid(vec![Issue::new("url", refusal.to_string())])
}

fn url_taken() -> ApiError {
    ApiError::invalid(vec![Issue::new("url", "is registered already")])
}

impl From<CreateEndpointError> for ApiError {
    fn from(error: CreateEndpointError) -> Self {
        match error {
            CreateEndpointError::NotPermitted(reason) => reason.into(),
            CreateEndpointError::Url(refusal) => refused(refusal),
            CreateEndpointError::UrlTaken => url_taken(),
            CreateEndpointError::LimitReached => Self::new(ErrorCode::LimitReached)
                .with_message(format!("An account has at most {MAX_ENDPOINTS} webhook endpoints.")),
            CreateEndpointError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeEndpointError> for ApiError {
    fn from(error: ChangeEndpointError) -> Self {
        match error {
            ChangeEndpointError::NotPermitted(reason) => reason.into(),
            ChangeEndpointError::NotFound => no_such_endpoint(),
            ChangeEndpointError::Url(refusal) => refused(refusal),
            ChangeEndpointError::UrlTaken => url_taken(),
            ChangeEndpointError::Store(error) => error.into(),
        }
    }
}

impl From<WriteEndpointError> for ApiError {
    fn from(error: WriteEndpointError) -> Self {
        match error {
            WriteEndpointError::NotPermitted(reason) => reason.into(),
            WriteEndpointError::NotFound => no_such_endpoint(),
            WriteEndpointError::Store(error) => error.into(),
        }
    }
}

/// Seconds after which the current attempt of a waiting test or resend has ended: the time limit of one attempt.
const ATTEMPT_ENDS_WITHIN_S: u32 = 15;

impl From<SendAgainError> for ApiError {
    fn from(error: SendAgainError) -> Self {
        let refuse = |message: String| Self::new(ErrorCode::InvalidState).with_message(message);
        match error {
            SendAgainError::NotPermitted(reason) => reason.into(),
            SendAgainError::NotFound => Self::new(ErrorCode::NotFound),
            SendAgainError::NotActive(state) => {
                refuse(format!("The webhook endpoint is {state} and receives no deliveries."))
            }
            SendAgainError::Cancelled => refuse("The delivery is cancelled and cannot be sent again.".to_owned()),
            SendAgainError::TooMany => {
                let text =
                    format!("At most {MAX_WAITING_REQUESTS} tests and resends of a webhook endpoint wait at a time.");
                Self::new(ErrorCode::RateLimitExceeded).with_message(text).retry_after(ATTEMPT_ENDS_WITHIN_S)
            }
            SendAgainError::NoReceiver => refuse("No active webhook endpoint receives this event.".to_owned()),
            SendAgainError::Store(error) => error.into(),
        }
    }
}

impl From<ListDeliveriesError> for ApiError {
    fn from(error: ListDeliveriesError) -> Self {
        match error {
            ListDeliveriesError::NotFound => no_such_endpoint(),
            ListDeliveriesError::UnknownCursor => {
                Self::invalid(vec![Issue::new(STARTING_AFTER, "names no delivery to this webhook endpoint")])
            }
            ListDeliveriesError::Store(error) => error.into(),
        }
    }
}
