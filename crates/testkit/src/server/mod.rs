//! The real `cais` program in its own process, with its own data folder and database.

mod binary;
mod http;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::postgres::Cluster;
use crate::process::{Folder, Watchdog, output, run, wait_for};
pub use binary::cais_binary;
pub(crate) use http::client;
pub use http::{Http, Reply};

/// The time limit for a start or end of the program, long enough for a machine that is busy with other tests.
const DEADLINE: Duration = Duration::from_mins(1);
/// The number of bytes from the end of the log that a failure shows.
const LOG_SHOWN: u64 = 8_192;

/// The storage of the service's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A file in the data folder.
    Sqlite,
    /// A new database on the PostgreSQL server of this test process ([`Cluster::shared`]).
    Postgres,
}

impl Engine {
    /// Both engines, for tests that run once per engine.
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];
}

/// A service, running or not. When this value is dropped, the process ends, and the data folder is removed. The process, the folder and
/// a PostgreSQL database never outlive the test process.
pub struct Cais {
    folder: Folder,
    environment: BTreeMap<String, String>,
    process: Option<Running>,
    client: reqwest::Client,
    addresses: Addresses,
}

struct Running {
    child: Child,
    watchdog: Watchdog,
}

#[derive(Debug, Clone, Default)]
struct Addresses {
    listen: String,
    admin: Option<String>,
}

impl Cais {
    /// Starts the service with a minimal configuration. The built-in sandbox is the acquirer.
    ///
    /// # Errors
    /// If the program cannot be built, or the service does not become ready. The error has the end of the service's log.
    pub async fn start(engine: Engine) -> Result<Self> {
        Self::start_with(engine, &[]).await
    }

    /// Starts the service with more environment variables, such as `("CAIS_PUBLIC_URL", "…")`. `CAIS_SANDBOX=true` is added, unless
    /// `environment` contains `CAIS_SANDBOX` or a variable of an acquirer (`CAIS_ACQUIRERS__…`).
    ///
    /// # Errors
    /// As [`Cais::start`].
    pub async fn start_with(engine: Engine, environment: &[(&str, &str)]) -> Result<Self> {
        let mut cais = Self::prepare(engine, environment)?;
        if engine == Engine::Postgres {
            cais.cli(&["migrate"])?;
        }
        cais.launch().await?;
        Ok(cais)
    }

    /// Prepares a service without starting it. Subcommands work at once; [`Cais::launch`] starts the service.
    ///
    /// # Errors
    /// If the program cannot be built, or PostgreSQL does not start.
    pub fn prepare(engine: Engine, environment: &[(&str, &str)]) -> Result<Self> {
        cais_binary()?;
        let folder = Folder::new("cais-test-")?;
        let mut all = BTreeMap::from([
            // A shutdown need not wait for a load balancer.
            ("CAIS_DRAIN_DELAY_S".to_owned(), "0".to_owned()),
            ("CAIS_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            ("CAIS_ADMIN_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            ("CAIS_DATA_DIR".to_owned(), folder.path().display().to_string()),
        ]);
        if engine == Engine::Postgres {
            let url = Cluster::shared()?.fresh_database()?;
            all.insert("CAIS_DATABASE_URL".to_owned(), url);
            // With PostgreSQL, every node must be configured with the same master key. With SQLite, the service creates its own.
            all.insert(
                "CAIS_MASTER_KEY".to_owned(),
                "5a5b5c5d5e5f6a6b6c6d6e6f7a7b7c7d7e7f8a8b8c8d8e8f9a9b9c9d9e9fa0a1".to_owned(),
            );
        }
        for (name, value) in environment {
            all.insert((*name).to_owned(), (*value).to_owned());
        }
        Ok(Self { folder, environment: all, process: None, client: http::client()?, addresses: Addresses::default() })
    }

    /// Starts the service, or starts it again on the same data. Returns after it is ready.
    ///
    /// # Errors
    /// If the service does not become ready. The error has the end of its log.
    pub async fn launch(&mut self) -> Result<()> {
        ensure!(self.process.is_none(), "cais is running");
        let addresses = self.data_dir().join("addresses.json");
        drop(fs::remove_file(&addresses));
        let log = OpenOptions::new().create(true).append(true).open(self.log_file())?;
        let mut serve = self.command()?;
        serve.arg("serve").stdin(Stdio::null());
        let child = serve.stdout(log.try_clone()?).stderr(log).spawn()?;
        let watchdog = Watchdog::of_process(child.id())?;
        self.process = Some(Running { child, watchdog });
        self.addresses = self.wait_for_addresses(&addresses)?;
        self.wait_until_ready().await
    }

    /// Sets a variable for the next launch.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a variable for the next launch.
    pub fn unset(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// Kills the process with SIGKILL, so that none of its code runs any more.
    ///
    /// # Errors
    /// If the process is not running.
    pub fn kill9(&mut self) -> Result<()> {
        let Running { mut child, watchdog } = self.process.take().context("cais is not running")?;
        child.kill()?;
        watchdog.stop();
        child.wait()?;
        Ok(())
    }

    /// Requests an orderly shutdown, and waits until the process has ended.
    ///
    /// # Errors
    /// If the process is not running, or does not end.
    pub fn terminate(&mut self) -> Result<ExitStatus> {
        self.terminate_by("TERM")
    }

    /// Works like [`Cais::terminate`], with this signal, for example `INT`.
    ///
    /// # Errors
    /// As [`Cais::terminate`].
    pub fn terminate_by(&mut self, signal: &str) -> Result<ExitStatus> {
        self.signal(signal)?;
        let running = self.process.as_mut().context("cais is not running")?;
        let status = wait_for("the end of cais", DEADLINE, || Ok(running.child.try_wait()?))?;
        if let Some(Running { watchdog, .. }) = self.process.take() {
            watchdog.stop();
        }
        Ok(status)
    }

    /// Sends the process a signal by name, such as `STOP` or `CONT`.
    ///
    /// # Errors
    /// If the process is not running.
    pub fn signal(&self, name: &str) -> Result<()> {
        let running = self.process.as_ref().context("cais is not running")?;
        run(Command::new("kill").arg(format!("-{name}")).arg(running.child.id().to_string())).map(drop)
    }

    /// Kills the service and starts it again on the same data.
    ///
    /// # Errors
    /// As [`Cais::kill9`] and [`Cais::launch`].
    pub async fn crash_and_restart(&mut self) -> Result<()> {
        self.kill9()?;
        self.launch().await
    }

    /// Runs a subcommand on the same data and returns the JSON that the subcommand prints. Returns `null` if it prints nothing.
    ///
    /// # Errors
    /// If the subcommand fails, or prints other text than JSON. The error has its output.
    pub fn cli(&self, arguments: &[&str]) -> Result<Value> {
        let printed = run(self.command()?.args(arguments).arg("--json"))?;
        if printed.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&printed).with_context(|| format!("cais {arguments:?} printed {printed}"))
    }

    /// Runs a subcommand that may fail. Returns its exit code and its whole output.
    ///
    /// # Errors
    /// If the subcommand cannot be started.
    pub fn cli_raw(&self, arguments: &[&str]) -> Result<(Option<i32>, String)> {
        let output = output(self.command()?.args(arguments))?;
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok((output.status.code(), printed))
    }

    /// Opens an approved account and creates a key with those scopes. Returns the key.
    ///
    /// # Errors
    /// If a command fails, or no key is printed.
    pub fn create_key(&self, email: &str, scopes: &str) -> Result<String> {
        let account = ["account", "create", "--email", email, "--name", "Loja"];
        let account = [&account[..], &["--document", "12345678909", "--approve"]].concat();
        self.cli(&account)?;
        let key = self.cli(&["key", "create", "--account", email, "--name", "test", "--scopes", scopes])?;
        let key = key.get("key").and_then(Value::as_str);
        Ok(key.context("`key create` printed no `key`")?.to_owned())
    }

    /// Returns a client of the public listener, without an API key.
    #[must_use]
    pub fn http(&self) -> Http {
        Http::new(self.client.clone(), &self.base_url(), None)
    }

    /// Returns a client of the public listener, with this API key.
    #[must_use]
    pub fn http_as(&self, key: &str) -> Http {
        Http::new(self.client.clone(), &self.base_url(), Some(key))
    }

    /// Returns a client of the admin listener; `None` if the service has no admin listener.
    #[must_use]
    pub fn http_admin(&self) -> Option<Http> {
        let admin = self.addresses.admin.as_ref()?;
        Some(Http::new(self.client.clone(), &format!("http://{admin}"), None))
    }

    /// Returns the URL of the public listener, `http://127.0.0.1:PORT`. The port changes with each launch.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.addresses.listen)
    }

