//! The institution: `cais sandbox` in a process of its own. So its CPU use is measured apart from the service's.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use cais_testkit::server::cais_binary;
use serde_json::Value;
use tempfile::TempDir;

use crate::http::Connection;
use crate::process::Running;

/// The name of the institution among the service's acquirers.
pub const NAME: &str = "main";

/// A running institution.
pub struct Institution {
    process: Running,
    credentials: Value,
    _folder: TempDir,
}

impl Institution {
    /// Starts the institution. Its answers are not delayed until [`Self::slow_down`] is called.
    ///
    /// # Errors
    /// If the institution does not start.
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(cais_binary()?);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CAIS_")) {
            command.env_remove(name);
        }
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--json", "--state-file"]);
        command.arg(folder.path().join("journal")).current_dir(folder.path()).env("CAIS_DATA_DIR", folder.path());
        let mut process = Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let credentials = serde_json::from_str(&process.first_line()?)?;
        Ok(Self { process, credentials, _folder: folder })
    }

    /// Returns the process id.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the address on which the institution listens.
    ///
    /// # Errors
    /// If no address was printed.
    pub fn address(&self) -> Result<SocketAddr> {
        let base = self.credential("base_url")?;
        base.trim_start_matches("http://").trim_end_matches('/').parse().context("the address of the institution")
    }

    /// Returns the environment variables that make the institution the service's acquirer.
    ///
    /// # Errors
    /// If no credentials were printed.
    pub fn settings(&self) -> Result<Vec<(String, String)>> {
        let key = |word: &str| format!("CAIS_ACQUIRERS__{}__{}", NAME.to_uppercase(), word.to_uppercase());
        let mut settings = vec![(key("kind"), "efi".to_owned())];
        for word in ["base_url", "client_id", "client_secret", "pix_key"] {
            settings.push((key(word), self.credential(word)?));
        }
        Ok(settings)
    }

    /// Returns the environment variables that make `cais sandbox` the service's crypto processor and source of rates.
    ///
    /// # Errors
    /// If no credentials were printed.
    pub fn crypto_settings(&self) -> Result<Vec<(String, String)>> {
        let mut settings = vec![
            ("CAIS_CRYPTO__KIND".to_owned(), "nowpayments".to_owned()),
            ("CAIS_CRYPTO__PTAX__BASE_URL".to_owned(), self.credential("ptax_base_url")?),
        ];
        for word in ["base_url", "api_key", "ipn_secret", "email", "password", "totp_secret"] {
            let name = format!("CAIS_CRYPTO__{}", word.to_uppercase());
            settings.push((name, self.credential(&format!("crypto_{word}"))?));
        }
        Ok(settings)
    }

    /// Delays the institution's answers, except those of its control interface. The crypto processor's answers are not
    /// delayed.
    ///
    /// # Errors
    /// If the institution refuses the request.
    pub async fn slow_down(&self, latency_ms: u64) -> Result<()> {
        let body = format!(r#"{{"mode":"slow","latency_ms":{latency_ms}}}"#);
        let length = body.len();
        let request = format!(
            "PUT /sandbox/faults HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut connection = Connection::open(self.address()?).await?;
        let answer = connection.ask(request.as_bytes()).await?;
        ensure!(answer.status == 200, "{}", String::from_utf8_lossy(answer.body));
        Ok(())
    }

    /// Returns a credential that `cais sandbox` printed.
    ///
    /// # Errors
    /// If the credential was not printed.
    pub fn credential(&self, name: &str) -> Result<String> {
        let text = self.credentials.get(name).and_then(Value::as_str);
        text.map(str::to_owned).with_context(|| format!("`cais sandbox` printed no {name}"))
    }
}
