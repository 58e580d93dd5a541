//! What is said of the endpoints on events.

use cais_domain::event::EventType;

use super::parameters::{after_sequence, paging, word};
use super::{Description, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::ListEvents`.
pub fn list_events() -> Description {
    let kind = word("type", "Of one type.", EventType::ALL.map(EventType::as_str));
    Description {
        parameters: [kind, after_sequence()].into_iter().chain(paging()).collect(),
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listEvents",
            "events",
            "List events",
            "Newest first, with cursor pagination; with `after_sequence` the oldest first. A consumer that knows the last `sequence` it has seen learns here of whatever it missed: the numbers have no gap. Kept for 90 days.",
            vec![json("200", "A page of events.", "EventPage", examples::events())],
        )
    }
}

/// `Endpoint::GetEvent`.
pub fn get_event() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..plain(
            "getEvent",
            "events",
            "Fetch an event",
            "Byte for byte what was sent to endpoints.",
            vec![json("200", "The event.", "Event", examples::event())],
        )
    }
}

/// `Endpoint::ResendEvent`.
pub fn resend_event() -> Description {
    Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..plain(
            "resendEvent",
            "events",
            "Deliver an event again",
            "Sends the event to every active endpoint that had a delivery of it or subscribes to its type now. At most 20 tests and resends of an endpoint wait at a time. If any of these endpoints would exceed that limit, the answer is 429 and no endpoint receives the event. Needs no body.",
            vec![json("202", "The deliveries, which are tried at once.", "DeliveryList", examples::resent())],
        )
    }
}
