//! `/v1/payouts`.

pub mod create;
pub mod get;
pub mod list;
pub mod request;

use cais_use_cases::upstream_order::FetchError;

use super::error::ApiError;
use super::named;

/// Returns the error of a failed read of a payout.
#[must_use]
pub fn fetch_error(error: FetchError) -> ApiError {
    named::fetch_error(error, "The payout does not exist.")
}
