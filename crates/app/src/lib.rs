//! The HTTP interface and the wiring of Cais, as a library so that the command line and the tests share it.

mod addresses;
mod callbacks;
mod causes;
pub mod cli;
pub mod clock;
pub mod config;
mod days;
mod deliveries;
mod demo;
mod descriptors;
pub mod http;
pub mod ids;
mod installation;
pub mod logging;
mod measured;
mod measures;
pub mod metric_table;
pub mod representation;
mod sandbox_controls;
mod sandbox_file;
pub mod sealing;
pub mod secrets;
pub mod serve;
mod signals;
pub mod wiring;
pub mod workers;
