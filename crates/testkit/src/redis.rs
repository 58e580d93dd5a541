//! A private Redis server for a test: on a free port, in a temporary folder, without persistence.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::process::{free_port, run};

/// A Redis server, which ends when this value is dropped.
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl RedisServer {
    /// Starts a server. When this returns, the server may not accept connections yet.
    ///
    /// # Errors
    /// If Redis is not installed.
    pub fn start() -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, free_port()?);
        let process = spawn(&folder, port)?;
        Ok(Self { folder, port, process })
    }

    /// Returns the server's URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills the process.
    ///
    /// # Errors
    /// If the process cannot be killed, or had already ended without an error.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        ensure!(!self.process.wait()?.success(), "Redis ended before it was killed");
        Ok(())
    }

    /// Starts an empty server on the same port, after [`Self::kill`].
    ///
    /// # Errors
    /// If Redis does not start.
    pub fn start_again(&mut self) -> Result<()> {
        self.process = spawn(&self.folder, self.port)?;
        Ok(())
    }

    /// Sends a signal to the process, for example `STOP` or `CONT`.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn signal(&self, name: &str) -> Result<()> {
        run(Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string())).map(drop)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop((self.process.kill(), self.process.wait()));
    }
}

fn spawn(folder: &TempDir, port: u16) -> Result<Child> {
    let mut server = Command::new("redis-server");
    server.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()]);
    server.current_dir(folder.path()).stdout(Stdio::null()).spawn().context("cannot start redis-server")
}
