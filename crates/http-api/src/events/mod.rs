//! `/v1/events`.

pub mod get;
pub mod list;
pub mod resend;

use super::error::{ApiError, ErrorCode};

pub(super) fn no_such_event() -> ApiError {
    ApiError::new(ErrorCode::NotFound).with_message("The event does not exist.")
}
