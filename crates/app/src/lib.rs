//! Wiring, workers, start and stop of Cais, as a library for the program and its tests.

mod acquirer_trial;
mod acquirer_upkeep;
mod callbacks;
pub mod clock;
mod context;
mod deliveries;
mod doctor;
mod installation;
pub mod logging;
pub mod serve;
pub mod wiring;
pub mod workers;

pub use context::AppContext;
