//! Tests the error table: names, statuses and messages.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

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
fn codes_are_distinct_and_retryable_by_status() {
    let names: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    let by_status = ErrorCode::ALL.iter().map(|code| code.status());
    assert!(by_status.is_sorted(), "the table is ordered by status");
    for code in ErrorCode::ALL {
        let expected = match code.status().as_u16() {
            409 => matches!(code, ErrorCode::IdempotencyKeyInProgress | ErrorCode::ExternalIdInProgress),
            408 | 429 | 500 | 502 | 503 => true,
            _ => false,
        };
        assert_eq!(code.is_retryable(), expected, "{}", code.name());
        assert!(code.message().ends_with('.'), "{}", code.message());
    }
}
