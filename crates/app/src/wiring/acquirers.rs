//! Creates the configured acquirers, and examines them for `config check` and `doctor`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use cais_acquirers::{BacenAcquirer, BacenConfig, Certificate, EfiAcquirer};
use cais_config::{AcquirerConfig, AcquirerKind, Config, Problem, Problems};
use cais_ports::Acquirer;
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
    let config = bacen_config(settings)?;
    Ok(match settings.kind {
        AcquirerKind::Bacen => Arc::new(BacenAcquirer::new(&config)?),
        AcquirerKind::Efi => Arc::new(EfiAcquirer::new(&config)?),
    })
}

/// Requests an access token of an acquirer and discards it. Returns the acquirer's clock if the answer has a `Date`.
///
/// # Errors
/// The configuration cannot be used, or the acquirer issues no token.
pub async fn check_access(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    let config = bacen_config(settings)?;
    Ok(match settings.kind {
        AcquirerKind::Bacen => BacenAcquirer::new(&config)?.check_access().await?,
        AcquirerKind::Efi => EfiAcquirer::new(&config)?.check_access().await?,
    })
}

/// Returns the instant at which the client certificate of an acquirer expires; `None` without a configured certificate.
///
/// # Errors
/// The file has no such certificate.
pub fn certificate_expires_at(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    Ok(bacen_config(settings)?.certificate.map(|certificate| certificate.expires_at()).transpose()?)
}

fn bacen_config(settings: &AcquirerConfig) -> anyhow::Result<BacenConfig> {
    let read = |file: &PathBuf| fs::read(file).with_context(|| format!("{} cannot be read", file.display()));
    let certificate = settings.certificate_file.as_ref().map(read).transpose()?;
    Ok(BacenConfig {
        token_url: settings.token_url.clone(),
        certificate: certificate.map(|bytes| Certificate::new(bytes, settings.certificate_passphrase.clone())),
        extra_root_pem: settings.ca_file.as_ref().map(read).transpose()?,
        ..BacenConfig::new(
            settings.name.clone(),
            settings.base_url.clone(),
            settings.client_id.clone(),
            settings.client_secret.clone(),
            settings.pix_key.clone(),
        )
    })
}
