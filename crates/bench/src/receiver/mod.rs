//! Receivers of webhooks, all in one process of their own: they verify what comes with the published library, or hang.

mod log;
mod serve;
mod wire;

pub use log::{Progress, Taken};
pub use serve::serve;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::process::Running;

/// The subcommand by which the bench runs them in a process of their own.
pub const SUBCOMMAND: &str = "receiver";
/// How often it is asked how much has arrived.
const LOOK: Duration = Duration::from_millis(10);
/// How long nothing new may arrive: longer than the lease of a delivery whose outcome was lost.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the process is told, one line of JSON each; it answers each with one.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    /// The secrets of the endpoints, in their order.
    Trust(Vec<String>),
    /// The first so many do not answer from now on.
    Hang(usize),
    /// How much has arrived.
    Progress,
    /// Everything that arrived; it is forgotten then.
    Take,
}

/// The process. It ends with the value.
pub struct Receiver {
    process: Running,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    ports: Vec<u16>,
}

impl Receiver {
    /// Starts so many endpoints.
    ///
    /// # Errors
    /// When they do not start.
    pub fn start(endpoints: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(SUBCOMMAND).args(["--endpoints", &endpoints.to_string()]);
        let mut process = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let (orders, answers) = process.pipes()?;
        let mut receiver = Self { process, orders, answers, ports: Vec::new() };
        receiver.ports = receiver.answer()?;
        ensure!(receiver.ports.len() == endpoints, "{} of {endpoints} endpoints listen", receiver.ports.len());
        Ok(receiver)
    }

    /// Their process.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Where they are, in their order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("http://127.0.0.1:{port}/hooks")).collect()
    }

    /// Tells them what to believe, in their order.
    ///
    /// # Errors
    /// When the process has ended, or one is no secret.
    pub fn trust(&mut self, secrets: Vec<String>) -> Result<()> {
        self.ask(&Order::Trust(secrets))
    }

    /// The first so many do not answer from now on.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn hang(&mut self, endpoints: usize) -> Result<()> {
        self.ask(&Order::Hang(endpoints))
    }

    /// How much has arrived.
    ///
    /// # Errors
    /// When the process has ended, or something came that is no webhook of ours.
    pub fn progress(&mut self) -> Result<Progress> {
        judged(self.ask(&Order::Progress)?)
    }

    /// Everything that arrived since this was asked last.
    ///
    /// # Errors
    /// As [`Receiver::progress`].
    pub fn take(&mut self) -> Result<Taken> {
        let taken: Taken = self.ask(&Order::Take)?;
        judged(taken.progress.clone())?;
        Ok(taken)
    }

    /// Waits until the first webhook was verified.
    ///
    /// # Errors
    /// When none comes for a minute; otherwise as [`Receiver::progress`].
    pub async fn wait_for_first(&mut self) -> Result<()> {
        let since = Instant::now();
        while self.progress()?.distinct == 0 {
            ensure!(since.elapsed() < PATIENCE, "no webhook arrived");
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Waits until so many webhooks were verified, each counted once for each endpoint.
    ///
    /// # Errors
    /// When more come, or nothing new does for a minute; otherwise as [`Receiver::progress`].
    pub async fn wait_for(&mut self, distinct: u64) -> Result<Progress> {
        let (mut best, mut since) = (0, Instant::now());
        loop {
            let progress = self.progress()?;
            if progress.distinct >= distinct {
                ensure!(progress.distinct == distinct, "{} webhooks arrived of {distinct}", progress.distinct);
                return Ok(progress);
            }
            if progress.distinct > best {
                (best, since) = (progress.distinct, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                bail!("{best} webhooks of {distinct} arrived, and then none");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, order: &Order) -> Result<T> {
        let line = serde_json::to_string(order)?;
        writeln!(self.orders, "{line}").context("the receivers take no orders")?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the receivers said `{}`", line.trim()))
    }
}

fn judged(progress: Progress) -> Result<Progress> {
    match progress.first_wrong {
        None => Ok(progress),
        Some(first) => bail!("{} requests were no webhooks of ours; first: {first}", progress.wrong),
    }
}
