//! Receivers of webhooks in their own process. They verify webhooks with the published library of Standard Webhooks, or
//! hang.

mod log;
mod serve;
mod wire;

pub use log::{Progress, ReceivedWebhooks};
pub use serve::serve;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::process::Running;

/// The subcommand that runs the receivers in their own process.
pub const SUBCOMMAND: &str = "receiver";
/// The pause between two reads of the counts while a method waits for webhooks.
const POLL_PAUSE: Duration = Duration::from_millis(10);
/// The longest wait for the next webhook. If an outcome is lost, the delivery is sent again after its lease, which is
/// shorter.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A command to the process of the receivers: one line of JSON, which is answered with one line.
#[derive(Debug, Serialize, Deserialize)]
enum ReceiverCommand {
    /// Sets the secrets of the endpoints, in order.
    SetSecrets(Vec<String>),
    /// Makes this number of endpoints hang, from the first on.
    Hang(usize),
    /// Returns the counts.
    Progress,
    /// Returns the counts and times of the webhooks, and clears them.
    Take,
}

/// The process of the receivers, which ends when dropped.
pub struct Receiver {
    process: Running,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    ports: Vec<u16>,
}

impl Receiver {
    /// Starts a process with this number of endpoints.
    ///
    /// # Errors
    /// If the process does not start, or an endpoint does not listen.
    pub fn start(endpoints: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(SUBCOMMAND).args(["--endpoints", &endpoints.to_string()]);
        let mut process = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let (commands, answers) = process.pipes()?;
        let mut receiver = Self { process, commands, answers, ports: Vec::new() };
        receiver.ports = receiver.answer()?;
        ensure!(receiver.ports.len() == endpoints, "{} of {endpoints} endpoints listen", receiver.ports.len());
        Ok(receiver)
    }

    /// Returns the process id.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the URLs of the endpoints, in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("http://127.0.0.1:{port}/hooks")).collect()
    }

    /// Sets the endpoints' secrets, in order.
    ///
    /// # Errors
    /// If the process has ended, or a text is not a signing secret.
    pub fn set_secrets(&mut self, secrets: Vec<String>) -> Result<()> {
        self.ask(&ReceiverCommand::SetSecrets(secrets))
    }

    /// Makes the first `endpoints` endpoints hang: they answer no request.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn hang(&mut self, endpoints: usize) -> Result<()> {
        self.ask(&ReceiverCommand::Hang(endpoints))
    }

    /// Returns the counts.
    ///
    /// # Errors
    /// If the process has ended, or an invalid request arrived.
    pub fn progress(&mut self) -> Result<Progress> {
        ensure_all_valid(self.ask(&ReceiverCommand::Progress)?)
    }

    /// Returns the counts and times of the webhooks since the last call.
    ///
    /// # Errors
    /// As [`Receiver::progress`].
    pub fn take(&mut self) -> Result<ReceivedWebhooks> {
        let received: ReceivedWebhooks = self.ask(&ReceiverCommand::Take)?;
        ensure_all_valid(received.progress.clone())?;
        Ok(received)
    }

    /// Waits until the first webhook is verified.
    ///
    /// # Errors
    /// If no webhook is verified within a minute, or [`Receiver::progress`] fails.
    pub async fn wait_for_first(&mut self) -> Result<()> {
        let since = Instant::now();
        while self.progress()?.distinct == 0 {
            ensure!(since.elapsed() < TIMEOUT, "no webhook arrived");
            tokio::time::sleep(POLL_PAUSE).await;
        }
        Ok(())
    }

    /// Waits until this number of webhooks is verified. A repeat at the same endpoint does not count.
    ///
    /// # Errors
    /// If more webhooks arrive, if no new webhook arrives for a minute, or if [`Receiver::progress`] fails.
    pub async fn wait_for(&mut self, distinct: u64) -> Result<Progress> {
        let (mut best, mut since) = (0, Instant::now());
        loop {
            let progress = self.progress()?;
            if progress.distinct >= distinct {
                ensure!(progress.distinct == distinct, "{} of {distinct} webhooks arrived", progress.distinct);
                return Ok(progress);
            }
            if progress.distinct > best {
                (best, since) = (progress.distinct, Instant::now());
            }
            if since.elapsed() > TIMEOUT {
                bail!("no further webhook arrived after {best} of {distinct}");
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, command: &ReceiverCommand) -> Result<T> {
        let line = serde_json::to_string(command)?;
        writeln!(self.commands, "{line}").context("the receivers accept no commands")?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("unexpected line from the receivers: `{}`", line.trim()))
    }
}

/// Returns the counts if no invalid request arrived.
fn ensure_all_valid(progress: Progress) -> Result<Progress> {
    match progress.first_wrong {
        None => Ok(progress),
        Some(first) => bail!("{} requests were not webhooks of this service; first: {first}", progress.wrong),
    }
}
