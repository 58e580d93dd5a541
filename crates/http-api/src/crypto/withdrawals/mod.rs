//! `/v1/crypto/withdrawals`.

pub mod create;
pub mod get;
pub mod list;
pub mod request;

use cais_use_cases::upstream_order::FetchError;

use crate::error::ApiError;
use crate::named;

/// Returns the error of a failed read of a withdrawal.
#[must_use]
pub fn fetch_error(error: FetchError) -> ApiError {
    named::fetch_error(error, "The crypto withdrawal does not exist.")
}
