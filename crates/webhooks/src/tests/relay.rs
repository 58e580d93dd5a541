//! Tests the relay, which reads an account's events from a service and forwards them.

use cais_domain::ids::EventId;
use cais_ports::secret_cipher::SigningSecret;
use jiff::Timestamp;
use serde_json::json;

use super::server::{Act, Seen, Server, answer};
use super::{at, event_id, outcome, webhook_url};
use crate::relay::{Relay, RelayError, RelayedEvent};
use crate::verify::{Received, TOLERANCE, verify};

/// A body with spaces, an unusual order, and numbers that a parser might write differently.
const FIRST: &str = r#"{ "sequence":7,"id":"evt_01jvx5p2d2f0x9vj5z8m3k6h7q","type":"charge.paid",  "data":{"amount":10.50,"big":1e2,"note":"\u00e3 ã"}}"#;
const SECOND: &str = r#"{"id":"evt_01jvx5p2d2f0x9vj5z8m3k6h7r","type":"from.the.future","sequence":9,"data":null}"#;

fn page(events: &[&str]) -> Act {
    let body = format!(r#"{{"data":[ {} ],"has_more":false,"next_starting_after":null}}"#, events.join(" ,\n"));
    Act::Reply(answer("200 OK", "content-type: application/json\r\n", &body))
}

async fn serving(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> (Server, Relay) {
    let server = Server::start(None, move |seen, _| script(seen)).await;
    let relay = Relay::new(&format!("http://127.0.0.1:{}/v1/", server.port()), "key_abc_def").unwrap();
    (server, relay)
}

#[tokio::test]
async fn relayed_events_are_read_byte_for_byte() {
    let (server, relay) = serving(|seen| match seen.target.as_str() {
        "/v1/events?after_sequence=6&limit=100" => page(&[FIRST, SECOND]),
        "/v1/events?after_sequence=9&limit=100" => page(&[]),
        "/v1/events?limit=1" => page(&[SECOND]),
        _ => Act::Cut,
    })
    .await;
    let found = relay.next_events(6).await.unwrap();
    let second = EventId::parse("evt_01jvx5p2d2f0x9vj5z8m3k6h7r").unwrap();
    let wanted = [
        RelayedEvent { sequence: 7, id: event_id(), kind: "charge.paid".to_owned(), body: FIRST.into() },
        RelayedEvent { sequence: 9, id: second, kind: "from.the.future".to_owned(), body: SECOND.into() },
    ];
    assert_eq!(found, wanted);
    assert_eq!(relay.next_events(9).await.unwrap(), []);
    assert_eq!(relay.last_sequence().await.unwrap(), 9);
    for seen in server.seen() {
        assert_eq!((seen.method.as_str(), seen.header("authorization")), ("GET", "Bearer key_abc_def"));
    }
}

#[tokio::test]
async fn account_without_events_has_sequence_zero() {
    let (_server, relay) = serving(|_| page(&[])).await;
    assert_eq!(relay.last_sequence().await.unwrap(), 0);
}

#[tokio::test]
async fn relayed_event_is_forwarded_signed() {
    let (_server, relay) = serving(|_| page(&[FIRST])).await;
    let own = Server::always(Act::Reply(answer("202 Accepted", "", "mine"))).await;
    let secret = SigningSecret([9; 32]);
    let event = relay.next_events(0).await.unwrap().pop().unwrap();
    // The relay accepts the name of the developer's own machine, which the sender of webhooks refuses.
    let url = webhook_url(&format!("http://localhost:{}/hook", own.port()));
    let sent = relay.forward(&url, &secret, &event, at()).await;
    assert_eq!((outcome(&sent), sent.response_body.as_deref()), ("202 ok".to_owned(), Some("mine")));
    let [seen]: [Seen; 1] = own.seen().try_into().unwrap();
    assert_eq!(seen.body, FIRST.as_bytes());
    let received = Received {
        id: seen.header("webhook-id"),
        timestamp: seen.header("webhook-timestamp"),
        signature: seen.header("webhook-signature"),
        body: &seen.body,
    };
    assert_eq!(verify(&[secret], &received, at(), TOLERANCE), Ok(()));
    assert!(verify(&[SigningSecret([8; 32])], &received, at(), TOLERANCE).is_err());
    assert!(verify(&[SigningSecret([9; 32])], &received, Timestamp::UNIX_EPOCH, TOLERANCE).is_err());
}

#[tokio::test]
async fn relay_failure_is_described() {
    let envelope = json!({"success": false, "request_id": "req_1", "error": {"code": "insufficient_scope",
        "message": "needs events:read", "retryable": false}});
    let backwards = page(&[SECOND, FIRST]);
    for (act, wanted) in [
        (Act::Reply(answer("403 X", "", &envelope.to_string())), "the service answered 403: needs events:read"),
        (Act::Reply(answer("502 X", "", "<html>\x1b[2Jbad gateway")), "the service answered 502: <html>[2Jbad gateway"),
        (Act::Reply(answer("302 X", "location: /login\r\n", "")), "the service answered 302: "),
        (Act::Reply(answer("200 OK", "", "<html>")), "not a list of events: expected value"),
        (Act::Reply(answer("200 OK", "", "{}")), "not a list of events: missing field `data`"),
        (
            page(&[r#"{"id":"evt_x","type":"a","sequence":1}"#]),
            "not a list of events: id is not a valid identifier: 26 letters and digits must follow the prefix",
        ),
        (page(&[r#"{"id":"evt_x","type":"a","sequence":null}"#]), "not a list of events: invalid type: null"),
        (backwards, "not a list of events: event 7 comes after 9"),
        (Act::Cut, "the service does not answer"),
    ] {
        let (_server, relay) = serving(move |_| act.clone()).await;
        let error = relay.next_events(0).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let (_server, relay) = serving(|_| page(&[FIRST])).await;
    assert!(matches!(relay.next_events(7).await, Err(RelayError::Unreadable(_))), "the reader does not loop");
}

#[test]
fn relay_base_url_is_validated() {
    for (base, wanted) in [
        ("https://pay.example", true),
        ("https://pay.example/v1", true),
        ("http://127.0.0.1:8080/", true),
        ("https://pay.example/cais/v1/", true),
        ("pay.example", false),
        ("ftp://pay.example", false),
        ("https://user:pass@pay.example", false),
        ("https://pay.example?a=b", false),
        ("", false),
    ] {
        let found = Relay::new(base, "key_abc_def");
        assert_eq!(!matches!(found, Err(RelayError::BaseUrl)), wanted, "{base}");
    }
    assert!(matches!(Relay::new("https://pay.example", "key\n"), Err(RelayError::Key)));
}
