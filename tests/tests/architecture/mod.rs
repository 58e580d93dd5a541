//! Rules for the sources: dependencies, alerts, metrics, first lines and lengths of files, migrations.

mod alerts;
mod domain;
mod edges;
mod metrics;
mod migrations;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Returns the root of the repository.
fn root() -> Result<&'static Path> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.context("the tests are in a folder of the repository")
}

/// Returns the folder's entries, sorted by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = read.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Fails if a violation exists, and shows all.
fn assert_no_violations(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}
