//! Wiring, workers, start and stop of Cais, as a library for the program and its tests.

mod acquirer_trial;
mod acquirer_upkeep;
mod addresses;
mod callbacks;
pub mod clock;
mod context;
mod deliveries;
mod descriptors;
mod doctor;
pub mod ids;
mod installation;
pub mod logging;
mod measured;
mod measures;
pub mod metric_table;
pub mod serve;
pub mod wiring;
pub mod workers;

pub use context::AppContext;
