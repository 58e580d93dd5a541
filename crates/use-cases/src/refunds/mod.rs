//! Use cases of refunds.
//!
//! The path of a refund through the crates:
//!
//! | step | file |
//! |---|---|
//! | request | `http-api/src/refunds/create.rs`, with the body in `request.rs` |
//! | check and hold | `create` here, with the rules of `domain/src/refund/transitions.rs` |
//! | first commit | `upstream_order/create.rs`; the row is `persistence/src/rows/refund.rs` |
//! | sending | `order` here, then `acquirers/src/bacen/refund.rs` |
//! | decision on the outcome | `upstream_result.rs`, then `decide` here, which also makes event and change set |
//! | second commit and response | `resource` here, in the form of `http-api/src/representation/refund.rs` |
//! | open outcome | `poll` and `sync` here |

pub mod create;
mod decide;
pub mod fetch;
pub mod list;
mod order;
pub mod poll;
mod resource;
pub(crate) mod sync;

pub use fetch::RefundName;
