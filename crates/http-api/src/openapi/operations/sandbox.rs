//! What is said of the endpoints that move the built-in sandbox.

use super::{Description, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::SandboxPay`.
pub fn sandbox_pay() -> Description {
    Description {
        request: Some(("SandboxPayment", examples::literal(r#"{"amount":10.50}"#))),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "sandboxPayCharge",
            "sandbox",
            "Pay a charge",
            "Only with the built-in sandbox as upstream. A charge that is paid, expired or cancelled gets a further payment.",
            vec![json("200", "The charge after it.", "Charge", examples::paid())],
        )
    }
}

/// `Endpoint::SandboxExpire`.
pub fn sandbox_expire() -> Description {
    Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "sandboxExpireCharge",
            "sandbox",
            "End a charge's time",
            "Only with the built-in sandbox as upstream.",
            vec![json(
                "200",
                "The charge after it.",
                "Charge",
                examples::paid().and_then(|charge| examples::unpaid(charge, "expired")),
            )],
        )
    }
}

/// `Endpoint::SandboxFaults`.
pub fn sandbox_faults() -> Description {
    Description {
        errors: &[ErrorCode::NotFound],
        request: Some(("NewFaults", examples::literal(r#"{"mode":"slow","latency_ms":2000}"#))),
        ..plain(
            "sandboxSetFaults",
            "sandbox",
            "Make things go wrong upstream",
            "Only with the built-in sandbox as upstream.",
            vec![json(
                "200",
                "What is in force.",
                "Faults",
                examples::literal(r#"{"acquirer":"sandbox","mode":"slow","latency_ms":2000}"#),
            )],
        )
    }
}

/// `Endpoint::SandboxClock`.
pub fn sandbox_clock() -> Description {
    Description {
        errors: &[ErrorCode::NotFound],
        request: Some(("Clock", examples::literal(r#"{"offset_s":3600}"#))),
        ..plain(
            "sandboxSetClock",
            "sandbox",
            "Move the clocks of service and sandbox",
            "Only with the built-in sandbox as upstream.",
            vec![json("200", "What is in force.", "Clock", examples::literal(r#"{"offset_s":3600}"#))],
        )
    }
}

/// `Endpoint::SandboxReverse`.
pub fn sandbox_reverse() -> Description {
    Description {
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
        ],
        ..plain(
            "sandboxReversePayout",
            "sandbox",
            "Bring a completed payout back",
            "Only with the built-in sandbox as upstream. The recipient gives all of it back.",
            vec![json("200", "The payout after it.", "Payout", examples::reversed())],
        )
    }
}

/// `Endpoint::SandboxFailRefund`.
pub fn sandbox_fail_refund() -> Description {
    Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..plain(
            "sandboxFailRefund",
            "sandbox",
            "Let a refund fail",
            "Only with the built-in sandbox as upstream, and before the refund completes, which takes a second.",
            vec![json("200", "The refund after it.", "Refund", examples::failed_refund())],
        )
    }
}

/// `Endpoint::SandboxOpenInfraction`.
pub fn sandbox_open_infraction() -> Description {
    Description {
        request: Some(("SandboxDispute", examples::literal(r#"{"reason_code":"SCAM","amount":10.50}"#))),
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
        ],
        ..plain(
            "sandboxOpenInfraction",
            "sandbox",
            "Dispute the Pix that paid a charge",
            "Only with the built-in sandbox as upstream. May be repeated: each is an infraction of its own.",
            vec![json("201", "The new infraction.", "InfractionDetail", examples::open_infraction())],
        )
    }
}

/// `Endpoint::SandboxResolveInfraction`.
pub fn sandbox_resolve_infraction() -> Description {
    Description {
        request: Some(("SandboxResolution", examples::literal(r#"{"outcome":"won"}"#))),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..plain(
            "sandboxResolveInfraction",
            "sandbox",
            "Settle an infraction",
            "Only with the built-in sandbox as upstream.",
            vec![json("200", "The infraction after it.", "InfractionDetail", examples::won_infraction())],
        )
    }
}
