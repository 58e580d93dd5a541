//! The lines of a report: what was measured, beside what, and whether that is what was wanted.

mod document;
mod table;

pub use document::write_into;
pub use table::{one, table};

use serde::Serialize;

use crate::latency::Percentiles;
use crate::machine::Machine;
use crate::numbers::{Rounds, ratio};
use crate::process::Cores;

/// Everything that one run found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What it ran on.
    pub machine: Machine,
    /// Whether it was the short run, whose figures are rougher.
    pub quick: bool,
    /// How long it took, in seconds.
    pub took_s: u64,
    /// The figures.
    pub lines: Vec<Line>,
}

impl Report {
    /// Whether every target of the lines is met.
    #[must_use]
    pub fn all_met(&self) -> bool {
        self.lines.iter().all(|line| line.verdict() != Some(false))
    }
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Which level of the system: `store`, `http`, `memory`, `pages`, `deliveries`, `upstream`.
    pub level: &'static str,
    /// Which database.
    pub engine: &'static str,
    /// What was measured.
    pub what: String,
    /// Its unit.
    pub unit: &'static str,
    /// The mean.
    pub value: f64,
    /// Lowest and highest round, when there were several.
    pub spread: Option<(f64, f64)>,
    /// What callers waited.
    pub latency: Option<Percentiles>,
    /// What it is compared with.
    pub beside: Option<Beside>,
    /// What was wanted.
    pub target: Option<Target>,
    /// Who kept how many processors busy.
    pub busy: Vec<Cores>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// The known thing that a figure is compared with.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    /// What it is.
    pub what: &'static str,
    /// Its mean, in the unit of the line.
    pub value: f64,
    /// Its lowest and highest round.
    pub spread: Option<(f64, f64)>,
}

/// What a figure should be: the ratio when there is something beside it, else the figure itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Line {
    /// A figure with nothing beside it.
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

    /// A figure of several rounds.
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

    /// With what it is compared.
    #[must_use]
    pub fn beside(self, what: &'static str, rounds: Rounds) -> Self {
        let beside = Beside { what, value: rounds.mean, spread: Some((rounds.low, rounds.high)) };
        Self { beside: Some(beside), ..self }
    }

    /// With what was wanted.
    #[must_use]
    pub fn wanting(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// With what callers waited.
    #[must_use]
    pub fn waited(self, latency: Percentiles) -> Self {
        Self { latency: Some(latency), ..self }
    }

    /// With who was busy.
    #[must_use]
    pub fn busy(self, busy: Vec<Cores>) -> Self {
        Self { busy, ..self }
    }

    /// With a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// How often the thing beside it goes into the figure.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.beside.as_ref().map(|beside| ratio(self.value, beside.value))
    }

    /// Whether the target is met; `None` without one.
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        let judged = self.ratio().unwrap_or(self.value);
        self.target.map(|target| match target {
            Target::AtLeast(least) => judged >= least,
            Target::AtMost(most) => judged <= most,
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
    fn a_ratio_is_judged_when_there_is_one_else_the_figure() {
        let beside = |value| line(value).beside("pgbench", Rounds::of(&[100.0]));
        for (line, expected) in [
            (line(5.0), None),
            (line(5.0).wanting(Target::AtLeast(5.0)), Some(true)),
            (line(5.0).wanting(Target::AtMost(4.9)), Some(false)),
            (beside(800.0).wanting(Target::AtLeast(8.0)), Some(true)),
            (beside(799.0).wanting(Target::AtLeast(8.0)), Some(false)),
        ] {
            assert_eq!(line.verdict(), expected, "{line:?}");
        }
    }
}
