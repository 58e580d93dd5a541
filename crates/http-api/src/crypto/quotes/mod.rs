//! `/v1/crypto/quotes`.

pub mod create;
pub mod get;
pub mod request;
