//! Processor time and resident memory, read from `/proc`.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::output;
use crate::numbers::{count, ratio, real};

/// The average number of processors that one party used. A party is a named process with its descendants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cores {
    /// The name of the party.
    pub who: &'static str,
    /// The number of processors; 1 means one processor all the time.
    pub cores: f64,
}

/// Returns the mean use of each party over all rounds. All rounds must have the same parties in the same order.
#[must_use]
pub fn mean(rounds: &[Vec<Cores>]) -> Vec<Cores> {
    let uses_of = |index: usize| rounds.iter().filter_map(move |round| round.get(index)).map(|busy| busy.cores);
    let first = rounds.first().into_iter().flatten().enumerate();
    first
        .map(|(index, busy)| Cores { who: busy.who, cores: uses_of(index).sum::<f64>() / real(count(rounds.len())) })
        .collect()
}

/// A measurement of the processor use of all parties, from [`Meter::start`] to [`Meter::stop`].
#[derive(Debug)]
pub struct Meter {
    parties: Vec<(&'static str, u32)>,
    ticks_per_second: f64,
    started: Instant,
    before: HashMap<u32, Process>,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    parent: u32,
    own_ticks: u64,
    ended_children_ticks: u64,
}

impl Meter {
    /// Starts measuring. If one party descends from another, its use does not count for that other party.
    ///
    /// # Errors
    /// If `/proc` cannot be read.
    pub fn start(parties: &[(&'static str, u32)]) -> Result<Self> {
        let ticks = output("getconf", &["CLK_TCK"])?;
        Ok(Self {
            parties: parties.to_vec(),
            ticks_per_second: ticks.trim().parse().context("clock ticks per second")?,
            before: processes()?,
            started: Instant::now(),
        })
    }

    /// Returns each party's use since the start.
    ///
    /// # Errors
    /// If `/proc` cannot be read.
    pub fn stop(&self) -> Result<Vec<Cores>> {
        let elapsed = self.started.elapsed();
        let after = processes()?;
        let used = |(who, id): &(&'static str, u32)| {
            let ticks = self.ticks(&after, *id).saturating_sub(self.ticks(&self.before, *id));
            Cores { who, cores: self.cores(ticks, elapsed) }
        };
        Ok(self.parties.iter().map(used).collect())
    }

    fn cores(&self, ticks: u64, elapsed: Duration) -> f64 {
        ratio(ratio(real(ticks), self.ticks_per_second), elapsed.as_secs_f64())
    }

    /// Returns the ticks of a process and its descendants, except those of other parties.
    fn ticks(&self, processes: &HashMap<u32, Process>, root: u32) -> u64 {
        let belongs = |id: u32| {
            let mut at = id;
            while at != root {
                if self.is_party(at) {
                    return false;
                }
                match processes.get(&at) {
                    Some(process) if process.parent != 0 => at = process.parent,
                    Some(_) | None => return false,
                }
            }
            true
        };
        let live = processes.iter().filter(|(id, _)| belongs(**id)).map(|(_, process)| process.own_ticks);
        let ended = processes.get(&root).map_or(0, |process| process.ended_children_ticks);
        // The ended children of this program do not count as its own use, because most of them were other parties.
        let ended = if root == std::process::id() { 0 } else { ended };
        live.sum::<u64>().saturating_add(ended)
    }

    fn is_party(&self, id: u32) -> bool {
        self.parties.iter().any(|(_, party)| *party == id)
    }
}

/// Returns the resident memory of a process, in MiB.
///
/// # Errors
/// If the process has ended.
pub fn resident_mib(id: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().context("VmRSS")?;
    Ok(ratio(real(kib), 1024.0))
}

fn processes() -> Result<HashMap<u32, Process>> {
    let entries = fs::read_dir("/proc").context("/proc")?;
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(ids.filter_map(|id: u32| Some((id, parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?))).collect())
}

/// Parses a line of `/proc/PID/stat` (`man 5 proc`). The name in brackets may contain blanks, so fields are counted
/// after it.
fn parse(stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        own_ticks: number(11)?.saturating_add(number(12)?),
        ended_children_ticks: number(13)?.saturating_add(number(14)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_name_with_blanks_does_not_shift_fields() {
        let stat = "12 (a) b (c) S 7 1 1 0 -1 4194560 1 2 3 4 50 6 70 8 20 0 1 0 99";
        let process = parse(stat).map(|found| (found.parent, found.own_ticks, found.ended_children_ticks));
        assert_eq!(process, Some((7, 56, 78)));
    }

    #[test]
    fn rounds_are_averaged_by_party() {
        let round = |cores: [f64; 2]| {
            let [service, postgres] = cores;
            vec![Cores { who: "service", cores: service }, Cores { who: "postgres", cores: postgres }]
        };
        assert_eq!(mean(&[round([1.0, 0.25]), round([0.5, 0.75])]), round([0.75, 0.5]));
        assert_eq!(mean(&[]), Vec::new());
    }

    #[test]
    fn this_process_has_memory() {
        assert!(resident_mib(std::process::id()).is_ok_and(|mib| mib > 0.1));
    }
}
