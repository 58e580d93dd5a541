//! Tests webhook endpoints and deliveries byte for byte.

use cais_domain::event::EventType;
use cais_domain::ids::{DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::{
    DeliveryStatus, DisabledReason, Endpoint, EndpointState, NewEndpoint, SealedSecret, Subscription, WebhookUrl,
};
use cais_ports::{Delivery, DeliveryAttempt, StoredEvent};

use super::webhook::{Delivery as Body, DeliveryList, WebhookEndpoint, WebhookEndpointWithSecret};
use super::*;

fn registered(state: EndpointState, subscription: Subscription) -> Endpoint {
    let new_endpoint = NewEndpoint {
        id: EndpointId::parse("whe_01h455vb4pex5vsknk084sn02z").unwrap(),
        url: WebhookUrl::parse("https://shop.example/\"hooks\"").unwrap(),
        subscription,
        description: Some(Text::parse("two\nlines", 200, LineBreaks::Allowed).unwrap()),
        secret: SealedSecret(b"sealed".to_vec()),
    };
    let account = AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap();
    Endpoint { state, ..Endpoint::new(account, 3, new_endpoint, instant("2026-01-02T11:00:00.999999Z")) }
}

fn check(state: EndpointState, active: bool, reason: &str) {
    let endpoint_now = registered(state, Subscription::parse(["payout.failed", "charge.paid"]).unwrap());
    let expected = format!(
        concat!(
            r#"{{"id":"whe_01h455vb4pex5vsknk084sn02z","url":"https://shop.example/\"hooks\"","events":["charge.paid","payout.failed"],"#,
            r#""description":"two\nlines","active":{},"disabled_reason":{},"created_at":"2026-01-02T11:00:00.999Z"}}"#
        ),
        active, reason
    );
    assert_eq!(String::from_utf8(JsonRenderer::new().endpoint(&endpoint_now)).unwrap(), expected);
    let with_secret = format!("{},\"secret\":\"whsec_AA==\"}}", expected.trim_end_matches('}'));
    assert_eq!(
        String::from_utf8(to_json(&WebhookEndpointWithSecret::new(&endpoint_now, "whsec_AA==".to_owned()))).unwrap(),
        with_secret
    );
}

#[test]
fn endpoint_has_its_fields_in_every_state() {
    let at = instant("2026-01-03T00:00:00Z");
    check(EndpointState::Active, true, "null");
    check(EndpointState::Inactive, false, "null");
    check(EndpointState::Disabled { reason: DisabledReason::Gone, at }, false, r#""gone""#);
    check(EndpointState::Disabled { reason: DisabledReason::Failing, at }, false, r#""failing""#);
    let bare = Endpoint { description: None, ..registered(EndpointState::Active, Subscription::All) };
    assert!(
        String::from_utf8(to_json(&WebhookEndpoint::from(&bare)))
            .unwrap()
            .contains(r#""events":["*"],"description":null,"#)
    );
}

/// A repeat must send the same bytes, even after an upgrade. So the bytes of a stored event must never change.
#[test]
fn event_and_test_have_their_fields() {
    let id = EventId::parse("evt_01h455vb4pex5vsknk084sn02x").unwrap();
    let at = instant("2026-01-02T12:03:04.567891Z");
    for data in [r#"{"amount":10.50,"text":"São \u0000 '"}"#, "{}"] {
        let event = StoredEvent { id, sequence: 7, kind: EventType::ChargePaid, data: data.into(), created_at: at };
        let expected = format!(
            concat!(
                r#"{{"id":"evt_01h455vb4pex5vsknk084sn02x","type":"charge.paid","timestamp":"2026-01-02T12:03:04.567Z","#,
                r#""sequence":7,"api_version":"1.1.0","data":{}}}"#
            ),
            data
        );
        assert_eq!(String::from_utf8(JsonRenderer::new().event(&event)).unwrap(), expected);
    }
    let endpoint = EndpointId::parse("whe_01h455vb4pex5vsknk084sn02z").unwrap();
    let expected = concat!(
        r#"{"id":"evt_01h455vb4pex5vsknk084sn02x","type":"webhook.test","timestamp":"2026-01-02T12:03:04.567Z","#,
        r#""sequence":null,"api_version":"1.1.0","data":{"endpoint_id":"whe_01h455vb4pex5vsknk084sn02z","#,
        r#""message":"This is a test: the endpoint works."}}"#
    );
    assert_eq!(String::from_utf8(JsonRenderer::new().endpoint_test(id, endpoint, at)).unwrap(), expected);
}

#[test]
fn delivery_lists_every_attempt() {
    let at = instant("2026-01-02T12:03:04.567891Z");
    let waiting = Delivery {
        id: DeliveryId::parse("dlv_01h455vb4pex5vsknk084sn02y").unwrap(),
        endpoint: EndpointId::parse("whe_01h455vb4pex5vsknk084sn02z").unwrap(),
        event: EventId::parse("evt_01h455vb4pex5vsknk084sn02x").unwrap(),
        kind: EventType::ChargePaid,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(at),
        created_at: at,
    };
    let expected = |status: &str, attempts: &str, next: &str| {
        format!(
            concat!(
                r#"{{"id":"dlv_01h455vb4pex5vsknk084sn02y","event_id":"evt_01h455vb4pex5vsknk084sn02x","event_type":"charge.paid","#,
                r#""status":"{}","attempts":[{}],"next_attempt_at":{},"created_at":"2026-01-02T12:03:04.567Z"}}"#
            ),
            status, attempts, next
        )
    };
    assert_eq!(
        String::from_utf8(to_json(&Body::from(&waiting))).unwrap(),
        expected("pending", "", r#""2026-01-02T12:03:04.567Z""#)
    );
    let lost = DeliveryAttempt {
        at,
        status_code: None,
        duration_ms: 15_000,
        error: Some("timed_out".to_owned()),
        response_body: None,
    };
    let taken = DeliveryAttempt {
        at,
        status_code: Some(200),
        duration_ms: 0,
        error: None,
        response_body: Some("\"ok\"".to_owned()),
    };
    let done =
        Delivery { status: DeliveryStatus::Succeeded, attempts: vec![lost, taken], next_attempt_at: None, ..waiting };
    let attempts = concat!(
        r#"{"at":"2026-01-02T12:03:04.567Z","status_code":null,"duration_ms":15000,"error":"timed_out","response_body":null},"#,
        r#"{"at":"2026-01-02T12:03:04.567Z","status_code":200,"duration_ms":0,"error":null,"response_body":"\"ok\""}"#
    );
    assert_eq!(String::from_utf8(to_json(&Body::from(&done))).unwrap(), expected("succeeded", attempts, "null"));
}

#[test]
fn list_without_pages_has_only_rows() {
    assert_eq!(to_json(&DeliveryList { data: Vec::new() }), br#"{"data":[]}"#);
}
