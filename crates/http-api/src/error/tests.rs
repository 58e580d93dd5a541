//! Tests the error table: names, statuses and messages.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

/// Every code with its status, and `true` if the same request may succeed later.
const CODES: [(&str, u16, bool); 40] = [
    ("VALIDATION_ERROR", 400, false),
    ("malformed_request", 400, false),
    ("idempotency_key_required", 400, false),
    ("invalid_idempotency_key", 400, false),
    ("postback_url_not_registered", 400, false),
    ("missing_api_key", 401, false),
    ("invalid_api_key", 401, false),
    ("insufficient_scope", 403, false),
    ("account_suspended", 403, false),
    ("kyc_not_approved", 403, false),
    ("feature_disabled", 403, false),
    ("split_disabled", 403, false),
    ("not_found", 404, false),
    ("method_not_allowed", 405, false),
    ("request_timeout", 408, true),
    ("EXTERNAL_ID_CONFLICT", 409, false),
    ("IDEMPOTENCY_CONFLICT", 409, false),
    ("idempotency_key_in_progress", 409, true),
    ("external_id_in_progress", 409, true),
    ("invalid_state", 409, false),
    ("payload_too_large", 413, false),
    ("unsupported_media_type", 415, false),
    ("split_not_available", 422, false),
    ("transaction_limit_exceeded", 422, false),
    ("insufficient_balance", 422, false),
    ("split_recipient_not_eligible", 422, false),
    ("amount_below_minimum", 422, false),
    ("unsupported_currency", 422, false),
    ("invalid_address", 422, false),
    ("quote_expired", 422, false),
    ("refund_exceeds_amount", 422, false),
    ("infraction_open", 422, false),
    ("limit_reached", 422, false),
    ("deadline_passed", 422, false),
    ("rate_limit_exceeded", 429, true),
    ("headers_too_large", 431, false),
    ("internal_error", 500, true),
    ("not_implemented", 501, false),
    ("acquirer_unavailable", 502, true),
    ("service_unavailable", 503, true),
];

fn envelope(error: &ApiError) -> Value {
    let request = RequestId::parse("req_01h455vb4pex5vsknk084sn02q").unwrap();
    serde_json::from_slice(&error.body(request)).unwrap()
}

#[test]
fn envelope_has_the_contract_form() {
    assert_eq!(
        envelope(&ApiError::new(ErrorCode::NotFound)),
        json!({
            "success": false,
            "request_id": "req_01h455vb4pex5vsknk084sn02q",
            "error": {"code": "not_found", "message": "The resource does not exist.", "retryable": false},
        })
    );
    let issues = vec![Issue::new("split[0].percentage", "must be \"small\""), Issue::new("", "is odd")];
    let error = ApiError::invalid(issues).retry_after(7).with_cause("a secret");
    assert_eq!(
        envelope(&error).get("error"),
        Some(&json!({
            "code": "VALIDATION_ERROR",
            "message": "The request is not valid: 2 problems, listed in issues.",
            "retryable": false,
            "issues": [
                {"path": "split[0].percentage", "message": "must be \"small\""},
                {"path": "", "message": "is odd"},
            ],
            "retry_after": 7,
        }))
    );
}

#[test]
fn single_problem_is_the_message() {
    let message = |path: &str| ApiError::invalid(vec![Issue::new(path, "must be a number")]).message;
    assert_eq!(message("amount"), "The request is not valid: amount must be a number.");
    assert_eq!(message(""), "The request is not valid: the body must be a number.");
}

#[test]
fn cause_is_hidden_from_the_caller() {
    let request = RequestId::parse("req_01h455vb4pex5vsknk084sn02q").unwrap();
    for error in [
        ApiError::internal("hush"),
        QueryError::Unavailable("hush".to_owned()).into(),
        QueryError::Corrupt("hush".to_owned()).into(),
    ] {
        assert!(!String::from_utf8(error.body(request)).unwrap().contains("hush"));
        assert!(error.cause.unwrap().contains("hush"));
    }
}

#[test]
fn codes_have_their_documented_status_and_retryable() {
    let codes: Vec<_> =
        ErrorCode::ALL.iter().map(|code| (code.name(), code.status().as_u16(), code.is_retryable())).collect();
    assert_eq!(codes, CODES);
    let names: BTreeSet<_> = codes.iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), codes.len(), "names are distinct");
    assert!(codes.is_sorted_by_key(|(_, status, _)| *status), "the table is ordered by status");
    for code in ErrorCode::ALL {
        assert!(code.message().ends_with('.'), "{}", code.message());
    }
}
