//! Measures Cais beside a baseline on the same machine in the same run, and reports whether its targets are met.
//!
//! Figures of different machines or days are not comparable, so targets are ratios within one run where possible.
//! Everything runs on loopback, on free ports, with databases that are created for the run and removed after it.
#![expect(clippy::float_arithmetic, reason = "rates and ratios are not money")]

mod activity;
mod bare;
mod cli;
mod clock;
mod crypto;
mod dashboard;
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
mod run_size;
mod service;
mod store;
mod upstream;
mod window;

/// The usual number of callers of a load. Over HTTP, each caller has a connection of its own.
const CALLERS: usize = 64;
/// The number of threads of pgbench.
const GENERATOR_THREADS: usize = 2;

fn main() -> anyhow::Result<()> {
    cli::main()
}
