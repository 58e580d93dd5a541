//! Tests the log line of each response.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use cais_domain::charge::{Charge, ChargeTerms};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::Store as _;
use cais_testkit::builders::{pending_charge, steps};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::*;
use crate::causes::Causes;

/// The lines of responses, each with its level.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<(Level, String)>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if fields.0.contains(" message=answered") {
            self.0.lock().unwrap().push((*event.metadata().level(), fields.0));
        }
    }
}

impl Lines {
    fn last(&self) -> (Level, String) {
        self.0.lock().unwrap().last().cloned().unwrap()
    }
}

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

/// Checks the level and the contents of a request's line.
async fn check(bed: &TestBed, lines: &Lines, request: TestRequest, level: Level, facts: &[&str]) {
    let seen = send(bed, request.peer_addr("198.51.100.7:1".parse().unwrap())).await;
    let (found, line) = lines.last();
    assert_eq!(found, level, "{line}");
    let id = format!("request_id={}", seen.header("x-request-id").unwrap());
    for fact in facts.iter().copied().chain([id.as_str(), "client=198.51.100.7"]) {
        assert!(line.contains(fact), "{fact} is missing in {line}");
    }
}

#[actix_web::test]
async fn response_line_names_client_reason_and_cause() {
    let lines = Lines::default();
    let _log = tracing::subscriber::set_default(Registry::default().with(Causes).with(lines.clone()));
    let bed = TestBed::new().await;
    let get = |path: &str| TestRequest::get().uri(path);
    let known = |request: TestRequest| request.insert_header(("x-api-key", bed.key.as_str()));
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traced = get("/v1/balance").insert_header(("traceparent", format!("00-{trace}-00f067aa0ba902b7-01")));
    let trace = format!("trace_id=\"{trace}\"");
    check(&bed, &lines, known(traced), Level::INFO, &["status=200", "key=", "account=acc_", &trace]).await;
    let unknown = format!("key_{}_{}", "0".repeat(12), "0".repeat(43));
    let refused = get("/v1/balance").insert_header(("x-api-key", unknown));
    check(&bed, &lines, refused, Level::INFO, &["status=401", "key=\"000000000000\"", "cause=\"unknown\""]).await;
    check(&bed, &lines, get("/v1/balance"), Level::INFO, &["status=401", "cause=\"missing\""]).await;
    check(&bed, &lines, get("/healthz"), Level::DEBUG, &["status=200"]).await;

    let description = Text::parse("panic", 140, LineBreaks::Refused).unwrap();
    let charge = pending_charge(bed.account.id);
    let charge = Charge { terms: ChargeTerms { description: Some(description), ..charge.terms.clone() }, ..charge };
    bed.store.commit(steps::open_charge(&charge)).await.unwrap();
    let panicking = known(get(&format!("/v1/charges/{}", charge.id)));
    check(&bed, &lines, panicking, Level::ERROR, &["status=500", "route=\"/v1/charges/{id}\""]).await;

    bed.store.set_unreachable(true);
    check(&bed, &lines, get("/readyz"), Level::ERROR, &["status=503", "cause="]).await;
    let charge = posting(&bed, "/v1/charges", "long-enough", r#"{"amount":5}"#);
    let cause = [
        "status=503",
        "cause=\"store unavailable; nothing is created, or a repeat of the request resumes the creation reason=",
    ];
    check(&bed, &lines, charge, Level::ERROR, &cause).await;
}
