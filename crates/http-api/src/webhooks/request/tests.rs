//! Tests the bodies of requests about webhook endpoints: every rule at its limit and just beyond.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_strict_json::read as read_json;
use cais_webhooks::{HttpSender, WebhookPolicy};

use super::*;

fn receivers() -> HttpSender {
    HttpSender::new(WebhookPolicy { allow_insecure: false, allow_addresses: Vec::new() }).unwrap()
}

fn new(body: &Node<'_>, issues: &Issues) -> Option<CreateEndpoint> {
    NewWebhookEndpoint::read_for(body, &receivers(), issues).map(CreateEndpoint::from)
}

fn change(body: &Node<'_>, issues: &Issues) -> Option<EndpointChange> {
    WebhookEndpointChange::read_for(body, &receivers(), issues).map(EndpointChange::from)
}

fn problems<T>(body: &str, read: impl FnOnce(&Node<'_>, &Issues) -> Option<T>) -> Vec<String> {
    let issues = Issues::default();
    let node = read_json(body.as_bytes(), &issues);
    let _endpoint = read(&node, &issues);
    issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
}

#[test]
fn complete_endpoint_body_is_read() {
    let issues = Issues::default();
    let body =
        r#"{"url":"https://a.example/hook?x=1","events":["charge.paid","payout.failed"],"description":"two\nlines"}"#;
    let endpoint = new(&read_json(body.as_bytes(), &issues), &issues).unwrap();
    assert!(issues.is_empty());
    assert_eq!(endpoint.url.as_str(), "https://a.example/hook?x=1");
    assert_eq!(endpoint.subscription.names(), ["charge.paid", "payout.failed"]);
    assert_eq!(endpoint.description.unwrap().as_str(), "two\nlines");
    let all = new(&read_json(br#"{"url":"https://a","events":["*"],"description":null}"#, &issues), &issues).unwrap();
    assert_eq!((all.subscription, all.description), (Subscription::All, None));
}

#[test]
fn endpoint_body_problems_are_all_reported() {
    let body = format!(
        r#"{{"url":"https://a b","events":["charge.paid","charge.made",7,"*"],"description":"{}","secret":"x"}}"#,
        "é".repeat(201)
    );
    assert_eq!(
        problems(&body, new),
        [
            "url must be a URL without blanks",
            &format!("events[1] is not an event type; the types are {}", types()),
            "events[2] must be a string",
            "description must have at most 200 characters",
            "secret is not a known field",
        ]
    );
    let private = r#"{"url":"https://10.0.0.1/x","events":["no"]}"#;
    let unknown = format!("events[0] is not an event type; the types are {}", types());
    assert_eq!(problems(private, new), ["url must lead to a public address", &unknown]);
    assert!(types().starts_with("*, charge.paid, charge.expired"), "{}", types());
    assert_eq!(problems("{}", new), ["url is required", "events is required"]);
    assert_eq!(problems("[]", new), [" must be a JSON object"]);
}

#[test]
fn endpoint_body_is_accepted_up_to_its_limits() {
    let url = |length: usize| format!("https://a/{}", "x".repeat(length - 10));
    let with_url = |url: &str| format!(r#"{{"url":"{url}","events":["*"]}}"#);
    assert_eq!(problems(&with_url(&url(500)), new), [""; 0]);
    assert_eq!(problems(&with_url(&url(501)), new), ["url must have at most 500 characters"]);
    assert_eq!(problems(&with_url(""), new), ["url must be a URL without blanks"]);
    let with_events =
        |count: usize| format!(r#"{{"url":"https://a","events":[{}]}}"#, vec![r#""charge.paid""#; count].join(","));
    assert_eq!(problems(&with_events(30), new), [""; 0], "a name may occur twice");
    assert_eq!(problems(&with_events(31), new), ["events must have at most 30 items"]);
    assert_eq!(problems(&with_events(0), new), ["events must name at least one event type, or \"*\""]);
    let with_description = format!(r#"{{"url":"https://a","events":["*"],"description":"{}"}}"#, "é".repeat(200));
    assert_eq!(problems(&with_description, new), [""; 0]);
}

#[test]
fn endpoint_change_contains_only_sent_fields() {
    let changed = |body: &str| {
        let issues = Issues::default();
        let change = change(&read_json(body.as_bytes(), &issues), &issues);
        assert!(issues.is_empty(), "{body}: {issues:?}");
        change.unwrap()
    };
    assert_eq!(changed("{}"), EndpointChange::default());
    assert_eq!(changed(r#"{"url":null,"events":null,"active":null}"#), EndpointChange::default());
    assert_eq!(changed(r#"{"description":null}"#).description, Some(None));
    assert_eq!(changed(r#"{"description":""}"#).description.unwrap().unwrap().as_str(), "");
    assert_eq!(changed(r#"{"active":false}"#).active, Some(false));
    assert_eq!(changed(r#"{"events":["*"]}"#).subscription, Some(Subscription::All));
    assert_eq!(
        problems(r#"{"active":"no","events":[],"url":7,"id":"x"}"#, change),
        [
            "url must be a string",
            "events must name at least one event type, or \"*\"",
            "active must be true or false",
            "id is not a known field",
        ]
    );
}

#[test]
fn rotation_body_is_optional() {
    let grace_s = |body: &str| {
        let issues = Issues::default();
        let rotation = SecretRotation::read(&read_json(body.as_bytes(), &issues), &issues);
        let seconds = rotation.map(|rotation| rotation.grace_s());
        issues.unless_any(seconds).map_err(|issues| issues.len())
    };
    assert_eq!(SecretRotation::default().grace_s(), 86_400);
    assert_eq!(grace_s("{}"), Ok(86_400));
    assert_eq!(grace_s(r#"{"grace_seconds":0}"#), Ok(0));
    assert_eq!(grace_s(r#"{"grace_seconds":604800}"#), Ok(604_800));
    assert_eq!(grace_s(r#"{"grace_seconds":604801}"#), Err(1));
    assert_eq!(grace_s(r#"{"grace_seconds":-1,"grace":1}"#), Err(2));
    assert_eq!(grace_s("[]"), Err(1));
}
