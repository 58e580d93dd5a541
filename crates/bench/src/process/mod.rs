//! What processes cost: processor time and memory, as Linux tells them.

mod usage;

pub use usage::{Cores, Meter, mean, resident_mib};

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// A process that never outlives the value.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        let started = command.spawn();
        started.map(Self).with_context(|| format!("{} could not be started", command.get_program().display()))
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The first line that it prints, when its output was piped.
    ///
    /// # Errors
    /// When it ends without one.
    pub fn first_line(&mut self) -> Result<String> {
        let output = self.0.stdout.take().context("its output is not piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(!line.is_empty(), "it printed nothing");
        Ok(line.trim().to_owned())
    }

    /// What it reads and what it prints, when both were piped.
    ///
    /// # Errors
    /// When they were not, or were taken before.
    pub fn pipes(&mut self) -> Result<(ChildStdin, BufReader<ChildStdout>)> {
        let input = self.0.stdin.take().context("its input is not piped")?;
        let output = self.0.stdout.take().context("its output is not piped")?;
        Ok((input, BufReader::new(output)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended: there is nobody to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end and gives what it printed.
///
/// # Errors
/// When it cannot be started or fails; its error output is in the text.
pub fn output(program: &str, arguments: &[&str]) -> Result<String> {
    output_of(Command::new(program).args(arguments))
}

/// Runs a command to its end and gives what it printed.
///
/// # Errors
/// When it cannot be started or fails; its error output is in the text.
pub fn output_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let ended = command.stdin(Stdio::null()).output().with_context(|| format!("{name} could not be started"))?;
    let errors = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "{name} failed ({}): {}", ended.status, errors.trim());
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
