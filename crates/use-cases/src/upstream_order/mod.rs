//! Creates and follows all orders with an idempotency key: charges, payouts, refunds.
//!
//! A defense has no key and shares only step 3.
//!
//! Each order passes through the same steps. A crash between two steps is resumed by the caller's repeat or by a
//! worker:
//!
//! 1. *Commit 1, the intent* (`create`): the idempotency record, the reserved names, the resource and its hold.
//! 2. *Send* (`order::send`): one request, under a name that is derived from the resource's id.
//! 3. *Read the evidence* (`order::resolve`): the look-up and the list, if the reply leaves the outcome open. The result
//!    follows from the table in `upstream_result`.
//! 4. *Commit 2, the outcome* (`complete`): the next state, its transfers and events, and the response for repeats.
//! 5. *Poll* (`poll`): while the outcome is open, read the order by its name, and send a missing order again under the
//!    same name.
//!
//! | crash | found after it | resumed by |
//! |---|---|---|
//! | before commit 1 | nothing | the caller's repeat, as a first request |
//! | after commit 1, after the request left, after the reply came | a begun resource, and the lease of a crashed process | `create` and `resume`: look up, and send under the same name if it is absent |
//! | after commit 2 | a visible resource and its response | a replay of the response; `poll` while the outcome is open |
//!
//! | result of sending | begun payout or refund | open payout or refund, in `poll` |
//! |---|---|---|
//! | known | as the acquirer shows it | as the acquirer shows it |
//! | refused | fails, its hold is released | fails, its hold is released |
//! | not taken | abandoned, its hold is released, not visible | stays open |
//! | unknown | visible and open | stays open, sent again later |
//! | unproven | visible and open | stays open, an alert is raised |
//!
//! A charge differs in three ways. A first request goes from acquirer to acquirer through the router. No money is held.
//! A charge with an unknown outcome stays begun until the acquirer that may have it answers. A crypto deposit is begun for
//! as long, but it is abandoned once its rate no longer holds. Both may be requested again, because no payer has seen the
//! first request.
//!
//! # To add an operation
//!
//! 1. Add the record to `stored_records!`, with the kind of its id and its query.
//! 2. Implement `UpstreamOrder`: the request, the look-up by name, the list that shows an absence, and the application
//!    of an acquirer's record. The worker is then `poll::run_once::<T>`.
//! 3. Implement `KeyedResource`: its names, its body, and the step that follows from a result of sending.
//! 4. Implement `CreateCommand` for the request: the checks, the first commit, and the fields that an external id
//!    compares. The use case is then `create(ports, &command)`.
//! 5. Add the prefix of the id to `crate::resume`, so that a worker finishes the creations of crashed processes.
//!
//! A crypto processor would execute a repeated creation twice. So `poll` only looks a withdrawal up, and never sends it
//! again (`UpstreamOrder::IS_REPEATABLE`). An operator decides a withdrawal that stays absent.
//!
//! A crypto withdrawal needs no more than these five steps. The processor's record is the `Record` of step 2, and the
//! quote is checked in `open` of step 4.

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
pub(crate) use keyed::{CreateCommand, KeyedResource, Opened, Standing, StoredRecord, commit_update};
pub(crate) use order::{OrderReads, Refreshed, Sent, SyncError, UpstreamOrder, accepted, checked, resolve, send_begun};
pub use read::{FetchError, ResourceName};
pub(crate) use read::{fetch, find};
