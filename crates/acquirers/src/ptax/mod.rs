//! The Central Bank's rate of the US dollar (PTAX), as published by its service Olinda.
//!
//! A rate is published on each business day in the early afternoon. The adapter returns the last rate with the instant of
//! its publication. The use case checks the age and the value of the rate.

mod bulletin;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cais_ports::{AcquirerError, ExchangeRates, UsdRate};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Client, Method, Request, Url};

use crate::deadline::Deadline;
use crate::http::{
    ClientSettings, FindError, MAX_ANSWER_BYTES, TlsError, UrlError, build, of_reply, of_transport, parse_base, send,
};

/// The number of searched days before today, more than any series of holidays and weekends.
const SEARCHED_DAYS: i64 = 10;
/// The time zone of the Central Bank. Brazil has had no summer time since 2019.
const TIME_ZONE: &str = "America/Sao_Paulo";
/// The largest number of rows in an answer. The searched period has fewer, because it has one row per business day.
const MAX_ROWS: &str = "100";

/// The configuration of the client [`Ptax`].
#[derive(Debug, Clone)]
pub struct PtaxConfig {
    /// The base of the path `/CotacaoDolarPeriodo…`: `https`, or `http` on this machine.
    pub base_url: String,
    /// The time limit for DNS, TCP and TLS together.
    pub connect_timeout: Duration,
    /// The time for which a rate is used without another request.
    pub keep_for: Duration,
}

/// The address of the Central Bank, two seconds for a connection, and no kept rate: each call sends a request.
impl Default for PtaxConfig {
    fn default() -> Self {
        Self {
            base_url: "https://olinda.bcb.gov.br/olinda/servico/PTAX/versao/v1/odata".to_owned(),
            connect_timeout: Duration::from_secs(2),
            keep_for: Duration::ZERO,
        }
    }
}

/// The reason a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum PtaxConfigError {
    /// The address of the Central Bank's service is invalid.
    #[error("base_url {0}")]
    BaseUrl(UrlError),
    /// No root certificate is usable, or TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The machine has no data of the time zone of the Central Bank.
    #[error("the time zone America/Sao_Paulo is missing")]
    TimeZone,
}

/// The client of the Central Bank's service.
#[derive(Debug)]
pub struct Ptax {
    client: Client,
    base: Url,
    zone: TimeZone,
    keep_for: Duration,
    /// The last rate, with the time of its request.
    last: Mutex<Option<(Timestamp, UsdRate)>>,
}

impl Ptax {
    /// Creates the client, and sends no request.
    ///
    /// # Errors
    /// [`PtaxConfigError`] for the invalid part of the configuration.
    pub fn new(config: &PtaxConfig) -> Result<Self, PtaxConfigError> {
        let base = parse_base(&config.base_url).map_err(PtaxConfigError::BaseUrl)?;
        let client = build(ClientSettings {
            certificate: None,
            extra_root_pem: None,
            uses_tls: base.scheme() == "https",
            connect_timeout: config.connect_timeout,
        })?;
        let zone = TimeZone::get(TIME_ZONE).map_err(|_| PtaxConfigError::TimeZone)?;
        Ok(Self { client, base, zone, keep_for: config.keep_for, last: Mutex::new(None) })
    }

    fn last(&self) -> MutexGuard<'_, Option<(Timestamp, UsdRate)>> {
        // Each change is one assignment, so the lock's poison can be ignored.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last rate if it was read less than `keep_for` ago. Returns `None` if the clock was set back since that read.
    fn kept(&self, now: Timestamp) -> Option<UsdRate> {
        let (at, rate) = self.last().clone()?;
        let age = Duration::try_from(now.duration_since(at)).ok()?;
        (age < self.keep_for).then_some(rate)
    }

    /// Returns the URL of the rates of the last [`SEARCHED_DAYS`] days and of the day of `now`.
    fn url(&self, now: Timestamp) -> Result<Url, AcquirerError> {
        let refused = || AcquirerError::Refused("the request cannot be written as an address".to_owned());
        let today = now.to_zoned(self.zone.clone()).date();
        let first = today.checked_sub(Span::new().days(SEARCHED_DAYS)).unwrap_or(today);
        let path = "CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)";
        let mut url =
            Url::parse(&format!("{}/{path}", self.base.as_str().trim_end_matches('/'))).map_err(|_| refused())?;
        url.query_pairs_mut()
            .append_pair("@dataInicial", &first.strftime("'%m-%d-%Y'").to_string())
            .append_pair("@dataFinalCotacao", &today.strftime("'%m-%d-%Y'").to_string())
            .append_pair("$top", MAX_ROWS)
            .append_pair("$format", "json");
        Ok(url)
    }

    async fn read(&self, now: Timestamp, deadline: Deadline) -> Result<Option<UsdRate>, FindError> {
        let mut request = Request::new(Method::GET, self.url(now)?);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let reply = send(&self.client, request, MAX_ANSWER_BYTES, deadline).await.map_err(of_transport)?;
        if !reply.status.is_success() {
            return Err(of_reply(&reply).into());
        }
        Ok(bulletin::last(&reply, &self.zone)?)
    }
}

#[async_trait]
impl ExchangeRates for Ptax {
    async fn usd_rate(&self, now: Timestamp, budget: Duration) -> Result<UsdRate, AcquirerError> {
        if let Some(rate) = self.kept(now) {
            return Ok(rate);
        }
        let found = self.read(now, Deadline::after(budget)).await.map_err(FindError::of_a_read)?;
        let rate =
            found.ok_or_else(|| AcquirerError::Unavailable(format!("no rate in the last {SEARCHED_DAYS} days")))?;
        *self.last() = Some((now, rate.clone()));
        Ok(rate)
    }
}
