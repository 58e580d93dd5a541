//! What is said of the endpoints on payouts and refunds.

use super::parameters::{idempotency_key, paging};
use super::{Description, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::ListPayouts`.
pub fn list_payouts() -> Description {
    Description {
        parameters: paging(),
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listPayouts",
            "payouts",
            "List payouts",
            "Newest first, with cursor pagination.",
            vec![json("200", "A page of payouts.", "PayoutPage", examples::payouts())],
        )
    }
}

/// `Endpoint::CreatePayout`.
pub fn create_payout() -> Description {
    Description {
        parameters: vec![idempotency_key()],
        request: Some((
            "NewPayout",
            examples::literal(
                r#"{"amount":10.00,"pix_key":"ana@example.com","description":"Invoice 7","external_id":"payout-7"}"#,
            ),
        )),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::AccountSuspended,
            ErrorCode::KycNotApproved,
            ErrorCode::FeatureDisabled,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::TransactionLimitExceeded,
            ErrorCode::InsufficientBalance,
            ErrorCode::AcquirerUnavailable,
        ],
        ..plain(
            "createPayout",
            "payouts",
            "Create a Pix payout",
            "Amount and fee are held first; a payout that fails gives both back. The answer may say `processing`, `completed` or `failed` already. A repeated Idempotency-Key gets the first answer, `insufficient_balance` included, with the header `idempotent-replayed: true`. An external_id that exists with the same amount and pix_key gets the original payout with 200.",
            vec![
                json("201", "The payout was created.", "Payout", examples::processing()),
                json(
                    "200",
                    "A payout with this external_id, amount and pix_key existed.",
                    "Payout",
                    examples::completed(),
                ),
            ],
        )
    }
}

/// `Endpoint::GetPayout`.
pub fn get_payout() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "getPayout",
            "payouts",
            "Fetch a payout",
            "A payout whose outcome is open is refreshed from the acquirer first.",
            vec![json("200", "The payout.", "Payout", examples::completed())],
        )
    }
}

/// `Endpoint::ListRefunds`.
pub fn list_refunds() -> Description {
    Description {
        parameters: paging(),
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "listRefunds",
            "charges",
            "List a charge's refunds",
            "Newest first, with cursor pagination. Those whose outcome is open are refreshed from the acquirer first.",
            vec![json("200", "A page of refunds.", "RefundPage", examples::refunds())],
        )
    }
}

/// `Endpoint::GetRefund`.
pub fn get_refund() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..plain(
            "getRefund",
            "charges",
            "Fetch a refund",
            "A refund whose outcome is open is refreshed from the acquirer first.",
            vec![json("200", "The refund.", "Refund", examples::refund())],
        )
    }
}

/// `Endpoint::CreateRefund`.
pub fn create_refund() -> Description {
    Description {
        parameters: vec![idempotency_key()],
        request: Some(("NewRefund", examples::literal(r#"{"amount":5.00,"reason":"One coffee was cold"}"#))),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
            ErrorCode::InsufficientBalance,
            ErrorCode::RefundExceedsAmount,
            ErrorCode::InfractionOpen,
            ErrorCode::DeadlinePassed,
            ErrorCode::AcquirerUnavailable,
        ],
        ..plain(
            "createRefund",
            "charges",
            "Refund a charge",
            "In full or in part, and again until all of it went back, within 90 days after its payment. `end_to_end_id` refunds any payment that was credited to the charge, such as one that `payment.unexpected` named. The account must cover it; the fee is not returned. A repeated Idempotency-Key gets the first answer, `insufficient_balance` included, with the header `idempotent-replayed: true`.",
            vec![
                json("201", "The refund was created.", "Refund", examples::refund()),
                json(
                    "200",
                    "A refund of this charge with this external_id and amount existed.",
                    "Refund",
                    examples::refund(),
                ),
            ],
        )
    }
}
