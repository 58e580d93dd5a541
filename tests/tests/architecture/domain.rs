//! The domain crate builds alone: copied out of the workspace, its examples run.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{entries, root};

/// The dependencies of the crate's own tests, not needed by the examples. Without them the build takes half the time.
const DEV_DEPENDENCIES: &str = "\n[dev-dependencies]\n";

#[test]
fn domain_copied_out_of_the_workspace_runs_its_examples() -> Result<()> {
    let (root, alone) = (root()?, tempfile::tempdir()?);
    let source = root.join("crates/domain");
    let target = alone.path().join("crates/domain");
    copy(&source.join("src"), &target.join("src"))?;
    fs::copy(source.join("README.md"), target.join("README.md"))?;
    let manifest = fs::read_to_string(source.join("Cargo.toml"))?;
    let (manifest, _) = manifest.split_once(DEV_DEPENDENCIES).context("dev-dependencies are the last section")?;
    fs::write(target.join("Cargo.toml"), manifest)?;
    fs::write(alone.path().join("Cargo.toml"), workspace(&fs::read_to_string(root.join("Cargo.toml"))?)?)?;
    // The workspace's versions, which are downloaded already.
    fs::copy(root.join("Cargo.lock"), alone.path().join("Cargo.lock"))?;

    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--doc", "--offline"]).current_dir(alone.path());
    let output = cargo.env("CARGO_TARGET_DIR", alone.path().join("target")).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = text.split_once("test result: ok. ").and_then(|(_, rest)| rest.split_once(" passed"));
    let passed: u32 = passed.context("the result of the examples")?.0.parse()?;
    ensure!(passed >= 3, "only {passed} examples ran\n{text}");
    Ok(())
}

/// Returns the manifest of a workspace with the domain crate alone, with the versions and lints of ours.
fn workspace(manifest: &str) -> Result<String> {
    let (head, rest) = manifest.split_once("members = [").context("members")?;
    let (_, rest) = rest.split_once(']').context("the end of the members")?;
    let kept = rest.lines().filter(|line| !line.contains("path = \"crates/"));
    Ok(format!("{head}members = [\"crates/domain\"]{}\n", kept.collect::<Vec<_>>().join("\n")))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for path in entries(from)? {
        let target = to.join(path.file_name().context("a name")?);
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
