//! What the service says about itself, on standard error.

use std::fmt;
use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use cais_http_api::causes::Causes;
pub use cais_http_api::causes::chain;

/// Muted unless the operator's filter names them: the HTTP server tells of each of its threads and, as an error, of every
/// caller that does not speak HTTP; the pool tells in several lines what its users are told and log themselves.
const QUIET: &str = "actix_server=warn,actix_http=off,r2d2=off,";

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// The format of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Auto, Self::Text, Self::Json].into_iter().find(|format| format.as_str() == name)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Starts the log of the process. A second call changes nothing.
///
/// The filter was judged with the configuration; one that cannot be read logs `info`.
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
        builder.with_ansi(colours()).finish().with(Causes).try_init()
    } else {
        builder.json().flatten_event(true).finish().with(Causes).try_init()
    };
}

/// Whether standard error takes colours: a terminal, and nobody said no (<https://no-color.org>).
#[must_use]
pub fn colours() -> bool {
    stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
