//! Rules for source files: first line, length and forbidden content.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{assert_no_violations, entries, root};

/// The folders with Rust sources.
const FOLDERS: [&str; 2] = ["crates", "tests"];
/// The longest file, in lines. A longer file must be divided.
const MAX_LINES: usize = 400;
/// Longer files, with reasons.
const LONGER: [(&str, &str); 0] = [];
/// The most lines of the crate `app` without its tests. The crate connects the other crates; rules belong into those.
const MAX_APP_LINES: usize = 2_500;
/// Marks of unfinished or hidden code, in two parts each, so that this file does not contain them.
const FORBIDDEN: [&str; 5] = [
    concat!("#[", "ignore"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "allow("),
    concat!("#![", "allow("),
];

#[test]
fn every_file_begins_with_its_description() -> Result<()> {
    check(|text| {
        let first = text.lines().next().and_then(|line| line.strip_prefix("//! "));
        let good = first.is_some_and(|sentence| !sentence.trim().is_empty());
        (!good).then(|| "opens with no `//!` sentence".to_owned())
    })
}

#[test]
fn files_are_short() -> Result<()> {
    check_but(&LONGER.map(|(path, _reason)| path), |text| {
        let lines = text.lines().count();
        (lines > MAX_LINES).then(|| format!("has {lines} lines"))
    })
}

#[test]
fn app_without_tests_is_short() -> Result<()> {
    let mut lines = 0;
    for file in rust_files("crates/app/src")? {
        let text = fs::read_to_string(&file)?;
        lines += text.lines().take_while(|line| *line != "#[cfg(test)]").count();
    }
    assert!(lines > 1_000, "only {lines} lines were found");
    assert!(lines < MAX_APP_LINES, "crates/app has {lines} lines without tests: move what other crates can contain");
    Ok(())
}

#[test]
fn sources_have_no_unfinished_or_hidden_code() -> Result<()> {
    check(|text| {
        let found = FORBIDDEN.iter().find(|forbidden| text.contains(**forbidden));
        found.map(|found| format!("contains {found}"))
    })
}

#[test]
fn roundings_of_crypto_are_named() -> Result<()> {
    let mut violations = Vec::new();
    for folder in ["crates/acquirers/src/nowpayments", "crates/use-cases/src/crypto"] {
        let files = rust_files(folder)?;
        assert!(!files.is_empty(), "{folder} has no file");
        for file in files {
            if fs::read_to_string(&file)?.contains("Rounding::") {
                violations
                    .push(format!("{} rounds without a name of crates/domain/src/crypto/rounding.rs", file.display()));
            }
        }
    }
    assert_no_violations(&violations);
    Ok(())
}

fn check(violation: impl Fn(&str) -> Option<String>) -> Result<()> {
    check_but(&[], violation)
}

fn check_but(exceptions: &[&str], violation: impl Fn(&str) -> Option<String>) -> Result<()> {
    let root = root()?;
    let mut files = Vec::new();
    for folder in FOLDERS {
        files.extend(rust_files(folder)?);
    }
    assert!(files.len() > 100, "only {} files were found", files.len());
    let mut violations = Vec::new();
    for file in files {
        let path = file.strip_prefix(root)?.display().to_string();
        if let Some(violation) = violation(&fs::read_to_string(&file)?)
            && !exceptions.contains(&path.as_str())
        {
            violations.push(format!("{path} {violation}"));
        }
    }
    assert_no_violations(&violations);
    Ok(())
}

/// Returns every Rust file below a folder of the repository.
pub(super) fn rust_files(folder: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(&root()?.join(folder), &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
