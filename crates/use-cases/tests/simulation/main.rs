//! Crash simulation of all orders that leave for an acquirer: two nodes on one store, a simulated clock, simulated acquirers.
//!
//! Each run is deterministic: one thread, one seed, one trace. A failing run prints its trace; `scripts/simulate --seed N` repeats it.
//!
//! - `table`: every operation × every crash point × every reply × with and without work of the second node.
//! - `seeds`: random runs. Calls, repeats, workers, crashes and faults interleave until the faults stop and the work is done.
//! - `node`: the crash points, between a node and its store and acquirers.
//! - `operation`: the operations. `orders`: those that take money out, in the store and at the acquirers.
//! - `world`: the nodes, their scheduler and the simulated surroundings. `check`: the invariants.
//!
//! # Faults
//!
//! | part | fault |
//! |---|---|
//! | node | crashes before or after each commit, after a request, or after its reply; is suspended while the clock moves |
//! | store | fails a commit, or makes it and loses the reply |
//! | reply to an order | lost; silent; late; late while repeats are refused; refused; refused although the order was accepted; no connection |
//! | read of an order | silent; no connection; a look-up or a list that hides the order, but never both |
//! | processor of withdrawals | makes a second batch of every repeated creation; hides batches; refuses or loses verifications; fails a batch and sends it later |
//! | callback | before the reply to its order, twice, or never |
//! | merchant | repeats a call at any time, at either node |
//!
//! # Checks
//!
//! - The institution receives no order again before a read shows its absence, and executes each order once.
//! - The institution and the store agree on the outcome of each order. The events and the fees follow from it.
//! - The creation of a withdrawal leaves once. An operator fails withdrawals that the processor does not show.
//! - Money in transit is the sum of the open orders, after each commit. The ledger and the institution agree on the money.
//! - Each response has the bytes that are stored under its key, and every repeat has the same bytes.
//! - The commit that makes a resource visible stores its response, unless a callback was faster.
//! - In the end every order has an outcome, and every call has a response.
//!
//! # To add an operation
//!
//! Add a variant to `Operation` and to `OrderKind`, and its order to `FakePsp`. If it takes money out, add a row to
//! `MONEY_KINDS`, its records to `money_orders` and its arrivals to `arrived`. Every check then covers it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod check;
mod node;
mod operation;
mod orders;
mod seeds;
mod table;
mod worker;
mod world;
