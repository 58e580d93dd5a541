//! Child processes that end with the test process, even if the test process is killed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// The pause between two checks of a wait.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Connects the standard input of a shell to this process. The kernel closes the input when the test process ends, and the shell's script
/// waits for that.
///
/// The shell has its own process group, so that Ctrl-C in a terminal ends the test process first.
pub(crate) fn tied_to_this_process(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).process_group(0)
}

/// A shell that kills a process when the test process ends.
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches the child process `id`.
    pub(crate) fn of_process(id: u32) -> Result<Self> {
        Self::with(&id.to_string())
    }

    /// Watches a process group by the id of its first process.
    pub(crate) fn of_group(id: u32) -> Result<Self> {
        Self::with(&format!("-{id}"))
    }

    fn with(target: &str) -> Result<Self> {
        let script = format!("read -r _; kill -9 {target}");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let shell = tied_to_this_process(&mut shell).spawn();
        Ok(Self(shell.context("cannot start sh")?))
    }

    /// Ends the watch. Must be called before the caller waits for the watched process: after that wait, another process may
    /// get the same id and would be killed.
    pub(crate) fn stop(mut self) {
        drop((self.0.kill(), self.0.wait()));
    }
}

/// A temporary folder that is removed when this value is dropped or the test process ends.
pub(crate) struct Folder {
    path: PathBuf,
    remover: Child,
}

impl Folder {
    /// Creates an empty folder.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        // A server that is ending still writes files, so the removal is repeated until the folder is gone.
        const SCRIPT: &str = r#"read -r _; until rm -rf "$1" && [ ! -e "$1" ]; do sleep 0.1; done"#;
        let path = tempfile::Builder::new().prefix(prefix).tempdir()?.keep();
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(&path);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let remover = tied_to_this_process(&mut shell).spawn().context("cannot start sh")?;
        Ok(Self { path, remover })
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // `wait` closes this end of the pipe. Then the shell removes the folder.
        drop(self.remover.wait());
    }
}

/// Runs a command to its end and returns its standard output. Fails if the exit code is not 0.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } = output(command)?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    ensure!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}

/// Runs a command to its end and returns its output. Any exit code is permitted.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let output = command.stdin(Stdio::null()).output();
    output.with_context(|| format!("cannot run {command:?}"))
}

/// Calls `poll` until `poll` returns a value, at most for `deadline`.
pub(crate) fn wait_for<T>(what: &str, deadline: Duration, mut poll: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = poll()? {
            return Ok(found);
        }
        if begun.elapsed() > deadline {
            bail!("{what} took longer than {deadline:?}");
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns a port of the loopback address that was free a moment ago.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
