//! Metrics in the sources are rows of one table, so that each has a HELP text and a row in docs/OPERATIONS.md.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;

use super::root;
use super::sources::rust_files;

/// The file of the table.
const TABLE: &str = "crates/http-api/src/telemetry/table.rs";

#[test]
fn metrics_in_the_sources_are_those_of_the_table() -> Result<()> {
    let table = names(&fs::read_to_string(root()?.join(TABLE))?);
    assert!(table.len() > 10, "only {table:?} were found");
    let mut used = BTreeSet::new();
    for file in rust_files("crates")? {
        let is_source = file.components().any(|part| part.as_os_str() == "src") && !file.ends_with(TABLE);
        if is_source {
            used.extend(names(&fs::read_to_string(&file)?));
        }
    }
    let undescribed: Vec<_> = used.difference(&table).collect();
    let unused: Vec<_> = table.difference(&used).collect();
    assert!(
        undescribed.is_empty() && unused.is_empty(),
        "not in the table: {undescribed:?}\nonly in the table: {unused:?}"
    );
    Ok(())
}

/// Returns the literals of a source that have the form of a metric's name.
fn names(source: &str) -> BTreeSet<String> {
    let has_form =
        |text: &&str| text.starts_with("cais_") && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    source.split('"').filter(has_form).map(ToOwned::to_owned).collect()
}
