//! The lines of a report: figures, baselines and targets.

mod document;
mod table;

pub use document::write_into;
pub use table::{one, table};

use serde::Serialize;

use crate::latency::Percentiles;
use crate::machine::Machine;
use crate::numbers::{Rounds, ratio};
use crate::process::Cores;

/// The results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// True for the short run with rougher figures.
    pub quick: bool,
    /// The duration, in seconds.
    pub took_s: u64,
    /// The figures.
    pub lines: Vec<Line>,
}

impl Report {
    /// Returns whether all targets are met.
    #[must_use]
    pub fn all_met(&self) -> bool {
        self.lines.iter().all(|line| line.verdict() != Some(false))
    }
}

/// A measured figure, with its baseline and its target.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The measured part: `store`, `http`, `memory`, `pages`, `dashboard`, `deliveries`, `upstream` or `crypto`.
    pub level: &'static str,
    /// The database: `postgres` or `sqlite`.
    pub engine: &'static str,
    /// The name of the measurement.
    pub what: String,
    /// The unit.
    pub unit: &'static str,
    /// The value. For several rounds, their mean, or their median if a note says so.
    pub value: f64,
    /// The values of the lowest and of the highest round. `None` for a single round.
    pub spread: Option<(f64, f64)>,
    /// The percentiles of the callers' waits.
    pub latency: Option<Percentiles>,
    /// The baseline.
    pub beside: Option<Beside>,
    /// The target.
    pub target: Option<Target>,
    /// The processor use by party.
    pub busy: Vec<Cores>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// The baseline of a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// The name.
    pub what: &'static str,
    /// The mean, in the unit of the line.
    pub value: f64,
    /// The values of the lowest and of the highest round.
    pub spread: Option<(f64, f64)>,
}

/// The target of a figure. With a baseline, the target applies to [`Line::ratio`]; otherwise to the figure itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// This value or more.
    AtLeast(f64),
    /// This value or less.
    AtMost(f64),
}

impl Line {
    /// Creates a figure without a baseline.
    #[must_use]
    pub fn new(level: &'static str, engine: &'static str, what: &str, value: f64, unit: &'static str) -> Self {
        Self {
            level,
            engine,
            what: what.to_owned(),
            unit,
            value,
            spread: None,
            latency: None,
            beside: None,
            target: None,
            busy: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates a figure of several rounds.
    #[must_use]
    pub fn of_rounds(
        level: &'static str,
        engine: &'static str,
        what: &str,
        rounds: Rounds,
        unit: &'static str,
    ) -> Self {
        Self { spread: Some((rounds.low, rounds.high)), ..Self::new(level, engine, what, rounds.mean, unit) }
    }

    /// Adds the baseline.
    #[must_use]
    pub fn beside(self, what: &'static str, rounds: Rounds) -> Self {
        let beside = Beside { what, value: rounds.mean, spread: Some((rounds.low, rounds.high)) };
        Self { beside: Some(beside), ..self }
    }

    /// Adds the target.
    #[must_use]
    pub fn with_target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Adds the waits of callers.
    #[must_use]
    pub fn with_latency(self, latency: Percentiles) -> Self {
        Self { latency: Some(latency), ..self }
    }

    /// Adds the processor use.
    #[must_use]
    pub fn busy(self, busy: Vec<Cores>) -> Self {
        Self { busy, ..self }
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Returns the ratio of the figure to its baseline.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.beside.as_ref().map(|beside| ratio(self.value, beside.value))
    }

    /// Returns whether the target is met. Returns `None` without a target.
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        let compared = self.ratio().unwrap_or(self.value);
        self.target.map(|target| match target {
            Target::AtLeast(least) => compared >= least,
            Target::AtMost(most) => compared <= most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: f64) -> Line {
        Line::new("store", "postgres", "creations", value, "/s")
    }

    #[test]
    fn target_applies_to_ratio_if_any_else_to_figure() {
        let beside = |value| line(value).beside("pgbench", Rounds::of(&[100.0]));
        for (line, expected) in [
            (line(5.0), None),
            (line(5.0).with_target(Target::AtLeast(5.0)), Some(true)),
            (line(5.0).with_target(Target::AtMost(4.9)), Some(false)),
            (beside(800.0).with_target(Target::AtLeast(8.0)), Some(true)),
            (beside(799.0).with_target(Target::AtLeast(8.0)), Some(false)),
        ] {
            assert_eq!(line.verdict(), expected, "{line:?}");
        }
    }
}
