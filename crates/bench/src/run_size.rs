//! The duration and size of a run, which the command line determines and each measurement reads.

/// The duration and size of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunSize {
    /// The counted seconds of a round.
    pub seconds: u64,
    /// The rounds of each measurement. Compared measurements alternate.
    pub rounds: usize,
    /// True for the short run.
    pub quick: bool,
}
