//! Finds the `cais` program of the sources under test, and builds it if it is not up to date.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::process::run;

/// The variable that names a program to test instead of the built program.
const OVERRIDE: &str = "CAIS_BINARY";
/// Prefixes of the variables that cargo sets while it runs a test. A build that inherited these variables would compile all
/// packages again.
const OF_THIS_PACKAGE: [&str; 5] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];

/// Returns the path of the program, built at most once per test process, with the profile of the test. If `CAIS_BINARY` is set, returns
/// that path instead.
///
/// # Errors
/// If the program cannot be built, or `CAIS_BINARY` does not name a file.
pub fn cais_binary() -> Result<&'static Path> {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let binary = BINARY.get_or_init(|| find().map_err(|error| format!("{error:#}")));
    binary.as_deref().map_err(|error| anyhow!("{error}"))
}

fn find() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(OVERRIDE) {
        let path = PathBuf::from(path);
        ensure!(path.is_file(), "{OVERRIDE} does not name a file: {}", path.display());
        return Ok(path);
    }
    // The test is target/PROFILE/deps/NAME, and the program is target/PROFILE/NAME.
    let test = std::env::current_exe()?;
    let folder = test.ancestors().find(|folder| folder.ends_with("deps"));
    let folder = folder.and_then(Path::parent).or(test.parent());
    let folder = folder.context("the test program has no folder")?;
    let target = folder.parent().context("the folder of the profile has no parent")?;
    let profile = folder.file_name().context("the folder of the profile has no name")?;
    let profile = if profile == "debug" { "dev".as_ref() } else { profile };

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--locked", "--package", "cais", "--bin", "cais"]);
    build.arg("--profile").arg(profile).arg("--target-dir").arg(target);
    build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_THIS_PACKAGE.iter().any(|prefix| text.starts_with(prefix)) {
            build.env_remove(&name);
        }
    }
    run(&mut build).context("cais does not build")?;
    Ok(folder.join("cais"))
}
