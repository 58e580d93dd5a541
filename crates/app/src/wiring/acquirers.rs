//! Creates the configured acquirers, and examines them for `config check` and `doctor`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use cais_acquirers::{
    AccountBalance, BacenAcquirer, BacenConfig, Certificate, EfiAcquirer, Timeouts, WooviAcquirer, WooviConfig,
};
use cais_config::{AcquirerConfig, AcquirerKind, Config, Problem, Problems};
use cais_ports::{Acquirer, AcquirerError};
use jiff::Timestamp;

use crate::logging::chain;

/// Creates every configured acquirer without a request to it.
///
/// # Errors
/// [`Problems`]: all problems of their certificates and addresses.
pub fn configured_acquirers(config: &Config) -> Result<Vec<Arc<dyn Acquirer>>, Problems> {
    let mut problems = Vec::new();
    let mut acquirers: Vec<Arc<dyn Acquirer>> = Vec::new();
    for settings in &config.acquirers {
        match configured_acquirer(settings) {
            Ok(acquirer) => acquirers.push(acquirer),
            Err(error) => problems.extend(problems_of_files(settings, &error)),
        }
    }
    if problems.is_empty() { Ok(acquirers) } else { Err(Problems(problems)) }
}

/// Returns all problems of the files. An error covers only one file, so each is tried without the other.
fn problems_of_files(settings: &AcquirerConfig, error: &anyhow::Error) -> Vec<Problem> {
    let table = format!("acquirers.{}", settings.name);
    let bare = AcquirerConfig { certificate_file: None, ca_file: None, ..settings.clone() };
    let certificate = AcquirerConfig { certificate_file: settings.certificate_file.clone(), ..bare.clone() };
    let authority = AcquirerConfig { ca_file: settings.ca_file.clone(), ..bare.clone() };
    let mut problems = Vec::new();
    if configured_acquirer(&bare).is_ok() {
        for (key, file, alone) in
            [("certificate_file", &settings.certificate_file, certificate), ("ca_file", &settings.ca_file, authority)]
        {
            if let (Some(file), Err(error)) = (file, configured_acquirer(&alone)) {
                let what = chain(error.as_ref());
                problems.push(Problem { key: format!("{table}.{key}"), what, origin: file.display().to_string() });
            }
        }
    }
    if problems.is_empty() {
        let what = chain(error.as_ref());
        problems.push(Problem { key: table, what, origin: "its certificates and addresses".to_owned() });
    }
    problems
}

fn configured_acquirer(settings: &AcquirerConfig) -> anyhow::Result<Arc<dyn Acquirer>> {
    Ok(match settings.kind {
        AcquirerKind::Bacen => Arc::new(BacenAcquirer::new(&bacen_config(settings)?)?),
        AcquirerKind::Efi => Arc::new(efi(settings)?),
        AcquirerKind::Woovi => Arc::new(WooviAcquirer::new(&woovi_config(settings)?)?),
    })
}

/// The proof that an acquirer accepts our credentials.
pub struct Access {
    /// The balance of the account, if the acquirer's interface shows it; else the reason why it cannot be read.
    pub balance: Option<Result<AccountBalance, AcquirerError>>,
    /// The acquirer's clock, if its answer has a `Date`.
    pub clock: Option<Timestamp>,
}

/// Requests an access token of an acquirer and discards it, and reads the balance where the interface shows it.
///
/// # Errors
/// The configuration cannot be used, or the acquirer refuses the credentials.
pub async fn check_access(settings: &AcquirerConfig) -> anyhow::Result<Access> {
    let clock = match settings.kind {
        AcquirerKind::Bacen => BacenAcquirer::new(&bacen_config(settings)?)?.check_access().await?,
        AcquirerKind::Efi => {
            let efi = efi(settings)?;
            let clock = efi.check_access().await?;
            return Ok(Access { balance: Some(efi.balance().await), clock });
        }
        AcquirerKind::Woovi => {
            let (balance, clock) = WooviAcquirer::new(&woovi_config(settings)?)?.balance().await?;
            return Ok(Access { balance: Some(Ok(balance)), clock });
        }
    };
    Ok(Access { balance: None, clock })
}

/// Returns the instant at which the client certificate of an acquirer expires; `None` without a configured certificate.
///
/// # Errors
/// The file has no such certificate.
pub fn certificate_expires_at(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    if settings.kind == AcquirerKind::Woovi {
        return Ok(None);
    }
    Ok(bacen_config(settings)?.certificate.map(|certificate| certificate.expires_at()).transpose()?)
}

fn read(file: &PathBuf) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Returns a key that the configuration requires for the acquirer's kind.
fn given<T: Clone>(value: Option<&T>, key: &'static str) -> anyhow::Result<T> {
    value.cloned().with_context(|| format!("{key} is missing"))
}

fn efi(settings: &AcquirerConfig) -> anyhow::Result<EfiAcquirer> {
    Ok(EfiAcquirer::new(&bacen_config(settings)?)?.with_callback_mtls(settings.callback_mtls))
}

fn woovi_config(settings: &AcquirerConfig) -> anyhow::Result<WooviConfig> {
    let public_key = settings.webhook_public_key_file.as_ref().map(read).transpose()?;
    Ok(WooviConfig {
        name: settings.name.clone(),
        base_url: settings.base_url.clone(),
        app_id: given(settings.app_id.as_ref(), "app_id")?,
        webhook_public_key: public_key.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        webhook_hmac_secret: settings.webhook_hmac_secret.clone(),
        extra_root_pem: settings.ca_file.as_ref().map(read).transpose()?,
        timeouts: Timeouts::default(),
    })
}

fn bacen_config(settings: &AcquirerConfig) -> anyhow::Result<BacenConfig> {
    let certificate = settings.certificate_file.as_ref().map(read).transpose()?;
    Ok(BacenConfig {
        token_url: settings.token_url.clone(),
        certificate: certificate.map(|bytes| Certificate::new(bytes, settings.certificate_passphrase.clone())),
        extra_root_pem: settings.ca_file.as_ref().map(read).transpose()?,
        ..BacenConfig::new(
            settings.name.clone(),
            settings.base_url.clone(),
            given(settings.client_id.as_ref(), "client_id")?,
            given(settings.client_secret.as_ref(), "client_secret")?,
            given(settings.pix_key.as_ref(), "pix_key")?,
        )
    })
}
