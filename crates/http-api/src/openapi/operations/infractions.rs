//! What is said of the endpoints on infractions.

use cais_domain::infraction::InfractionStatus;

use super::parameters::{paging, word};
use super::{Description, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::ListInfractions`.
pub fn list_infractions() -> Description {
    let status = word("status", "In one status.", InfractionStatus::ALL.map(InfractionStatus::as_str));
    Description {
        parameters: std::iter::once(status).chain(paging()).collect(),
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listInfractions",
            "infractions",
            "List infractions",
            "Newest first, with cursor pagination.",
            vec![json("200", "A page of infractions.", "InfractionPage", examples::infractions())],
        )
    }
}

/// `Endpoint::GetInfraction`.
pub fn get_infraction() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..plain(
            "getInfraction",
            "infractions",
            "Fetch an infraction",
            "With its defence.",
            vec![json("200", "The infraction.", "InfractionDetail", examples::won_infraction())],
        )
    }
}

/// `Endpoint::DefendInfraction`.
pub fn defend_infraction() -> Description {
    Description {
        request: Some((
            "NewDefense",
            examples::literal(
                r#"{"defense_text":"Two coffees, handed over on 2 January.","defense_evidence_url":"https://shop.example/receipts/1042"}"#,
            ),
        )),
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::InvalidState,
            ErrorCode::DeadlinePassed,
            ErrorCode::AcquirerUnavailable,
        ],
        ..plain(
            "defendInfraction",
            "infractions",
            "Defend the account",
            "Once, until `deadline_at`; needs no Idempotency-Key: the same defence again is no second one. A defence that the institution refuses is a `VALIDATION_ERROR` with its reason, and another one may be sent. After 503 it may have arrived: the same defence may be sent again, and the service finds out by itself.",
            vec![json("200", "The acquirer has the defence.", "InfractionDetail", examples::defended_infraction())],
        )
    }
}
