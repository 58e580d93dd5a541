//! Measures Cais beside something known on the same machine in the same run, and says whether its targets are met.
//!
//! Nothing is compared across machines or days: what counts are ratios of one run. Everything runs on loopback, on ports
//! that the system gives, with databases that are made for the run and removed after it.
#![expect(clippy::float_arithmetic, reason = "rates and ratios are no money")]

mod activity;
mod bare;
mod cli;
mod clock;
mod database;
mod deliveries;
mod http;
mod latency;
mod machine;
mod memory;
mod numbers;
mod pages;
mod process;
mod receiver;
mod report;
mod requests;
mod service;
mod store;
mod upstream;
mod window;

/// Callers of every load, and connections of every load over HTTP.
const CALLERS: usize = 64;
/// Threads of pgbench.
const GENERATOR_THREADS: usize = 2;

fn main() -> anyhow::Result<()> {
    cli::main()
}
