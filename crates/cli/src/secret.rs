//! Secrets of commands, read from a file, from standard input or from the environment. A secret is never an argument, because every user of
//! the machine can read arguments.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};
use cais_ports::Secret;

/// The environment variable with an API key for commands that call a service.
pub const API_KEY_VARIABLE: &str = "CAIS_API_KEY";
/// The environment variable with the signing secret for commands that check or send webhooks.
pub const WEBHOOK_SECRET_VARIABLE: &str = "CAIS_WEBHOOK_SECRET";
/// The two variables above. The configuration ignores them, although their names begin with `CAIS_` as those of its keys.
pub const SECRET_VARIABLES: [&str; 2] = [API_KEY_VARIABLE, WEBHOOK_SECRET_VARIABLE];
/// The file name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";
/// Largest accepted file with secrets, in bytes. A usual file has less than 100 bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a secret from `file` (`-` is standard input), otherwise from the environment variable. Returns `None` if neither is given.
///
/// # Errors
/// A file that cannot be read, or that is empty or too large.
pub fn read(file: Option<&Path>, variable: &str) -> anyhow::Result<Option<Secret>> {
    match file {
        Some(file) => read_file(file).map(Some),
        None => Ok(std::env::var(variable).ok().filter(|text| !text.trim().is_empty()).map(Secret::new)),
    }
}

fn read_file(file: &Path) -> anyhow::Result<Secret> {
    let mut text = String::new();
    let limit = MAX_BYTES.saturating_add(1);
    let name = if file == Path::new(STANDARD_INPUT) {
        std::io::stdin().take(limit).read_to_string(&mut text).context("no secret can be read from standard input")?;
        "standard input".to_owned()
    } else {
        let opened = File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text));
        opened.with_context(|| format!("{} cannot be read", file.display()))?;
        file.display().to_string()
    };
    ensure!(u64::try_from(text.len()).is_ok_and(|length| length <= MAX_BYTES), "{name} is too large for a secret");
    ensure!(!text.trim().is_empty(), "{name} holds no secret");
    Ok(Secret::new(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn secret_file_is_trimmed_and_never_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, " whsec_x\n").unwrap();
        assert_eq!(read(Some(&file), "UNUSED").unwrap().unwrap().expose(), "whsec_x");
        for content in [String::from("\n"), "x".repeat(64 * 1024 + 1)] {
            std::fs::write(&file, content).unwrap();
            assert!(read(Some(&file), "UNUSED").is_err());
        }
        assert!(read(Some(&folder.path().join("none")), "UNUSED").is_err());
        assert!(read(None, "CAIS_TEST_VARIABLE_THAT_IS_NOT_SET").unwrap().is_none());
    }
}
