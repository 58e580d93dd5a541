//! Crash simulation of all orders that are sent to an acquirer. Two nodes use one store; the clock and the acquirers
//! are simulated.
//!
//! Each run is deterministic: it has one thread, one seed and one trace. A failing run prints its trace, and
//! `scripts/simulate --seed N` repeats the run.
//!
//! - `table`: every operation with every crash point and every reply, with and without work of the second node.
//! - `seeds`: random runs. Calls, repeats, workers, crashes and faults are mixed until the faults stop and all work is
//!   done.
//! - `node`: the crash points of a node, between its calls of the store and of acquirers.
//! - `operation`: the operations. `orders`: the orders that take money out, in the store and at the acquirers.
//! - `deposits`: the coins of payers, and their credits.
//! - `bed`: the nodes, their scheduler and the simulated environment. `check`: the invariants.
//!
//! # Faults
//!
//! | part | fault |
//! |---|---|
//! | node | crashes before or after a commit, after a request, or after its reply; is suspended while the clock moves |
//! | store | does not execute a commit, or executes it and loses the reply |
//! | reply to an order | lost; silent; late; late while repeats are refused; refused; refused although the order was accepted; no connection |
//! | read of an order | silent; no connection; a look-up or a list that does not show the order, but never both |
//! | processor of withdrawals | creates a second batch for every repeated creation; hides batches; refuses or loses verifications; fails a batch and sends it later |
//! | payer of a deposit | pays the coins, half of them, three times as many, again, late, or not |
//! | callback | before the reply to its order, twice, or never |
//! | merchant | repeats a call at any time, at either node |
//!
//! # Checks
//!
//! - An institution receives an order again only after a read has shown its absence, and executes each order once.
//! - The institution and the store agree on the outcome of each order. The events and the fees agree with the outcome.
//! - The coins of each payment of a deposit are credited once, or wait for an operator.
//! - The creation of a withdrawal is sent once. An operator fails withdrawals that the processor does not show.
//! - After each commit, the money in transit is the sum of the open orders. The ledger and the institution agree on the
//!   money.
//! - The bytes of each response are stored under its key, and every repeat returns the same bytes.
//! - The commit that makes a resource visible also stores its response. Exception: a callback came first.
//! - At the end every order has an outcome, and every call has a response.
//!
//! # To add an operation
//!
//! Add a variant to `Operation` and to `OrderKind`, and add its order to `FakePsp`. If the operation takes money out,
//! add a row to `MONEY_KINDS`, its records to `money_orders`, and its arrivals to `arrived`. All checks then apply to
//! it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod bed;
mod check;
mod deposits;
mod node;
mod operation;
mod orders;
mod seeds;
mod table;
mod worker;
