//! What Cais does: one file per thing. The only place that orders steps; the API, the workers and the command line share it.

pub mod accounts;
pub mod answer;
pub mod balance;
pub mod charges;
pub mod housekeeping;
pub mod keys;
pub mod notices;
pub mod ports;
pub mod trouble;
pub mod work;

pub use answer::Answer;
pub use ports::Ports;
pub use work::{Pass, WorkError};
