//! `/v1/charges/{id}/refunds` and `/v1/refunds`.

pub mod create;
pub mod get;
pub mod list;
pub mod request;

use cais_use_cases::upstream_order::FetchError;

use super::error::ApiError;
use super::named;

/// Returns the error of a failed read of a refund.
#[must_use]
pub fn fetch_error(error: FetchError) -> ApiError {
    named::fetch_error(error, "The refund does not exist.")
}
