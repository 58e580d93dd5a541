//! A request and its whole answer, bounded in time and size.

use std::error::Error;

use cais_ports::AcquirerError;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderValue};
use reqwest::{Client, Request, Response, StatusCode};
use rustls::AlertDescription;
use serde::Deserialize;

use super::answered;
use super::defect::{Defect, FindError};
use crate::deadline::Deadline;
use crate::trace;

/// The largest accepted answer except lists, in bytes. A charge has a few KiB, even with many payments.
pub(crate) const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// True if the header `Content-Type` declares JSON, or is missing.
    pub(crate) is_json: bool,
    /// The header `Date`: the server's clock, truncated to the second (RFC 9110, 6.6.1).
    pub(crate) date: Option<Timestamp>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Returns the body of a successful JSON answer. `refusal` classifies an unsuccessful answer.
    pub(crate) fn success(&self, refusal: impl FnOnce(&Self) -> AcquirerError) -> Result<&[u8], FindError> {
        if !self.status.is_success() {
            return Err(refusal(self).into());
        }
        if !self.is_json {
            return Err(Defect::Unreadable("the answer is not JSON".to_owned()).into());
        }
        Ok(&self.body)
    }

    /// Parses a successful JSON answer. `refusal` classifies an unsuccessful answer.
    pub(crate) fn read<'a, T: Deserialize<'a>>(
        &'a self,
        refusal: impl FnOnce(&Self) -> AcquirerError,
    ) -> Result<T, FindError> {
        serde_json::from_slice(self.success(refusal)?)
            .map_err(|_| Defect::Unreadable("the answer is not the expected JSON".to_owned()).into())
    }
}

/// The reason no whole answer arrived. The texts contain neither the address nor parts of the content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransportError {
    /// The request was certainly not executed.
    NotSent(String),
    /// The request may have been executed.
    Lost(String),
}

/// Sends `request` and reads the answer to its end, at most `max_bytes`, before the deadline.
pub(crate) async fn send(
    client: &Client,
    mut request: Request,
    max_bytes: usize,
    deadline: Deadline,
) -> Result<Reply, TransportError> {
    let left = deadline.left();
    if left.is_zero() {
        return Err(TransportError::NotSent("the deadline has passed".to_owned()));
    }
    *request.timeout_mut() = Some(left);
    if let Some(traceparent) = trace::current().and_then(|text| HeaderValue::from_str(&text).ok()) {
        request.headers_mut().insert("traceparent", traceparent);
    }
    let reply = match client.execute(request).await {
        Ok(response) => read(response, max_bytes).await,
        Err(error) => Err(classify(&error)),
    };
    answered::note(reply.as_ref().ok().map(|reply| reply.status));
    reply
}

async fn read(mut response: Response, max_bytes: usize) -> Result<Reply, TransportError> {
    let too_large = || TransportError::Lost(format!("the answer has over {max_bytes} bytes"));
    let announced = response
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<usize>().ok())
        .unwrap_or(0);
    if announced > max_bytes {
        return Err(too_large());
    }
    let status = response.status();
    let is_json = has_json_type(&response);
    let date = response.headers().get(DATE).and_then(|date| rfc2822::parse(date.to_str().ok()?).ok());
    let date = date.map(|date| date.timestamp());
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if body.len().saturating_add(chunk.len()) > max_bytes {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply { status, is_json, date, body })
}

/// Returns whether the answer may be JSON: `application/json`, `application/problem+json` and similar, or no content
/// type.
fn has_json_type(response: &Response) -> bool {
    let Some(value) = response.headers().get(CONTENT_TYPE) else {
        return true;
    };
    let essence = value.to_str().unwrap_or_default();
    let essence = essence.split(';').next().unwrap_or_default().trim();
    let subtype = essence.rsplit('/').next().unwrap_or_default();
    subtype.eq_ignore_ascii_case("json") || subtype.to_ascii_lowercase().ends_with("+json")
}

/// Distinguishes a connection that failed before the request from a lost answer.
fn classify(error: &reqwest::Error) -> TransportError {
    if error.is_connect() || error.is_builder() || refused_our_certificate(error) {
        return TransportError::NotSent(format!("no connection: {}", root_cause(error)));
    }
    lost(error)
}

fn lost(error: &reqwest::Error) -> TransportError {
    TransportError::Lost(if error.is_timeout() {
        "no complete answer in time".to_owned()
    } else {
        format!("the connection broke: {}", root_cause(error))
    })
}

/// Returns whether the server refused our certificate. With TLS 1.3 the refusal comes after our side of the handshake, as an alert in place
/// of the answer. So `reqwest` does not report a failed connection.
fn refused_our_certificate(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        let alert = match cause.downcast_ref::<rustls::Error>() {
            Some(rustls::Error::AlertReceived(alert)) => *alert,
            _ => return false,
        };
        [
            AlertDescription::CertificateRequired,
            AlertDescription::BadCertificate,
            AlertDescription::UnsupportedCertificate,
            AlertDescription::CertificateRevoked,
            AlertDescription::CertificateExpired,
            AlertDescription::CertificateUnknown,
            AlertDescription::UnknownCA,
            AlertDescription::AccessDenied,
            // `DecryptError` reports an invalid signature in the handshake (RFC 8446, 6.2). Broken records cause another alert.
            AlertDescription::DecryptError,
            AlertDescription::HandshakeFailure,
        ]
        .contains(&alert)
    })
}

/// Returns the causes of `error`, including the causes inside I/O errors.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let current = next?;
        next = match current.downcast_ref::<std::io::Error>() {
            Some(io) => io.get_ref().map(|inner| -> &(dyn Error + 'static) { inner }),
            None => current.source(),
        };
        Some(current)
    })
}

/// Returns the root cause. The text contains no address.
fn root_cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| "no cause given".to_owned(), ToString::to_string)
}
