//! A report as a Markdown table, readable in a terminal.

use super::{Line, Target};
use crate::numbers::{grouped, ratio};

const HEAD: [&str; 8] = ["level", "database", "what", "measured", "beside it", "ratio", "target", ""];

/// Returns the figures as a table, with their remarks below.
#[must_use]
pub fn table(lines: &[Line]) -> String {
    let rows: Vec<[String; 8]> = std::iter::once(HEAD.map(str::to_owned)).chain(lines.iter().map(row)).collect();
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let rule = widths.map(|width| "-".repeat(width));
    let mut written = rows.iter().map(|row| cells(row, &widths));
    let head = written.next().unwrap_or_default();
    let mut text: Vec<String> = [head, cells(&rule, &widths)].into_iter().chain(written).collect();
    let mut remarks = lines.iter().filter_map(remark).peekable();
    if remarks.peek().is_some() {
        text.push(String::new());
        text.extend(remarks);
    }
    text.push(String::new());
    text.join("\n")
}

/// Returns one figure, for progress output.
#[must_use]
pub fn one(line: &Line) -> String {
    let cells: Vec<String> = row(line).into_iter().filter(|cell| !cell.is_empty()).collect();
    let remark = remark(line).map(|remark| format!("\n    {remark}")).unwrap_or_default();
    format!("{}{remark}", cells.join("  "))
}

fn cells(row: &[String; 8], widths: &[usize; 8]) -> String {
    let padded: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
    format!("| {} |", padded.join(" | "))
}

fn row(line: &Line) -> [String; 8] {
    let verdict = match line.verdict() {
        Some(true) => "pass",
        Some(false) => "**miss**",
        None => "",
    };
    [
        line.level.to_owned(),
        line.engine.to_owned(),
        line.what.clone(),
        figure(line.value, line.spread, line.unit),
        line.beside.as_ref().map_or_else(String::new, |beside| {
            format!("{} {}", beside.what, figure(beside.value, beside.spread, line.unit))
        }),
        line.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        line.target.map_or_else(String::new, |target| target_text(target, line)),
        verdict.to_owned(),
    ]
}

fn target_text(target: Target, line: &Line) -> String {
    let unit = if line.beside.is_some() { " times" } else { line.unit };
    match target {
        Target::AtLeast(least) => format!("≥ {}{unit}", number(least)),
        Target::AtMost(most) => format!("≤ {}{unit}", number(most)),
    }
}

fn figure(value: f64, spread: Option<(f64, f64)>, unit: &str) -> String {
    // The spread of a single value says nothing.
    let spread = spread.filter(|(low, high)| low < high);
    let spread = spread.map_or_else(String::new, |(low, high)| format!(" ({}–{})", number(low), number(high)));
    format!("{}{unit}{spread}", number(value))
}

/// Formats a whole number, or a number from 100 on, without decimals. A smaller number has one decimal from 10 on, and
/// otherwise two. More digits would only look exact.
fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 {
        grouped(&format!("{value:.0}"))
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn remark(line: &Line) -> Option<String> {
    let waits = line.latency.map(|wait| format!("p50 {:.1} ms, p99 {:.1} ms", wait.p50_ms, wait.p99_ms));
    let each = |cores: f64| ratio(cores * 1_000_000.0, line.value);
    let busy = line.busy.iter().map(|busy| format!("{} {:.2} ({:.0} µs each)", busy.who, busy.cores, each(busy.cores)));
    let busy: Vec<String> = busy.collect();
    let busy = (!busy.is_empty()).then(|| format!("cores busy: {}", busy.join(", ")));
    let parts: Vec<String> = waits.into_iter().chain(busy).chain(line.notes.iter().cloned()).collect();
    (!parts.is_empty()).then(|| format!("- {} ({}, {}): {}.", line.what, line.level, line.engine, parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Percentiles;
    use crate::numbers::Rounds;

    #[test]
    fn figures_are_short_and_grouped() {
        for (value, expected) in
            [(30_725.4, "30,725"), (999.5, "1,000"), (8.0, "8"), (3.25159, "3.25"), (17.27, "17.3"), (0.4, "0.40")]
        {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn table_shows_missed_targets_and_waits() {
        let line = Line::of_rounds("store", "postgres", "creations", Rounds::of(&[800.0, 1_000.0]), "/s")
            .beside("pgbench", Rounds::of(&[100.0]))
            .with_target(Target::AtLeast(10.0))
            .with_latency(Percentiles { p50_ms: 2.0, p99_ms: 6.55 })
            .note("3 rounds");
        let text = table(&[line]);
        let last = text.lines().nth(2).unwrap_or_default();
        assert_eq!(
            last,
            "| store | postgres | creations | 900/s (800–1,000) | pgbench 100/s | 9 | ≥ 10 times | **miss** |"
                .replace("| 9 |", "| 9.00  |")
        );
        assert!(text.ends_with("- creations (store, postgres): p50 2.0 ms, p99 6.5 ms; 3 rounds.\n"), "{text}");
    }
}
