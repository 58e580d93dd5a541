//! The trace and the log lines of a request, from an operator's view.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;

use crate::support::{
    AlteringProxy, Engine, Institution, Node, Reply, borrowed, client, eventually, on_both, own, unique,
};

on_both! { trace_of_a_request_is_passed_on_to_the_acquirer log_line_of_a_failure_has_its_request_and_cause }

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

async fn trace_of_a_request_is_passed_on_to_the_acquirer(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let environment = upstream.environment(&psp, "main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    shop.charge("10").await;
    assert_eq!(upstream.traceparents(), Vec::<String>::new(), "a request without a trace passes none on");
    let traced =
        shop.creation(&unique("key"), r#"{"amount":11}"#).header("traceparent", format!("00-{TRACE}-{PARENT}-01"));
    Reply::of(traced).await.expect(201);
    let seen = upstream.traceparents();
    assert!(!seen.is_empty(), "no request of the acquirer has the trace");
    for traceparent in seen {
        let parts: Vec<&str> = traceparent.split('-').collect();
        assert_eq!((parts[0], parts[1], parts[3]), ("00", TRACE, "01"), "{traceparent}");
        assert!(parts[2].len() == 16 && parts[2] != PARENT, "{traceparent}");
    }
}

async fn log_line_of_a_failure_has_its_request_and_cause(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    psp.faults("error").await;
    let failed = shop.create(r#"{"amount":10}"#).await;
    assert!(matches!(failed.status, 502 | 503), "{}", failed.text());
    let line = line_of(&node, &failed).await;
    assert_eq!(line["status"], failed.status);
    assert_eq!(line["level"], "ERROR");
    let cause = line["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("acquirer=") && cause.contains("main"), "{line}");

    for (key, cause) in [("key_0", "malformed".to_owned()), (&unknown_key(), "unknown".to_owned())] {
        let refused = Reply::of(client().get(format!("{}/v1/balance", node.base())).bearer_auth(key)).await;
        assert_eq!(refused.status, 401);
        let line = line_of(&node, &refused).await;
        assert_eq!((&line["cause"], &line["status"]), (&Value::from(cause), &Value::from(401)), "{line}");
        assert_eq!(line["client"], "127.0.0.1", "{line}");
    }
}

fn unknown_key() -> String {
    format!("key_{}_{}", "0".repeat(12), "0".repeat(43))
}

/// Returns the log line of an answer.
async fn line_of(node: &Node, reply: &Reply) -> Value {
    let id = reply.header("x-request-id").unwrap().to_owned();
    eventually("the line of the answer is logged", || async {
        let log = node.cais.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.into_iter().find(|line| line["request_id"] == id.as_str() && line["message"] == "answered")
    })
    .await
}