    /// Returns the folder of the service, with its log and `addresses.json`. With SQLite, the folder also has the database.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL of the PostgreSQL database. Returns `None` if the data is in a file of the data folder.
    #[must_use]
    pub fn database_url(&self) -> Option<&str> {
        self.environment.get("CAIS_DATABASE_URL").map(String::as_str)
    }

    /// Returns the id of the process; `None` if it is not running.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|running| running.child.id())
    }

    /// Returns the log of all launches.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(cais_binary()?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CAIS_") {
                command.env_remove(name);
            }
        }
        // The program runs in its data folder, not in the folder of the test process.
        command.current_dir(self.folder.path()).envs(&self.environment);
        if !self.environment.keys().any(|name| name.starts_with("CAIS_ACQUIRERS__") || name == "CAIS_SANDBOX") {
            command.env("CAIS_SANDBOX", "true");
        }
        Ok(command)
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("test.log")
    }

    fn log_end(&self) -> String {
        let end = || -> Result<String> {
            let mut file = File::open(self.log_file())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_SHOWN)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        end().unwrap_or_default()
    }

    /// Waits for the file with the addresses. While the file is only partly written, it cannot be parsed, and the wait goes on.
    fn wait_for_addresses(&mut self, file: &Path) -> Result<Addresses> {
        let running = self.process.as_mut().context("cais is not running")?;
        let found = wait_for("the start of cais", DEADLINE, || {
            if let Some(status) = running.child.try_wait()? {
                bail!("cais ended: {status}");
            }
            let written = fs::read(file).unwrap_or_default();
            let Ok(written) = serde_json::from_slice::<Value>(&written) else {
                return Ok(None);
            };
            let of = |name: &str| written.get(name).and_then(Value::as_str).map(str::to_owned);
            Ok(of("listen").map(|listen| Addresses { listen, admin: of("admin") }))
        });
        found.with_context(|| self.log_end())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let http = self.http();
        let begun = std::time::Instant::now();
        while !http.get("/readyz").await.is_ok_and(|reply| reply.status == 200) {
            let Some(running) = self.process.as_mut() else {
                bail!("cais is not running");
            };
            if let Some(status) = running.child.try_wait()? {
                bail!("cais ended: {status}\n{}", self.log_end());
            }
            if begun.elapsed() > DEADLINE {
                bail!("cais does not become ready\n{}", self.log_end());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

impl Drop for Cais {
    fn drop(&mut self) {
        if let Some(Running { mut child, watchdog }) = self.process.take() {
            drop(child.kill());
            watchdog.stop();
            drop(child.wait());
        }
    }
}
