//! `/v1/charges`.

pub mod cancel;
pub mod create;
pub mod get;
pub mod list;
pub mod payment_page;
pub mod request;
pub mod split;

use cais_use_cases::upstream_order::FetchError;

use super::error::ApiError;
use super::named;

/// Returns the error of a failed read of a charge.
#[must_use]
pub fn fetch_error(error: FetchError) -> ApiError {
    named::fetch_error(error, "The charge does not exist.")
}
