//! What is said of the endpoints on charges.

use super::parameters::{idempotency_key, paging};
use super::{Description, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::ListCharges`.
pub fn list_charges() -> Description {
    Description {
        parameters: paging(),
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listCharges",
            "charges",
            "List charges",
            "Newest first, with cursor pagination.",
            vec![json("200", "A page of charges.", "ChargePage", examples::charges())],
        )
    }
}

/// `Endpoint::CreateCharge`.
pub fn create_charge() -> Description {
    Description {
        parameters: vec![idempotency_key()],
        request: Some((
            "NewCharge",
            examples::literal(
                r#"{"amount":10.50,"description":"Order 1042","external_id":"order-1042","expires_in":3600}"#,
            ),
        )),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::PostbackUrlNotRegistered,
            ErrorCode::AccountSuspended,
            ErrorCode::KycNotApproved,
            ErrorCode::FeatureDisabled,
            ErrorCode::SplitDisabled,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::SplitNotAvailable,
            ErrorCode::TransactionLimitExceeded,
            ErrorCode::SplitRecipientNotEligible,
            ErrorCode::AcquirerUnavailable,
        ],
        ..plain(
            "createCharge",
            "charges",
            "Create a Pix charge",
            "A repeated Idempotency-Key gets the first answer with the header `idempotent-replayed: true`. An external_id that exists with the same amount gets the original charge with 200.",
            vec![
                json("201", "The charge was created.", "Charge", examples::pending()),
                json("200", "A charge with this external_id and amount existed.", "Charge", examples::pending()),
            ],
        )
    }
}

/// `Endpoint::GetCharge`.
pub fn get_charge() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "getCharge",
            "charges",
            "Fetch a charge",
            "A pending charge is refreshed from the acquirer first.",
            vec![json("200", "The charge.", "Charge", examples::paid())],
        )
    }
}

/// `Endpoint::CancelCharge`.
pub fn cancel_charge() -> Description {
    Description {
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
            ErrorCode::AcquirerUnavailable,
        ],
        ..plain(
            "cancelCharge",
            "charges",
            "Cancel a charge",
            "Needs no body and no Idempotency-Key; repeatable.",
            vec![json(
                "200",
                "The cancelled charge.",
                "Charge",
                examples::paid().and_then(|charge| examples::unpaid(charge, "cancelled")),
            )],
        )
    }
}
