//! `/v1/crypto/deposits`.

pub mod create;
pub mod get;
pub mod list;
pub mod payments;
pub mod qr;
pub mod request;

use cais_use_cases::upstream_order::FetchError;

use crate::error::ApiError;
use crate::named;

/// Returns the error of a failed read of a deposit.
#[must_use]
pub fn fetch_error(error: FetchError) -> ApiError {
    named::fetch_error(error, "The crypto deposit does not exist.")
}
