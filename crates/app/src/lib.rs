//! Configuration, wiring, workers and command line of Cais, as a library for the program and its tests.

mod addresses;
mod callbacks;
pub mod cli;
pub mod clock;
pub mod config;
mod deliveries;
mod demo;
mod descriptors;
pub mod ids;
mod installation;
pub mod logging;
mod measured;
mod measures;
pub mod metric_table;
mod sandbox_controls;
mod sandbox_file;
pub mod serve;
mod signals;
pub mod wiring;
pub mod workers;
