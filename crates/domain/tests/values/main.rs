//! Tests of the domain's value types: accepted texts, refused texts and invariants.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod allocate;
mod api_key;
mod br_code;
mod credit;
mod document;
mod fee;
mod ids;
mod money;
mod pix_key;
mod rate;
mod release;
mod split;
mod texts;
mod webhook;
