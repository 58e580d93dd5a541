//! Processes, with the processor time and memory that Linux reports for them.

mod usage;

pub use usage::{Cores, Meter, mean, resident_mib};

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// A process that ends when dropped.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts the process.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        let started = command.spawn();
        started.map(Self).with_context(|| format!("{} could not be started", command.get_program().display()))
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns the first line of the piped output.
    ///
    /// # Errors
    /// If the process ends without a line.
    pub fn first_line(&mut self) -> Result<String> {
        let output = self.0.stdout.take().context("the output of the process is not piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(!line.is_empty(), "the process printed nothing");
        Ok(line.trim().to_owned())
    }

    /// Returns the piped input and output.
    ///
    /// # Errors
    /// If they were not piped, or were returned before.
    pub fn pipes(&mut self) -> Result<(ChildStdin, BufReader<ChildStdout>)> {
        let input = self.0.stdin.take().context("the input of the process is not piped")?;
        let output = self.0.stdout.take().context("the output of the process is not piped")?;
        Ok((input, BufReader::new(output)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The errors are ignored, because the process may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end and returns its output.
///
/// # Errors
/// If the program cannot be started or fails. The error of a failed program contains its error output.
pub fn output(program: &str, arguments: &[&str]) -> Result<String> {
    output_of(Command::new(program).args(arguments))
}

/// Runs a command to its end and returns its output.
///
/// # Errors
/// If the command cannot be started or fails. The error of a failed command contains its error output.
pub fn output_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let ended = command.stdin(Stdio::null()).output().with_context(|| format!("{name} could not be started"))?;
    let errors = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "{name} failed ({}): {}", ended.status, errors.trim());
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
