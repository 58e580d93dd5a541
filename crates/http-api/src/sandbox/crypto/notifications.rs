//! `/v1/sandbox/crypto/notifications`: the way in which the simulated processor sends its notifications.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, put};
use cais_strict_json::{Fields, Issues, Node, Problem};
use serde::Serialize;
use utoipa::ToSchema;

use super::processor;
use crate::context::{Authorized, CryptoWrite};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, code};
use crate::input::{Input, Json, JsonBody, NoQuery};
use crate::resources::values::closed_list;
use crate::sandbox::blocking;
use crate::{reply, rules};

/// The largest number of copies of a notification.
const MAX_COPIES: i64 = 10;

/// The kind of signature that notifications have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationSignature {
    /// The correct signature.
    Valid,
    /// A signature by another secret.
    Wrong,
    /// No signature.
    Missing,
    /// A text that is no signature.
    Malformed,
}

impl NotificationSignature {
    /// All kinds, in the order in which error messages list them.
    pub const ALL: [Self; 4] = [Self::Valid, Self::Wrong, Self::Missing, Self::Malformed];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Wrong => "wrong",
            Self::Missing => "missing",
            Self::Malformed => "malformed",
        }
    }
}

closed_list! {
    /// The signature of notifications. The service rejects every notification whose signature is not `valid`.
    NotificationSignatureName as NotificationSignature NotificationSignature::ALL.map(NotificationSignature::as_str)
}

/// A change of the way in which the sandbox's processor sends its notifications. Absent fields keep their values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxNotificationsChange {
    /// `true`: notifications wait until `paused` is `false`.
    pub paused: Option<bool>,
    /// `true`: of the notifications that wait, the newest is sent first.
    pub reversed: Option<bool>,
    /// The number of times that each notification is sent.
    #[schema(value_type = Option<u8>, minimum = 1, maximum = 10)]
    pub copies: Option<u8>,
    /// The signature of all notifications.
    #[schema(value_type = Option<NotificationSignatureName>)]
    pub signature: Option<NotificationSignature>,
}

impl JsonBody for SandboxNotificationsChange {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let paused = fields.optional("paused", rules::flag);
        let reversed = fields.optional("reversed", rules::flag);
        let copies = fields.optional("copies", |node| rules::integer(node, &(1..=MAX_COPIES)));
        let signature = fields.optional("signature", signature);
        fields.finish();
        Some(Self { paused, reversed, copies: copies.and_then(|copies| u8::try_from(copies).ok()), signature })
    }
}

/// The way in which the sandbox's processor sends its notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SandboxNotifications {
    /// `true`: notifications wait until `paused` is `false`.
    pub paused: bool,
    /// `true`: of the notifications that wait, the newest is sent first.
    pub reversed: bool,
    /// The number of times that each notification is sent.
    pub copies: u8,
    /// The signature of all notifications.
    #[schema(value_type = NotificationSignatureName)]
    pub signature: &'static str,
}

/// Sets the way in which the sandbox's processor sends its notifications.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`; `internal_error` if the sandbox fails.
#[utoipa::path(
    operation_id = "sandboxSetCryptoNotifications",
    tag = "sandbox",
    summary = "Repeat, reorder or forge the processor's notifications",
    description = "Available only with the built-in sandbox. The change applies to all accounts. A restart resets the values to their defaults. Scope: `crypto:write`.",
    request_body(content = SandboxNotificationsChange,
        example = json!(examples::literal(r#"{"copies":2,"signature":"wrong"}"#))),
    responses(
        (status = 200, description = "All current settings of notifications.", body = SandboxNotifications,
            example = json!(examples::literal(r#"{"paused":false,"reversed":false,"copies":2,"signature":"wrong"}"#))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound)>,
    ),
)]
#[put("/sandbox/crypto/notifications")]
pub async fn set_notifications(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Json<SandboxNotificationsChange>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Json(change))) = input;
    call.caller.account.permit_write()?;
    let processor = Arc::clone(processor(&call.state)?);
    let notifications = blocking(move || processor.set_notifications(&change)).await?;
    Ok(reply::json(StatusCode::OK, &notifications))
}

fn signature(node: &Node<'_>) -> Result<NotificationSignature, Problem> {
    let name = rules::string(node)?;
    let known = NotificationSignature::ALL.into_iter().find(|kind| kind.as_str() == name);
    let names = || NotificationSignature::ALL.map(NotificationSignature::as_str).join(", ");
    known.ok_or_else(|| format!("must be one of {}", names()).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_strict_json::read;

    use super::*;

    #[test]
    fn notification_bodies_are_read_strictly() {
        let issues = Issues::default();
        let body = read(br#"{"copies":3,"signature":"missing"}"#, &issues);
        let change = SandboxNotificationsChange::read(&body, &issues).unwrap();
        assert_eq!(
            (change.copies, change.signature, change.paused),
            (Some(3), Some(NotificationSignature::Missing), None)
        );
        let body = read(br#"{"copies":0,"signature":"good","paused":1,"order":"x"}"#, &issues);
        let change = SandboxNotificationsChange::read(&body, &issues);
        let paths: Vec<String> = issues.unless_any(change).unwrap_err().into_iter().map(|issue| issue.path).collect();
        assert_eq!(paths, ["paused", "copies", "signature", "order"]);
    }
}
