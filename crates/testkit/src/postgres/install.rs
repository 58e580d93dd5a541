//! The installation of PostgreSQL on this machine, and the user that runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process::run;

/// The folder of the server programs on Debian, by version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The user of the server if the tests run as root, because the server refuses root.
const SERVER_USER: &str = "postgres";

/// The programs of one version of PostgreSQL.
#[derive(Debug)]
pub(super) struct Install {
    programs: PathBuf,
    as_root: bool,
}

impl Install {
    /// Finds the newest version in Debian's folder; without one, the first on `PATH`.
    pub(super) fn find() -> Result<Self> {
        let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let version = entry.file_name().to_str()?.parse().ok()?;
                Some((version, entry.path().join("bin")))
            })
            .collect();
        versions.sort();
        let newest_first = versions.into_iter().rev().map(|(_, programs)| programs);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = newest_first
            .chain(std::env::split_paths(&path))
            .find(|programs| programs.join("initdb").is_file())
            .context("no PostgreSQL server is installed: run scripts/setup")?;
        let as_root = run(Command::new("id").arg("-u"))?.trim() == "0";
        Ok(Self { programs, as_root })
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.programs.join(program)
    }

    /// Returns a command that runs as the server's user, for a program that creates or runs a server.
    pub(super) fn command(&self, program: &str) -> Command {
        self.run_as_server(self.path(program))
    }

    /// Returns a shell that runs as the server's user.
    pub(super) fn shell(&self) -> Command {
        self.run_as_server("sh".into())
    }

    /// Returns a command for a client of the server, from the installation or else from `PATH`.
    pub(super) fn client(&self, program: &str) -> Command {
        let beside_the_server = self.path(program);
        if beside_the_server.is_file() { Command::new(beside_the_server) } else { Command::new(program) }
    }

    /// Makes the server's user the owner of a file or folder.
    pub(super) fn own(&self, path: &Path) -> Result<()> {
        if self.as_root {
            run(Command::new("chown").arg(SERVER_USER).arg(path))?;
        }
        Ok(())
    }

    fn run_as_server(&self, program: PathBuf) -> Command {
        let mut command = if self.as_root {
            let mut runuser = Command::new("runuser");
            runuser.args(["-u", SERVER_USER, "--"]).arg(program);
            runuser
        } else {
            Command::new(program)
        };
        // The server's user may have no access to the working folder of the test process.
        command.current_dir("/");
        command
    }
}
