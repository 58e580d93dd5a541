//! `/v1/infractions`.

pub mod defend;
pub mod get;
pub mod list;
pub mod request;

use super::error::{ApiError, ErrorCode};

pub(super) fn no_such_infraction() -> ApiError {
    ApiError::new(ErrorCode::NotFound).with_message("The infraction does not exist.")
}
