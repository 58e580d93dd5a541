//! What is said of the endpoints of the service itself.

use super::{Description, JSON, Success, file, json, plain};
use crate::http::error::ErrorCode;
use crate::http::openapi::examples;

/// `Endpoint::Reserved`.
pub fn reserved() -> Description {
    Description {
        errors: &[ErrorCode::NotImplemented],
        ..plain(
            "reserved",
            "reserved",
            "Reserved capability",
            "Boleto and card are reserved: whatever the method, here and on every path below, the answer is 501.",
            Vec::new(),
        )
    }
}

/// `Endpoint::Health`.
pub fn health() -> Description {
    plain(
        "health",
        "operations",
        "Whether the process lives",
        "Also on the admin address.",
        vec![json("200", "It does.", "Health", examples::literal(r#"{"status":"ok"}"#))],
    )
}

/// `Endpoint::Ready`.
pub fn ready() -> Description {
    plain(
        "ready",
        "operations",
        "Whether requests should be sent here",
        "503 while the store does not answer and while the process is about to stop. Also on the admin address.",
        vec![json("200", "They should.", "Health", examples::literal(r#"{"status":"ok"}"#))],
    )
}

/// `Endpoint::Metrics`.
pub fn metrics() -> Description {
    plain(
        "metrics",
        "operations",
        "Numbers about the service, on the admin address only",
        "Served on `admin_listen` and not on this address, where it is 404.",
        vec![file("text/plain", "The text format of Prometheus.")],
    )
}

/// `Endpoint::OpenApi`.
pub fn open_api() -> Description {
    plain("openApi", "operations", "This document", "OpenAPI 3.1.", vec![file(JSON, "The document.")])
}

/// `Endpoint::DocsRedirect`.
pub fn docs_redirect() -> Description {
    plain(
        "docs",
        "operations",
        "To the documentation pages",
        "",
        vec![Success { status: "308", when: "They are at `/docs/`.", bodies: Vec::new() }],
    )
}

/// `Endpoint::Docs`.
pub fn docs() -> Description {
    Description {
        errors: &[ErrorCode::NotFound],
        ..plain(
            "docsFile",
            "operations",
            "The documentation pages",
            "",
            vec![file("text/html", "A file of the pages.")],
        )
    }
}

/// `Endpoint::Callback`.
pub fn callback() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::PayloadTooLarge],
        ..plain(
            "acquirerCallback",
            "callbacks",
            "What acquirers call",
            "A hint that is kept; the truth is read from the acquirer.",
            vec![Success { status: "200", when: "It is kept.", bodies: Vec::new() }],
        )
    }
}
