//! Creates the configured acquirers, and examines them for `config check` and `doctor`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use cais_acquirers::bacen::profile::{CredentialsIn, Dates};
use cais_acquirers::{
    AccountBalance, BacenAcquirer, BacenConfig, Certificate, EfiAcquirer, GrantForm, Profile, Route, Timeouts,
    WooviAcquirer, WooviConfig,
};
use cais_cli::ConfiguredAcquirer;
use cais_config::warnings::{CERTIFICATE_EXPIRES, Warning};
use cais_config::{
    AcquirerConfig, AcquirerKind, Config, Operations, Pairs, Problem, Problems, SANDBOX, TokenBody, TokenCredentials,
};
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError};
use jiff::{SignedDuration, Timestamp};

use crate::logging::chain;

/// A certificate with less remaining validity causes a warning. The limit is the same as in `doctor`. Acquirers need days to issue a new
/// certificate.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Creates every configured acquirer, and sends no request.
///
/// # Errors
/// [`Problems`]: all problems of the acquirers' certificates and addresses.
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

/// Returns the problems of all files of an acquirer. `error` names only the first problem, so each file is tried alone.
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

/// Creates a configured acquirer, and sends no request.
///
/// # Errors
/// A certificate or an address of the acquirer is invalid, or a file cannot be read.
pub fn configured_acquirer(settings: &AcquirerConfig) -> anyhow::Result<Arc<dyn Acquirer>> {
    Ok(match settings.kind {
        AcquirerKind::Bacen => Arc::new(BacenAcquirer::new(&bacen_config(settings)?)?),
        AcquirerKind::Efi => Arc::new(efi(settings)?),
        AcquirerKind::Woovi => Arc::new(WooviAcquirer::new(&woovi_config(settings)?)?),
    })
}

/// Returns the configured route of an acquirer: its number, its weight and the kinds of new orders that it receives.
pub(super) fn route(settings: &AcquirerConfig) -> Route {
    let Operations { charges, payouts } = settings.operations;
    Route { order: settings.order, weight: settings.weight, charges, payouts }
}

/// The result of a check in which an acquirer accepted our credentials.
pub struct Access {
    /// The balance of the account, or the reason for which it cannot be read; `None` if the acquirer's interface shows
    /// no balance.
    pub balance: Option<Result<AccountBalance, AcquirerError>>,
    /// The acquirer's clock, if its answer has a `Date`.
    pub clock: Option<Timestamp>,
}

/// Checks that an acquirer accepts our credentials: requests an access token (Woovi has none), and reads the balance
/// if the interface shows a balance.
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
/// The file cannot be read, or contains no usable certificate.
pub fn certificate_expires_at(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    if settings.kind == AcquirerKind::Woovi {
        return Ok(None);
    }
    Ok(bacen_config(settings)?.certificate.map(|certificate| certificate.expires_at()).transpose()?)
}

/// Returns the acquirers of the configuration for the command line. With the sandbox, returns its single acquirer.
#[must_use]
pub fn acquirers_of(config: &Config) -> Vec<ConfiguredAcquirer> {
    if config.sandbox {
        let Ok(name) = AcquirerName::parse(SANDBOX) else { return Vec::new() };
        let operations = vec!["charges", "payouts", "infractions"];
        return vec![ConfiguredAcquirer { name, kind: SANDBOX, operations, order: None, weight: 1, certificate: None }];
    }
    let mut acquirers: Vec<&AcquirerConfig> = config.acquirers.iter().collect();
    acquirers.sort_by_key(|settings| settings.order.map_or((true, 0), |order| (false, order)));
    acquirers.into_iter().map(of_settings).collect()
}

fn of_settings(settings: &AcquirerConfig) -> ConfiguredAcquirer {
    let sends = settings.kind != AcquirerKind::Bacen;
    let operations = [
        ("charges", settings.operations.charges),
        ("payouts", settings.operations.payouts && sends),
        ("infractions", sends),
    ];
    let certificate = certificate_expires_at(settings).map_err(|error| chain(error.as_ref())).transpose();
    ConfiguredAcquirer {
        name: settings.name.clone(),
        kind: settings.kind.as_str(),
        operations: operations.into_iter().filter(|(_, has)| *has).map(|(operation, _)| operation).collect(),
        order: settings.order,
        weight: settings.weight,
        certificate,
    }
}

/// Returns a warning for each client certificate that expires soon.
#[must_use]
pub fn certificate_warnings(config: &Config, now: Timestamp) -> Vec<Warning> {
    let mut found = Vec::new();
    for settings in &config.acquirers {
        // A certificate that cannot be read is reported as a problem, not as a warning.
        let Ok(Some(expires_at)) = certificate_expires_at(settings) else { continue };
        if expires_at.duration_since(now) < EXPIRES_SOON {
            let key = format!("acquirers.{}.certificate_file", settings.name);
            let what = format!("expires at {expires_at:.0}: order a new certificate, and replace the file");
            found.push(Warning { name: CERTIFICATE_EXPIRES, key, what });
        }
    }
    found
}

fn read(file: &PathBuf) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Returns a value that the acquirer's kind requires. `key` is the name of the setting in the error.
fn given<T: Clone>(value: Option<&T>, key: &'static str) -> anyhow::Result<T> {
    value.cloned().with_context(|| format!("{key} is missing"))
}

/// Returns the client of Efí.
///
/// # Errors
/// A certificate or an address of the acquirer is invalid, or a file cannot be read.
pub fn efi(settings: &AcquirerConfig) -> anyhow::Result<EfiAcquirer> {
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

/// Returns the profile of the institution. Settings of the acquirer replace single values of the profile.
fn profile(settings: &AcquirerConfig) -> anyhow::Result<Profile> {
    let mut profile = match &settings.profile {
        Some(name) => Profile::named(name).with_context(|| format!("there is no profile {name}"))?,
        None => Profile::default(),
    };
    if let Some(path) = &settings.path_prefix {
        profile.path_prefix.clone_from(path);
    }
    if let Some(body) = settings.token_body {
        profile.token_body = match body {
            TokenBody::Form => GrantForm::Form,
            TokenBody::Json => GrantForm::Json,
        };
    }
    if let Some(credentials) = settings.token_credentials {
        profile.credentials = match credentials {
            TokenCredentials::Header => CredentialsIn::Header,
            TokenCredentials::Body => CredentialsIn::Body,
        };
    }
    if let Some(scope) = &settings.token_scope {
        profile.scope = Some(scope.clone());
    }
    if let Some(Pairs(headers)) = &settings.extra_headers {
        profile.headers.clone_from(headers);
    }
    if let Some(brasilia) = settings.brasilia_dates {
        profile.dates = if brasilia { Dates::Brasilia } else { Dates::Rfc3339 };
    }
    Ok(profile)
}

/// Returns the client configuration of an acquirer that serves the Central Bank's API Pix.
///
/// # Errors
/// A file cannot be read, or a key is missing.
pub fn bacen_config(settings: &AcquirerConfig) -> anyhow::Result<BacenConfig> {
    let certificate = settings.certificate_file.as_ref().map(read).transpose()?;
    Ok(BacenConfig {
        token_url: settings.token_url.clone(),
        profile: profile(settings)?,
        application_key: settings.application_key.clone(),
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
