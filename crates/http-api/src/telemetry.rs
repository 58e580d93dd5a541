//! Metrics of requests, and one log line for each request. [`table`] lists every metric of the service. [`gauges`] sets the metrics of
//! workers. [`passes`] contains the workers' passes whose results become metrics.

pub mod gauges;
pub mod passes;
pub mod table;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use actix_web::http::StatusCode;
use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::api_key::KeyPrefix;
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{BuildError, PrometheusHandle};

/// The interval of [`upkeep`], which is also the exporter's default.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// The label of requests without a route: paths are chosen by callers and never become labels.
const UNMATCHED: &str = "unmatched";
/// Routes that machines poll every few seconds. Their log lines have the level debug.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Statuses with their own label. Other statuses are counted under their class, such as `4xx`.
const STATUSES: [(u16, &str); 23] = [
    (200, "200"),
    (201, "201"),
    (202, "202"),
    (204, "204"),
    (308, "308"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (405, "405"),
    (409, "409"),
    (413, "413"),
    (415, "415"),
    (422, "422"),
    (429, "429"),
    (500, "500"),
    (501, "501"),
    (502, "502"),
    (503, "503"),
    (2, "2xx"),
    (3, "3xx"),
    (4, "4xx"),
    (5, "5xx"),
];

/// Methods with their own label. `HEAD` counts as `GET`; other methods are not served.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/// The label of all other methods.
const OTHER: &str = "any";

/// Installs the recorder of metrics and describes the metrics of the process.
///
/// # Errors
/// The buckets of a histogram are invalid.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let recorder = table::recorder()?;
    let handle = recorder.handle();
    // An error means that this process already has a recorder, as in tests.
    let _installed = metrics::set_global_recorder(recorder);
    gauges::register();
    metrics_process::Collector::default().describe();
    Ok(handle)
}

/// Moves measurements into histogram buckets regularly, so that memory does not grow between scrapes. Never returns.
pub async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        handle.run_upkeep();
    }
}

/// The metrics of requests by route and status. Each handle of a metric is looked up once, at its first use.
#[derive(Debug)]
pub struct Telemetry {
    /// The routes that were requested so far, by pattern.
    routes: RwLock<HashMap<String, Vec<Arc<RouteNumbers>>>>,
    unmatched: Arc<RouteNumbers>,
}

#[derive(Debug)]
struct RouteNumbers {
    method: &'static str,
    pattern: String,
    is_probe: bool,
    seconds: OnceLock<Histogram>,
    by_status: [OnceLock<Counter>; STATUSES.len()],
}

/// A request with its response.
pub struct CompletedRequest<'a> {
    /// The id of the request.
    pub request: RequestId,
    /// The pattern of the path; `None` without a route.
    pub route: Option<&'a str>,
    /// The method as it was sent.
    pub method: &'a str,
    /// The trace of the request, from its `traceparent`.
    pub trace_id: Option<&'a str>,
    /// The address of the client.
    pub client: Option<IpAddr>,
    /// The caller's account.
    pub account: Option<AccountId>,
    /// The public part of the presented key, valid or not.
    pub key: Option<&'a KeyPrefix>,
    /// The response's status.
    pub status: StatusCode,
    /// The error's code.
    pub code: Option<&'static str>,
    /// The cause of a failure, for the log only.
    pub cause: Option<&'a str>,
    /// `true` for an expected failure, such as that of `/readyz` while the process is about to stop.
    pub is_expected: bool,
    /// The request whose response was replayed.
    pub replay_of: Option<RequestId>,
    /// Duration of the request.
    pub took: Duration,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}

impl Telemetry {
    /// Returns metrics without any route. The first request of a route adds the route.
    #[must_use]
    pub fn new() -> Self {
        Self { routes: RwLock::default(), unmatched: Arc::new(RouteNumbers::new(OTHER, UNMATCHED)) }
    }

    /// Counts and logs a response. Unexpected failures of the service are logged as errors with their cause. Responses
    /// to probes, and the 429 after too many failed authentications of an address, have the level debug. All other
    /// responses have the level info.
    pub fn record(&self, completed: &CompletedRequest<'_>) {
        let numbers =
            completed.route.map_or_else(|| Arc::clone(&self.unmatched), |route| self.of(completed.method, route));
        numbers.count(completed.status, completed.took);
        numbers.log(completed);
    }

    /// Returns the metrics of a route. Patterns and methods are closed lists, so the number of metrics is bounded.
    fn of(&self, method: &str, pattern: &str) -> Arc<RouteNumbers> {
        let method = if method == "HEAD" { "GET" } else { method };
        let method = METHODS.into_iter().find(|known| *known == method).unwrap_or(OTHER);
        let find = |routes: &HashMap<String, Vec<Arc<RouteNumbers>>>| {
            routes.get(pattern)?.iter().find(|numbers| numbers.method == method).cloned()
        };
        let known = find(&self.routes.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
            find(&routes).unwrap_or_else(|| {
                let numbers = Arc::new(RouteNumbers::new(method, pattern));
                routes.entry(pattern.to_owned()).or_default().push(Arc::clone(&numbers));
                numbers
            })
        })
    }
}

impl RouteNumbers {
    fn new(method: &'static str, pattern: &str) -> Self {
        Self {
            method,
            pattern: pattern.to_owned(),
            is_probe: PROBES.contains(&pattern),
            seconds: OnceLock::new(),
            by_status: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    fn count(&self, status: StatusCode, took: Duration) {
        let labels = || (self.method, self.pattern.clone());
        self.seconds
            .get_or_init(|| {
                let (method, route) = labels();
                metrics::histogram!("cais_http_request_seconds", "method" => method, "route" => route)
            })
            .record(took);
        let (exact, class) = (status.as_u16(), status.as_u16() / 100);
        let place = |wanted: u16| STATUSES.iter().position(|(status, _)| *status == wanted);
        let slot =
            place(exact).or_else(|| place(class)).and_then(|index| self.by_status.get(index).zip(STATUSES.get(index)));
        if let Some((counter, (_, label))) = slot {
            counter
                .get_or_init(|| {
                    let (method, route) = labels();
                    metrics::counter!("cais_http_requests_total", "method" => method, "route" => route, "status" => *label)
                })
                .increment(1);
        }
    }

    fn log(&self, completed: &CompletedRequest<'_>) {
        let CompletedRequest {
            request,
            method,
            client,
            account,
            key,
            status,
            code,
            cause,
            replay_of,
            trace_id,
            took,
            ..
        } = completed;
        let client = client.map(tracing::field::display);
        let account = account.map(tracing::field::display);
        let key = key.map(cais_domain::merchant::api_key::KeyPrefix::as_str);
        let replay_of = replay_of.map(tracing::field::display);
        let (route, status, took_us) =
            (self.pattern.as_str(), status.as_u16(), u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(request_id = %request, client, method, route, status, took_us, account, key, code, cause, replay_of, trace_id, "answered")
            };
        }
        if status >= 500 && !completed.is_expected && *code != Some("not_implemented") {
            line!(error);
        } else if self.is_probe || (status == 429 && completed.is_expected) {
            line!(debug);
        } else {
            line!(info);
        }
    }
}
