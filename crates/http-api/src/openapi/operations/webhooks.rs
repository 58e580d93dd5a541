//! What is said of the endpoints on webhook endpoints and deliveries.

use super::parameters::paging;
use super::{Description, empty, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// What goes wrong wherever one endpoint is read.
const READS: &[ErrorCode] = &[ErrorCode::ValidationError, ErrorCode::NotFound];
/// What goes wrong wherever one endpoint is written.
const WRITES: &[ErrorCode] = &[ErrorCode::ValidationError, ErrorCode::AccountSuspended, ErrorCode::NotFound];
/// The same where its state matters.
const ACTS: &[ErrorCode] =
    &[ErrorCode::ValidationError, ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState];

/// `Endpoint::ListWebhookEndpoints`.
pub fn list_endpoints() -> Description {
    Description {
        parameters: paging(),
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listWebhookEndpoints",
            "webhooks",
            "List webhook endpoints",
            "Newest first, with cursor pagination.",
            vec![json("200", "A page of endpoints.", "WebhookEndpointPage", examples::endpoints())],
        )
    }
}

/// `Endpoint::CreateWebhookEndpoint`.
pub fn create_endpoint() -> Description {
    Description {
        request: Some((
            "NewWebhookEndpoint",
            examples::literal(
                r#"{"url":"https://shop.example/hooks/cais","events":["charge.paid","infraction.opened"],"description":"Orders"}"#,
            ),
        )),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::LimitReached],
        ..plain(
            "createWebhookEndpoint",
            "webhooks",
            "Register a webhook endpoint",
            "At most 20 for each account. The secret is shown here and after a rotation only. What is sent is signed as Standard Webhooks say (`v1`): the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` over the raw body, which is the event as `GET /v1/events/{id}` returns it. Answer with 2xx within 15 s and tell repeats by `webhook-id`: an event is delivered at least once, and again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. 410 disables the endpoint, as do five days of failures alone.",
            vec![json(
                "201",
                "The endpoint, with its secret.",
                "WebhookEndpointWithSecret",
                examples::endpoint_with_secret(),
            )],
        )
    }
}

/// `Endpoint::GetWebhookEndpoint`.
pub fn get_endpoint() -> Description {
    Description {
        errors: READS,
        ..plain(
            "getWebhookEndpoint",
            "webhooks",
            "Fetch a webhook endpoint",
            "Without its secret.",
            vec![json("200", "The endpoint.", "WebhookEndpoint", examples::endpoint())],
        )
    }
}

/// `Endpoint::ChangeWebhookEndpoint`.
pub fn change_endpoint() -> Description {
    Description {
        request: Some((
            "WebhookEndpointChange",
            examples::literal(r#"{"events":["*"],"description":null,"active":true}"#),
        )),
        errors: WRITES,
        ..plain(
            "changeWebhookEndpoint",
            "webhooks",
            "Change a webhook endpoint",
            "Fields that are not named stay unchanged. While `active` is false, deliveries to the endpoint stay `pending`, with `next_attempt_at` null, and wait; events published meanwhile get a delivery too. Waiting deliveries are sent when `active` is true again. A delivery waits no longer than its event is kept: 90 days. `active` true also enables an endpoint that the service disabled; deliveries that were cancelled then stay cancelled.",
            vec![json("200", "The endpoint after it.", "WebhookEndpoint", examples::endpoint())],
        )
    }
}

/// `Endpoint::DeleteWebhookEndpoint`.
pub fn delete_endpoint() -> Description {
    Description {
        errors: WRITES,
        ..plain(
            "deleteWebhookEndpoint",
            "webhooks",
            "Delete a webhook endpoint",
            "What waits for it is cancelled.",
            vec![empty("204", "It is gone.")],
        )
    }
}

/// `Endpoint::RotateWebhookSecret`.
pub fn rotate_secret() -> Description {
    Description {
        request: Some(("SecretRotation", examples::literal(r#"{"grace_seconds":86400}"#))),
        errors: WRITES,
        ..plain(
            "rotateWebhookSecret",
            "webhooks",
            "Give a webhook endpoint another secret",
            "The secret before signs as well until its time is over, so that receivers can change at leisure; never more than two sign. Needs no body.",
            vec![json(
                "200",
                "The endpoint, with its new secret.",
                "WebhookEndpointWithSecret",
                examples::endpoint_with_secret(),
            )],
        )
    }
}

/// `Endpoint::TestWebhookEndpoint`.
pub fn test_endpoint() -> Description {
    Description {
        errors: ACTS,
        ..plain(
            "testWebhookEndpoint",
            "webhooks",
            "Send a webhook endpoint a test",
            "Sends an event `webhook.test`. Its `sequence` is null, and no list of events shows it. At most 20 tests and resends of an endpoint wait at a time; the next request is answered 429. Needs no body.",
            vec![json("202", "The delivery, which is tried at once.", "Delivery", examples::pending_delivery())],
        )
    }
}

/// `Endpoint::ListDeliveries`.
pub fn list_deliveries() -> Description {
    Description {
        parameters: paging(),
        errors: READS,
        ..plain(
            "listWebhookDeliveries",
            "webhooks",
            "List what was delivered to a webhook endpoint",
            "Newest first, with cursor pagination; every attempt is told.",
            vec![json("200", "A page of deliveries.", "DeliveryPage", examples::deliveries())],
        )
    }
}

/// `Endpoint::ResendDelivery`.
pub fn resend_delivery() -> Description {
    Description {
        errors: ACTS,
        ..plain(
            "resendWebhookDelivery",
            "webhooks",
            "Deliver again",
            "Sends the delivery at once, with a new schedule of attempts and the same event id. A cancelled delivery stays cancelled. At most 20 tests and resends of an endpoint wait at a time; the next request is answered 429. Needs no body.",
            vec![json("202", "The delivery.", "Delivery", examples::pending_delivery())],
        )
    }
}
