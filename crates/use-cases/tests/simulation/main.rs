//! Crash simulation of all orders that leave for an acquirer: two nodes on one store, a simulated clock, simulated acquirers.
//!
//! Each run is deterministic: one thread, one seed, one trace. A failing run prints its trace; `scripts/simulate --seed N` repeats it.
//!
//! - `table`: every operation × every crash point × every reply × with and without work of the second node.
//! - `seeds`: random runs. Calls, repeats, workers, crashes and faults interleave until the faults stop and the work is done.
//! - `node`: the crash points, between a node and its store and acquirers.
//! - `operation`: the operations. A new one needs a variant here, its records in `check`, and its order in `FakePsp`.
//! - `world`: the nodes, their scheduler and the simulated surroundings. `check`: the invariants.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod check;
mod node;
mod operation;
mod seeds;
mod table;
mod world;
