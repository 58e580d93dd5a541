//! Collects the warnings and errors of a request for the log line of the request, so that a search for the request's id also finds the
//! cause of a failure.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Span, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The name of a request's span.
pub const REQUEST: &str = "request";
/// Limit of the stored warnings and errors of a request, in characters.
const MAX_CHARS: usize = 1_000;

/// A layer that stores the warnings and errors of each request in the request's span.
#[derive(Debug, Clone, Copy, Default)]
pub struct Causes;

struct Cause(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Causes {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if *event.metadata().level() > Level::WARN {
            return;
        }
        let mut spans = context.event_scope(event).into_iter().flatten();
        let Some(span) = spans.find(|span| span.name() == REQUEST) else { return };
        let mut text = Text::default();
        event.record(&mut text);
        let mut extensions = span.extensions_mut();
        let before = extensions.remove::<Cause>().map_or_else(String::new, |Cause(before)| format!("{before}; "));
        extensions.insert(Cause(before.chars().chain(text.0.chars()).take(MAX_CHARS).collect()));
    }
}

/// Returns the warnings and errors in the span of a request; `None` without any.
#[must_use]
pub fn of(request: &Span) -> Option<String> {
    let found = request.with_subscriber(|(id, dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        let extensions = span.extensions();
        extensions.get::<Cause>().map(|cause| cause.0.clone())
    });
    found.flatten()
}

/// Returns an error and all its causes in one line.
#[must_use]
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        // A transparent error has the text of its source. The line then ends with this text already, so the text is not repeated.
        if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        source = cause.source();
    }
    line
}

/// A warning or error of the log in one line: first its message, then its fields.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = if field.name() == "message" {
            let fields = std::mem::take(&mut self.0);
            write!(self.0, "{value:?}{fields}")
        } else {
            write!(self.0, " {}={value:?}", field.name())
        };
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn warnings_of_a_request_are_stored_with_it() {
        tracing::subscriber::with_default(Registry::default().with(Causes), || {
            let (one, other) = (tracing::error_span!("request"), tracing::error_span!("request"));
            one.in_scope(|| {
                tracing::warn!("the first");
                tracing::info_span!("inner").in_scope(|| {
                    tracing::warn!(acquirer = "main", error = %"timed out", "acquirer did not answer");
                });
                tracing::info!("no warning");
            });
            tracing::warn!("outside");
            let expected = "the first; acquirer did not answer acquirer=\"main\" error=timed out";
            assert_eq!(of(&one).as_deref(), Some(expected));
            assert_eq!(of(&other), None);
        });
    }
}
