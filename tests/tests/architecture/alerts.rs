//! Alerts in log lines are constants of one table, and each constant is used in a log line.

use std::fs;

use anyhow::{Context as _, Result};

use super::sources::rust_files;
use super::{assert_no_violations, root};

/// The file of the table.
const TABLE: &str = "crates/ports/src/alerts.rs";
/// The field in log lines.
const FIELD: &str = "alert =";

#[test]
fn alerts_in_log_lines_are_those_of_the_table() -> Result<()> {
    let root = root()?;
    let table = fs::read_to_string(root.join(TABLE))?;
    let constants = table.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(" = \""));
    let mut unused: Vec<&str> = constants.map(|(constant, _)| constant).collect();
    assert!(unused.len() > 10, "only {unused:?} were found");
    let mut violations = Vec::new();
    for file in rust_files("crates")? {
        let path = file.strip_prefix(root)?.display().to_string();
        let text = fs::read_to_string(&file).with_context(|| path.clone())?;
        for (at, _) in text.match_indices(FIELD).filter(|_| path != TABLE) {
            let (before, after) = text.split_at(at);
            let value = after.trim_start_matches(FIELD).trim_start();
            if !before.ends_with("let ") && !value.starts_with("alerts::") {
                violations.push(format!("{path}: `{FIELD} {}`", value.lines().next().unwrap_or_default()));
            }
        }
        unused.retain(|constant| !text.contains(&format!("{FIELD} alerts::{constant},")));
    }
    violations.extend(unused.iter().map(|constant| format!("{TABLE}: no log line has {constant}")));
    assert_no_violations(&violations);
    Ok(())
}
