//! Creates the crypto processor and the source of BRL per USD, and examines them for `config check` and `doctor`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cais_acquirers::{
    GuardedProcessor, GuardedRates, NowPayments, NowPaymentsConfig, NowPaymentsConfigError, Ptax, PtaxConfig, Timeouts,
};
use cais_config::{Config, CryptoSettings, NOWPAYMENTS, Problem, Problems, ProcessorConfig, ProcessorKind};
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{CryptoProcessor, ExchangeRates, ListRequest, Secret};
use cais_sandbox::CryptoCredentials;
use cais_use_cases::crypto::CryptoSources;
use jiff::{SignedDuration, Timestamp};

use crate::logging::chain;

/// The name of the source of BRL per USD in metrics and findings.
const PTAX: &str = "ptax";
/// The time limit of one check. Longer than the limit of each call that creates a deposit (at most 4 s).
const CHECK_BUDGET: Duration = Duration::from_secs(5);
/// The time for which a rate of the US dollar is used without another request. Each quote needs the rate, but the Central Bank publishes
/// only one rate a day.
const KEEP_USD_RATE_FOR: Duration = Duration::from_mins(1);

/// Creates the configured processor and the source of rates, and sends no request. The processor sends its callbacks to `callback_url`.
/// Returns `None` if no processor is configured.
///
/// # Errors
/// [`Problems`]: the problem of a secret or an address.
pub fn configured(config: &Config, callback_url: Option<String>) -> Result<Option<CryptoSources>, Problems> {
    let Some(settings) = &config.crypto.processor else { return Ok(None) };
    let sources = || -> anyhow::Result<CryptoSources> {
        let processor = NowPayments::new(&nowpayments(settings, callback_url)?)?;
        Ok(sources(processor, rates(&config.crypto)?, &config.crypto))
    };
    sources().map(Some).map_err(|error| Problems(vec![problem(&error)]))
}

/// Creates the crypto processor and the source of rates of a sandbox.
///
/// # Errors
/// The sandbox's credentials are invalid.
pub fn of_sandbox(
    credentials: CryptoCredentials,
    config: &Config,
    callback_url: Option<String>,
) -> anyhow::Result<CryptoSources> {
    let processor = NowPayments::new(&NowPaymentsConfig {
        name: AcquirerName::parse(NOWPAYMENTS)?,
        base_url: credentials.base_url,
        api_key: Secret::new(credentials.api_key),
        email: credentials.email,
        password: Secret::new(credentials.password),
        totp_secret: Secret::new(credentials.totp_secret),
        ipn_secret: Secret::new(credentials.ipn_secret),
        callback_url,
        extra_root_pem: None,
        timeouts: Timeouts::default(),
    })?;
    let rates = Ptax::new(&PtaxConfig { base_url: credentials.ptax_base_url, ..PtaxConfig::default() })?;
    Ok(sources(processor, rates, &config.crypto))
}

/// Lists the processor's deposits of the last 24 hours. The list needs both the API key and the login.
///
/// # Errors
/// The configuration cannot be used, or the processor does not answer.
pub async fn check_processor(settings: &ProcessorConfig, now: Timestamp) -> anyhow::Result<()> {
    let processor = NowPayments::new(&nowpayments(settings, None)?)?;
    let yesterday = now.saturating_sub(SignedDuration::from_hours(24)).unwrap_or(Timestamp::MIN);
    let request = ListRequest { from: yesterday, to: now, page: 0 };
    processor.list_deposits(request, CHECK_BUDGET).await?;
    Ok(())
}

/// Reads the newest rate of the US dollar, and returns the instant of its publication.
///
/// # Errors
/// The configuration cannot be used, or the source does not answer.
pub async fn check_rates(settings: &CryptoSettings, now: Timestamp) -> anyhow::Result<Timestamp> {
    Ok(rates(settings)?.usd_rate(now, CHECK_BUDGET).await?.published_at)
}

fn sources(processor: NowPayments, rates: Ptax, settings: &CryptoSettings) -> CryptoSources {
    CryptoSources {
        processor: Arc::new(GuardedProcessor::new(Arc::new(processor))),
        rates: Arc::new(GuardedRates::new(PTAX, Arc::new(rates))),
        spread: settings.spread.clone(),
    }
}

fn rates(settings: &CryptoSettings) -> anyhow::Result<Ptax> {
    let base_url = settings.ptax.base_url.clone();
    // A source without TLS is a sandbox. Its rate is not kept, so that a changed rate applies to the next quote.
    let keep_for = if base_url.starts_with("https:") { KEEP_USD_RATE_FOR } else { Duration::ZERO };
    let config = PtaxConfig { base_url, keep_for, ..PtaxConfig::default() };
    Ptax::new(&config).context("crypto.ptax")
}

fn nowpayments(settings: &ProcessorConfig, callback_url: Option<String>) -> anyhow::Result<NowPaymentsConfig> {
    let name = match settings.kind {
        ProcessorKind::NowPayments => AcquirerName::parse(NOWPAYMENTS)?,
    };
    Ok(NowPaymentsConfig {
        name,
        base_url: settings.base_url.clone(),
        api_key: settings.api_key.clone(),
        email: settings.email.clone(),
        password: settings.password.clone(),
        totp_secret: settings.totp_secret.clone(),
        ipn_secret: settings.ipn_secret.clone(),
        callback_url,
        extra_root_pem: None,
        timeouts: Timeouts::default(),
    })
}

/// Converts an error to a problem of the configuration key that caused it. The messages of the adapters contain no secret.
fn problem(error: &anyhow::Error) -> Problem {
    let key = match error.downcast_ref() {
        Some(NowPaymentsConfigError::BaseUrl(_)) => "crypto.base_url",
        Some(NowPaymentsConfigError::ApiKey) => "crypto.api_key",
        Some(NowPaymentsConfigError::Login) => "crypto.email",
        Some(NowPaymentsConfigError::TotpSecret) => "crypto.totp_secret",
        Some(NowPaymentsConfigError::IpnSecret) => "crypto.ipn_secret",
        Some(NowPaymentsConfigError::Tls(_)) | None => "crypto",
    };
    Problem { key: key.to_owned(), what: chain(error.as_ref()), origin: "crypto settings".to_owned() }
}
