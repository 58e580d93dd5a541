//! The log lines of a test, so that it can check the fields that operators rely on.

use std::io;
use std::sync::{Arc, Mutex, Once, PoisonError};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::Registry;
use tracing_subscriber::fmt::MakeWriter;

static GLOBAL: Once = Once::new();

/// The log lines of the thread that created this value, until the value is dropped.
pub struct CapturedLogs {
    lines: Lines,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl CapturedLogs {
    /// Captures the log lines of this thread from now on. A test with a single-threaded runtime logs on no other thread.
    #[must_use]
    pub fn start() -> Self {
        // `tracing` stores for each log statement whether any subscriber needs it. A statement that another thread reaches
        // first, without a subscriber, would stay disabled. The global subscriber keeps all of them enabled.
        GLOBAL.call_once(|| tracing::subscriber::set_global_default(Registry::default()).unwrap_or_default());
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(lines.clone()).finish();
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// Returns the lines with this alert, oldest first.
    #[must_use]
    pub fn alerts(&self, alert: &str) -> Vec<serde_json::Value> {
        self.with_field("alert", &[alert])
    }

    /// Returns the warnings and errors, oldest first.
    #[must_use]
    pub fn warnings(&self) -> Vec<serde_json::Value> {
        self.with_field("level", &["WARN", "ERROR"])
    }

    /// Returns the lines of the level INFO, oldest first.
    #[must_use]
    pub fn infos(&self) -> Vec<serde_json::Value> {
        self.with_field("level", &["INFO"])
    }

    /// Returns the lines in which the field `field` has one of these values, oldest first.
    fn with_field(&self, field: &str, values: &[&str]) -> Vec<serde_json::Value> {
        let bytes = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let is_one = |line: &serde_json::Value| {
            line.get(field).and_then(serde_json::Value::as_str).is_some_and(|value| values.contains(&value))
        };
        lines.filter(is_one).collect()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
