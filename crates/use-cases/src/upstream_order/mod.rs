//! Creates all orders that have an idempotency key (charges, payouts, refunds, crypto deposits, crypto withdrawals),
//! and polls them.
//!
//! Each order passes through the same steps. After a crash between two steps, the caller's repeat or a worker resumes
//! the order:
//!
//! 1. *Commit 1, the intent* (`create`): the idempotency record, the reserved identifiers, the resource and its hold.
//! 2. *Send* (`order::send`): one request, with an identifier that is derived from the resource's id.
//! 3. *Read the evidence* (`order::resolve`): if the reply leaves the outcome open, the look-up and the list are read.
//!    The table in `upstream_result` maps the evidence to a result.
//! 4. *Commit 2, the outcome* (`complete`): the next state, its transfers and events, and the response for repeats.
//! 5. *Poll* (`poll`): while the outcome is open, the worker looks the order up by its identifier. A missing order is
//!    sent again with the same identifier.
//!
//! A defense has no idempotency key, so `infractions::defend` makes its own commits in place of steps 1 and 4. Its
//! other steps are the same.
//!
//! | crash | state after the crash | resumed by |
//! |---|---|---|
//! | before commit 1 | no record | the caller's repeat, as a first request |
//! | after commit 1, after the request was sent, or after the reply came | a resource in creation, and an expired lease | `create` and `resume`: look the order up; if it is absent, send it with the same identifier |
//! | after commit 2 | a visible resource and its response | a replay of the response; `poll` while the outcome is open |
//!
//! The next table shows the rules of `CreationState::step` for orders in creation, and of `poll` for visible orders:
//!
//! | result of sending | payout, refund or withdrawal in creation | visible order with an open outcome, sent again by `poll` |
//! |---|---|---|
//! | known | the state that the acquirer shows | the state that the acquirer shows |
//! | refused | fails, its hold is released | fails, its hold is released |
//! | not accepted | abandoned, its hold is released, not visible | stays open |
//! | unknown | visible and open | stays open, sent again later |
//! | refused, but unproven | visible and open | stays open, an alert is raised |
//!
//! A charge differs in three ways:
//! - The router may send a first request to several acquirers.
//! - No money is held.
//! - An unknown outcome keeps the charge in creation until the acquirer that may have it answers.
//!
//! A crypto deposit with an unknown outcome stays in creation too, but is abandoned when its rate expires. A second
//! request for a charge or deposit in creation is harmless, because no payer has seen the result of the first request.
//!
//! # To add an operation
//!
//! 1. Add the record to `stored_records!`, with the kind of its id and its query.
//! 2. Implement `UpstreamOrder`: the request, the look-up, the list that proves an absence, and the application of an
//!    acquirer's record. The worker is then `poll::run_once::<T>`.
//! 3. Implement `KeyedResource`: its identifiers, its response body, and the step that follows from a result of
//!    sending.
//! 4. Implement `CreateTerms` for the requested terms: the checks, commit 1, and the fields that are compared with the
//!    owner of an external id. The use case is then `create(ports, &request)`.
//! 5. Add the prefix of the id to `crate::resume`, so that a worker finishes the creations of crashed processes.
//!
//! A crypto processor would execute a withdrawal twice if it were sent twice. So `poll` only looks a withdrawal up and
//! never sends it again (`UpstreamOrder::IS_REPEATABLE`). If a withdrawal stays absent, an operator decides. Apart from
//! that, a withdrawal needs only these five steps: the processor's record is the `Record` of step 2, and `open` of
//! step 4 checks the quote.

mod complete;
mod create;
mod error;
mod keyed;
mod order;
pub(crate) mod poll;
mod read;
mod records;

pub(crate) use complete::resume;
pub(crate) use create::create;
pub use error::CreateError;
pub(crate) use error::{Precedence, Refusal};
pub use keyed::CreateRequest;
pub(crate) use keyed::{CreateTerms, CreationState, KeyedResource, NextStep, Opened, StoredRecord, commit_update};
pub(crate) use order::{Refreshed, Sent, SyncError, UpstreamOrder, accepted, checked, send_begun};
pub use read::{FetchError, ResourceName};
pub(crate) use read::{fetch, find, list};
