//! The log of the service, on standard error.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use cais_config::LogFormat;
use cais_http_api::causes::Causes;
pub use cais_http_api::causes::chain;

/// Lower log levels of three targets, unless the operator's filter names them. The HTTP server logs a line for each of its threads, and an
/// error for each caller that does not send HTTP. The connection pool logs failures that its callers log too.
const QUIET: &str = "actix_server=warn,actix_http=off,r2d2=off,";

/// Starts the log of the process. A second call has no effect.
///
/// The filter was checked with the configuration; an unreadable filter falls back to `info`.
pub fn start(filter: &str, format: LogFormat) {
    let filter = EnvFilter::try_new(format!("{QUIET}{filter}")).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let text = match format {
        LogFormat::Auto => stderr().is_terminal(),
        LogFormat::Text => true,
        LogFormat::Json => false,
    };
    // An error means that the log was started already.
    let _started = if text {
        builder.with_ansi(colors()).finish().with(Causes).try_init()
    } else {
        builder.json().flatten_event(true).finish().with(Causes).try_init()
    };
}

/// Returns `true` if standard error is a terminal and `NO_COLOR` is unset or empty (<https://no-color.org>).
#[must_use]
pub fn colors() -> bool {
    stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
