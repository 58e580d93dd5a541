//! Child processes that never outlive the test process, however it ends.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// How long a wait sleeps between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A shell that waits for the end of its standard input, which the kernel closes when the test process is gone, and then runs `script`.
///
/// It is in a process group of its own, so that Ctrl-C in a terminal ends the test process first.
pub(crate) fn guarded_by_us(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).process_group(0)
}

/// Kills a process when the test process is gone.
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches over the process `id`, a child of ours.
    pub(crate) fn over(id: u32) -> Result<Self> {
        let script = format!("read -r _; kill -9 {id}");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let shell = guarded_by_us(&mut shell).spawn();
        Ok(Self(shell.context("cannot start sh")?))
    }

    /// Ends the watch. To be called before the process is waited for, while its id cannot be another's.
    pub(crate) fn dismiss(mut self) {
        drop((self.0.kill(), self.0.wait()));
    }
}

/// A temporary folder that is removed when this is dropped or the test process is gone.
pub(crate) struct Folder {
    path: PathBuf,
    janitor: Child,
}

impl Folder {
    /// An empty folder of its own.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        // A server that is ending still writes; once it has ended, everything can be removed.
        const SCRIPT: &str = r#"read -r _; until rm -rf "$1" && [ ! -e "$1" ]; do sleep 0.1; done"#;
        let path = tempfile::Builder::new().prefix(prefix).tempdir()?.keep();
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(&path);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let janitor = guarded_by_us(&mut shell).spawn().context("cannot start sh")?;
        Ok(Self { path, janitor })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // `wait` closes our end of the pipe, which is what the janitor waits for.
        drop(self.janitor.wait());
    }
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } = output(command)?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    ensure!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}

/// Runs a command to its end, whatever that is.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let output = command.stdin(Stdio::null()).output();
    output.with_context(|| format!("cannot run {command:?}"))
}

/// Looks until `look` finds something, at most for `deadline`.
pub(crate) fn wait_for<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if begun.elapsed() > deadline {
            bail!("{what} took longer than {deadline:?}");
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A port of the loopback address that was free a moment ago.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
