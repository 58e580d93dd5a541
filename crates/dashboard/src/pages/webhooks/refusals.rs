//! Refusals of the use cases as texts of a page.

use cais_ports::UrlRefusal;
use cais_use_cases::webhooks::change::ChangeEndpointError;
use cais_use_cases::webhooks::create::CreateEndpointError;
use cais_use_cases::webhooks::{SendAgainError, WriteEndpointError};

use crate::failure::Failure;
use crate::texts::webhooks::WebhookTexts;

/// Returns the text of a refused creation.
pub(super) fn create_refused(error: CreateEndpointError, t: &'static WebhookTexts) -> Result<&'static str, Failure> {
    match error {
        CreateEndpointError::NotPermitted(_) => Ok(t.suspended),
        CreateEndpointError::Url(refusal) => Ok(url_refused(refusal, t)),
        CreateEndpointError::UrlTaken => Ok(t.url_taken),
        CreateEndpointError::LimitReached => Ok(t.limit_reached),
        CreateEndpointError::Store(error) => Err(error.into()),
    }
}

/// Returns the text of a refused change.
pub(super) fn change_refused(error: ChangeEndpointError, t: &'static WebhookTexts) -> Result<&'static str, Failure> {
    match error {
        ChangeEndpointError::NotPermitted(_) => Ok(t.suspended),
        ChangeEndpointError::NotFound => Err(Failure::NotFound),
        ChangeEndpointError::Url(refusal) => Ok(url_refused(refusal, t)),
        ChangeEndpointError::UrlTaken => Ok(t.url_taken),
        ChangeEndpointError::Store(error) => Err(error.into()),
    }
}

/// Returns the text of a refused deletion.
pub(super) fn write_refused(error: WriteEndpointError, t: &'static WebhookTexts) -> Result<&'static str, Failure> {
    match error {
        WriteEndpointError::NotPermitted(_) => Ok(t.suspended),
        WriteEndpointError::NotFound => Err(Failure::NotFound),
        WriteEndpointError::Store(error) => Err(error.into()),
    }
}

/// Returns the text of a refused test or resend.
pub(crate) fn send_again_refused(error: SendAgainError, t: &'static WebhookTexts) -> Result<&'static str, Failure> {
    match error {
        SendAgainError::NotPermitted(_) => Ok(t.suspended),
        SendAgainError::NotFound => Err(Failure::NotFound),
        SendAgainError::NotActive(_) => Ok(t.not_active),
        SendAgainError::Cancelled => Ok(t.delivery_cancelled),
        SendAgainError::TooMany => Ok(t.too_many),
        SendAgainError::NoReceiver => Ok(t.no_receiver),
        SendAgainError::Store(error) => Err(error.into()),
    }
}

const fn url_refused(refusal: UrlRefusal, t: &'static WebhookTexts) -> &'static str {
    match refusal {
        UrlRefusal::Malformed => t.url_wrong,
        UrlRefusal::Scheme => t.url_scheme,
        UrlRefusal::Credentials => t.url_credentials,
        UrlRefusal::Port => t.url_port,
        UrlRefusal::NotPublic => t.url_not_public,
    }
}
