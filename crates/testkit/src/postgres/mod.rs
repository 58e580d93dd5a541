//! A private PostgreSQL server for a test run: on its own port, in a temporary folder, removed with the test process.

mod install;

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::process::{Folder, free_port, run, tied_to_this_process, wait_for};
use install::Install;

/// The time limit for the start of a server, long enough for a machine that is busy with other tests.
const DEADLINE: Duration = Duration::from_mins(1);
/// The largest number of ports to try. Another process may use a free port before the server does.
const PORTS_TRIED: u32 = 10;
/// The largest number of connections to a server: enough for many stores in one test process.
const MAX_CONNECTIONS: u32 = 300;

/// The settings of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `true` if the server waits until commits are on the disk; `false` makes tests faster.
    pub fsync: bool,
    /// `true` if connections must be encrypted; the certificate is self-signed.
    pub tls: bool,
}

/// A running server. The server ends, and its folder is removed, when this value is dropped or the test process ends.
pub struct Cluster {
    supervisor: Child,
    folder: Folder,
    port: u16,
    install: Install,
    made: AtomicU32,
    templates: Mutex<HashMap<String, String>>,
}

impl Cluster {
    /// Returns the shared server of this test process, started on first use; without fsync or TLS.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start; every caller gets the error.
    pub fn shared() -> Result<&'static Self> {
        static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start(Options::default()).map_err(|error| format!("{error:#}")));
        shared.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
    }

    /// Starts a separate server.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start.
    pub fn start(options: Options) -> Result<Self> {
        let install = Install::find()?;
        let folder = Folder::new("cais-pg-")?;
        install.own(folder.path())?;
        let data = folder.path().join("data");
        let mut initdb = install.command("initdb");
        initdb.arg("-D").arg(&data);
        initdb.args(["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        run(initdb.arg("--no-sync"))?;
        if options.tls {
            make_certificate(&install, &data)?;
        }
        for _ in 0..PORTS_TRIED {
            let port = free_port()?;
            let mut supervisor = supervise(&install, &data, port, options)?;
            if wait_until_ready(&mut supervisor, &data)? {
                return Ok(Self {
                    supervisor,
                    folder,
                    port,
                    install,
                    made: AtomicU32::new(0),
                    templates: Mutex::default(),
                });
            }
        }
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        bail!("PostgreSQL does not start:\n{log}");
    }

    /// Creates an empty database, and returns its URL.
    ///
    /// # Errors
    /// If the server does not reply.
    pub fn fresh_database(&self) -> Result<String> {
        let name = self.next_name("db");
        self.sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.url(&name))
    }

    /// Creates a copy of the template database `name`, and returns the URL of the copy. The first call for a name creates
    /// the template: `prepare` gets the URL of an empty database and fills it.
    ///
    /// # Errors
    /// If the server does not reply or `prepare` fails.
    pub fn prepared_database(&self, name: &str, prepare: impl FnOnce(&str) -> Result<()>) -> Result<String> {
        // The lock is held during the copy: PostgreSQL copies a template only while no other connection uses the template.
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if !templates.contains_key(name) {
            let template = self.next_name("template");
            self.sql("postgres", &format!("CREATE DATABASE {template}"))?;
            prepare(&self.url(&template))?;
            templates.insert(name.to_owned(), template);
        }
        let template = templates.get(name).context("the template is missing")?;
        let copy = self.next_name("db");
        self.sql("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {template}"))?;
        Ok(self.url(&copy))
    }

    /// Removes a database, given its URL, and ends the connections to it. A database needs about 10 MB of disk, so a suite with a
    /// database for each of many tests removes each after its test.
    ///
    /// # Errors
    /// If the database does not exist.
    pub fn remove_database(&self, url: &str) -> Result<()> {
        let (_, name) = url.rsplit_once('/').context("the URL names no database")?;
        self.sql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)")).map(drop)
    }

    /// Runs SQL in a database, by name or URL, and returns what `psql` prints: unaligned rows without a header.
    ///
    /// # Errors
    /// If a statement fails; with the output of `psql`.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String> {
        let url = if database.contains("://") { database.to_owned() } else { self.url(database) };
        let mut psql = self.install.client("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
        psql.args(["--set", "ON_ERROR_STOP=1", "--dbname", &url, "--command", statements]);
        Ok(run(&mut psql)?.trim_end().to_owned())
    }

    /// Returns the URL of a database of this server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path of the server's self-signed certificate, in PEM. The file exists if the server was started with TLS.
    #[must_use]
    pub fn root_certificate(&self) -> PathBuf {
        self.folder.path().join("data/server.crt")
    }

    fn next_name(&self, kind: &str) -> String {
        format!("{kind}_{}", self.made.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // `wait` closes this end of the pipe. Then the supervisor ends the server.
        drop(self.supervisor.wait());
    }
}

/// Starts the server below a shell that ends the server after the test process has closed its end of the pipe.
fn supervise(install: &Install, data: &Path, port: u16, options: Options) -> Result<Child> {
    const SCRIPT: &str = r#"
log=$1; shift
exec 3<&0
"$@" >>"$log" 2>&1 </dev/null 3<&- &
server=$!
( read -r _ <&3; kill -INT $server ) &
reader=$!
wait $server
kill $reader
"#;
    let log = data.with_file_name("log");
    let mut shell = install.shell();
    shell.args(["-c", SCRIPT, "sh"]).arg(log);
    shell.arg(install.path("postgres")).arg("-D").arg(data);
    let on = |yes: bool| if yes { "on" } else { "off" };
    for setting in [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "unix_socket_directories=".to_owned(),
        format!("max_connections={MAX_CONNECTIONS}"),
        format!("fsync={}", on(options.fsync)),
        format!("full_page_writes={}", on(options.fsync)),
        format!("ssl={}", on(options.tls)),
        "lc_messages=C".to_owned(),
    ] {
        shell.arg("-c").arg(setting);
    }
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    tied_to_this_process(&mut shell).spawn().context("cannot start the supervisor of PostgreSQL")
}

/// Waits until the server is ready. Returns `false` if the server ended instead, for example because the port is in use.
///
/// Readiness is read from the server's own file, because another server could accept a connection to the same port.
fn wait_until_ready(supervisor: &mut Child, data: &Path) -> Result<bool> {
    const STATUS_LINE: usize = 7;
    let ready = wait_for("the start of PostgreSQL", DEADLINE, || {
        if supervisor.try_wait()?.is_some() {
            return Ok(Some(false));
        }
        let file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let status = file.lines().nth(STATUS_LINE);
        Ok(status.filter(|status| status.trim() == "ready").map(|_| true))
    });
    if ready.is_err() {
        drop(supervisor.wait());
    }
    ready
}

/// Creates a TLS key and a self-signed certificate, and makes the server refuse unencrypted connections.
fn make_certificate(install: &Install, data: &Path) -> Result<()> {
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-new", "-x509", "-days", "3650", "-nodes", "-newkey", "rsa:2048"]);
    openssl.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    run(&mut openssl)?;
    fs::set_permissions(&key, Permissions::from_mode(0o600))?;
    install.own(&key)?;
    install.own(&certificate)?;
    let encrypted_only = "hostssl all all 127.0.0.1/32 trust\n";
    fs::write(data.join("pg_hba.conf"), encrypted_only).context("cannot write pg_hba.conf")
}
