//! Tests the registration of the callback address, and the content and signatures of callbacks.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_acquirers::Router;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::money::Money;
use cais_ports::{
    Acquirer as _, Acquirers as _, CallbackInfraction, CallbackItem, CallbackPayout, CallbackPix, CallbackReturn,
    CallbackSignatures, ReturnedPart,
};
use cais_testkit::CapturedLogs;
use ring::hmac;
use serde_json::{Value, json};

use super::answers::{asked, last_page, refused, transaction, woovi};
use crate::answers::{BUDGET, NAME, PIX, TXID, html, instruction_id, json_reply, kind, pix, reason, txid};
use crate::server::{Act, Server};

const URL: &str = "https://pay.example/callbacks/main/token";

/// Starts a server that stores the registered webhooks.
async fn registry(refuses: Option<&'static str>) -> (Server, Arc<Mutex<Vec<Value>>>) {
    let hooks: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = Arc::clone(&hooks);
    let server = Server::start(move |seen, _| {
        let mut hooks = kept.lock().unwrap();
        if seen.method == "GET" {
            return json_reply(200, &last_page("webhooks", &hooks));
        }
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        if refuses.is_some_and(|event| body["webhook"]["event"] == event) {
            return refused(400, "event is unknown");
        }
        hooks.push(body["webhook"].clone());
        json_reply(200, &body)
    })
    .await;
    (server, hooks)
}

#[tokio::test]
async fn each_event_is_registered_once() {
    let (server, hooks) = registry(None).await;
    let woovi = woovi(&server.url());
    woovi.register_callback(URL, BUDGET).await.unwrap();
    let first = hooks.lock().unwrap().clone();
    let mut events: Vec<_> = first.iter().map(|hook| hook["event"].as_str().unwrap().to_owned()).collect();
    assert!(first.iter().all(|hook| hook["url"] == URL && hook["isActive"] == true), "{first:?}");
    events.sort_unstable();
    events.dedup();
    assert_eq!((events.len(), first.len()), (13, 13));
    for event in ["OPENPIX:TRANSACTION_RECEIVED", "OPENPIX:MOVEMENT_FAILED", "OPENPIX:DISPUTE_CREATED"] {
        assert!(events.iter().any(|found| found == event), "{event}");
    }
    assert_eq!(
        server.seen().remove(0).path,
        "/api/v1/webhook?url=https%3A%2F%2Fpay.example%2Fcallbacks%2Fmain%2Ftoken&skip=0&limit=100"
    );
    woovi.register_callback(URL, BUDGET).await.unwrap();
    assert_eq!(hooks.lock().unwrap().len(), 13, "a repeat registers nothing");
    // A webhook that is inactive or of another address does not count. The prefix of an event may differ.
    let mut some = first;
    some[0]["isActive"] = json!(false);
    some[1]["url"] = json!("https://old.example");
    let renamed = some[2]["event"].as_str().unwrap().replace("OPENPIX:", "woovi:");
    some[2]["event"] = json!(renamed);
    *hooks.lock().unwrap() = some;
    woovi.register_callback(URL, BUDGET).await.unwrap();
    assert_eq!(hooks.lock().unwrap().len(), 15);
    woovi.register_callback("https://new.example", BUDGET).await.unwrap();
    assert_eq!(hooks.lock().unwrap().len(), 28, "another address has webhooks of its own");
}

#[tokio::test]
async fn refused_event_leaves_the_others_registered() {
    let (server, hooks) = registry(Some("OPENPIX:MOVEMENT_REMOVED")).await;
    let result = woovi(&server.url()).register_callback(URL, BUDGET).await;
    assert_eq!((kind(&result), hooks.lock().unwrap().len()), ("refused", 12), "{}", reason(&result));
    for (answer, wanted) in [(refused(403, "no"), "unavailable"), (html(500), "unknown"), (Act::Cut, "unknown")] {
        let server = Server::start(move |seen, _| match seen.method.as_str() {
            "GET" => json_reply(200, &last_page("webhooks", &[])),
            _ => answer.clone(),
        })
        .await;
        assert_eq!(kind(&woovi(&server.url()).register_callback(URL, BUDGET).await), wanted);
        assert_eq!(asked(&server), ["GET /webhook", "POST /webhook"]);
    }
}

pub fn return_id() -> ReturnId {
    ReturnId::parse("D12345678202611201501bbbbbbbbbbb").unwrap()
}

/// Returns the transaction that is the return of a sent Pix.
pub fn payout_return() -> Value {
    json!({"endToEndId": return_id().as_str(), "type": "REFUND", "status": "CONFIRMED", "value": 400,
        "time": "2026-11-20T16:00:00Z"})
}

#[tokio::test]
async fn return_of_sent_pix_is_read_by_its_own_id() {
    let row = payout_return();
    let with = |field: &str, value: Value| {
        let mut row = row.clone();
        row[field] = value;
        row
    };
    let part = ReturnedPart {
        return_id: return_id(),
        amount: Money::from_centavos(400),
        at: "2026-11-20T16:00:00Z".parse().unwrap(),
    };
    // In some documents the values of `type` and `status` are exchanged.
    let mut exchanged = with("type", json!("CONFIRMED"));
    exchanged["status"] = json!("REFUND");
    let found = |row: Value| json_reply(200, &json!({"transaction": row}));
    for (act, wanted) in [
        (found(row.clone()), Ok(Some(part.clone()))),
        (found(exchanged), Ok(Some(part.clone()))),
        (found(with("status", Value::Null)), Ok(Some(part))),
        (found(with("status", json!("IN_PROCESSING"))), Ok(None)),
        (found(with("status", json!("REVIEWED"))), Ok(None)),
        (found(with("type", json!("PAYMENT"))), Ok(None)),
        // The return of a received Pix, of a charge of this service or of another system.
        (found(with("charge", json!({"correlationID": TXID}))), Ok(None)),
        (found(with("charge", json!({"correlationID": "9134e286-6f71-427a-bf00-241681624586"}))), Ok(None)),
        (found(with("charge", json!({"identifier": "d983a07836cf48ed9a65764d3c184273"}))), Ok(None)),
        (refused(400, "Transaction not found"), Ok(None)),
        (found(with("endToEndId", json!(PIX))), Err("unknown")),
        (found(with("value", json!(0))), Err("unknown")),
        (found(with("time", Value::Null)), Err("unknown")),
        (html(500), Err("unknown")),
        (Act::Cut, Err("unknown")),
    ] {
        let server = Server::start(move |_, _| act.clone()).await;
        let read = woovi(&server.url()).find_payout_return(&return_id(), BUDGET).await;
        match wanted {
            Ok(part) => assert_eq!(read, Ok(part)),
            Err(wanted) => assert_eq!(kind(&read), wanted, "{read:?}"),
        }
        assert_eq!(asked(&server), ["GET /transaction/D12345678202611201501bbbbbbbbbbb"]);
    }
}

#[test]
fn callback_names_one_resource() {
    let woovi = woovi("http://127.0.0.1:9");
    let received = |known: bool| {
        let hint = CallbackPix {
            txid: txid(),
            end_to_end_id: known.then(pix),
            paid_at: known.then(|| "2026-11-20T15:00:00Z".parse().unwrap()),
        };
        vec![CallbackItem::Received(hint)]
    };
    let sent = vec![CallbackItem::Sent(CallbackPayout { instruction_id: instruction_id(), returns: Vec::new() })];
    let disputed = vec![CallbackItem::Infraction(CallbackInfraction { id: "67e3170b38e62d5935ed4faf".to_owned() })];
    let charge = json!({"correlationID": TXID, "status": "COMPLETED"});
    let dispute = json!({"id": "67e3170b38e62d5935ed4faf", "endToEndId": PIX, "status": "OPENED"});
    let returned = json!({"endToEndId": return_id().as_str(), "type": "REFUND", "time": "2026-11-20T16:00:00Z"});
    for (body, wanted) in [
        (json!({"event": "OPENPIX:CHARGE_COMPLETED", "charge": charge, "pix": transaction()}), received(true)),
        (json!({"event": "OPENPIX:TRANSACTION_RECEIVED", "charge": null, "pix": transaction()}), received(true)),
        (json!({"event": "woovi:CHARGE_EXPIRED", "charge": charge}), received(false)),
        (json!({"event": "OPENPIX:TRANSACTION_REFUND_RECEIVED", "charge": charge, "pix": returned}), received(false)),
        (
            // The charge is read for its returns, which no list shows.
            json!({"event": "PIX_TRANSACTION_REFUND_SENT_CONFIRMED", "refundTransaction": returned,
                "originalTransaction": transaction()}),
            received(false),
        ),
        (
            json!({"event": "OPENPIX:MOVEMENT_CONFIRMED", "payment": {"correlationID": NAME, "status": "CONFIRMED"}}),
            sent.clone(),
        ),
        (json!({"event": "OPENPIX:MOVEMENT_REMOVED", "payment": {"correlationID": NAME}}), sent),
        (json!({"event": "woovi:DISPUTE_ACCEPTED", "dispute": dispute}), disputed),
        // The callbacks name no record of this service.
        (json!({"event": "OPENPIX:DISPUTE_CREATED", "dispute": {"endToEndId": PIX}}), vec![]),
        (json!({"event": "OPENPIX:MOVEMENT_CONFIRMED", "payment": {"correlationID": "payment1"}}), vec![]),
        (
            json!({"event": "OPENPIX:CHARGE_COMPLETED", "charge": {"correlationID": "9134e286-6f71-427a-bf00-241681624586"}}),
            vec![],
        ),
        (
            json!({"event": "OPENPIX:TRANSACTION_RECEIVED", "charge": null, "pix": {"endToEndId": PIX, "charge": null}}),
            vec![],
        ),
        (
            // The documents also show the return of a received Pix under this event.
            json!({"event": "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED", "refundTransaction": returned,
                "originalTransaction": transaction()}),
            received(false),
        ),
        (
            json!({"event": "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED", "refundTransaction": returned,
                "originalTransaction": {"endToEndId": PIX, "type": "PAYMENT", "value": 1050}}),
            vec![CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id: pix(), return_id: return_id() })],
        ),
        (
            json!({"event": "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED", "refundTransaction": returned,
                "originalTransaction": {"endToEndId": "E3168", "type": "PAYMENT", "value": 1050}}),
            vec![],
        ),
        (json!({"data_criacao": "2026-11-20T15:00:00Z", "evento": "teste_webhook"}), vec![]),
        (json!({"event": "ACCOUNT_REGISTER_APPROVED", "charge": "x", "pix": 7, "payment": []}), vec![]),
    ] {
        assert_eq!(woovi.callbacks(body.to_string().as_bytes()), Ok(wanted), "{body}");
    }
    for junk in ["", "<html>", "[]", "7"] {
        assert_eq!(kind(&woovi.callbacks(junk.as_bytes())), "refused", "{junk}");
    }
}

/// Woovi tests each registered address with the event of its webhook and without a resource.
#[test]
fn only_unreadable_return_of_a_payout_raises_the_alert() {
    let event = "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED";
    let test = json!({"event": event, "evento": "teste_webhook", "data_criacao": "2026-11-20T15:00:00Z"});
    let returned = json!({"endToEndId": "D3168", "type": "REFUND", "value": 400});
    let original = json!({"endToEndId": PIX, "type": "PAYMENT", "value": 1050});
    for (body, alerts) in [
        (test, 0),
        (json!({"event": event}), 1),
        (json!({"event": event, "refundTransaction": returned, "originalTransaction": original}), 1),
    ] {
        let logs = CapturedLogs::start();
        assert_eq!(woovi("http://127.0.0.1:9").callbacks(body.to_string().as_bytes()), Ok(vec![]), "{body}");
        assert_eq!(logs.alerts(cais_ports::alerts::PAYOUT_RETURN_UNCREDITED).len(), alerts, "{body}");
    }
}

#[test]
fn callback_without_valid_signature_is_refused() {
    let woovi = woovi("http://127.0.0.1:9");
    let body = br#"{"event":"OPENPIX:CHARGE_COMPLETED"}"#;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"hush");
    let signature = STANDARD.encode(hmac::sign(&key, body));
    let signed = |text: &str| CallbackSignatures::of_headers([("X-OpenPix-Signature", text)]);
    assert_eq!(woovi.verify_callback(body, &signed(&signature)), Ok(()));
    assert_eq!(kind(&woovi.verify_callback(b"{}", &signed(&signature))), "refused");
    assert_eq!(kind(&woovi.verify_callback(body, &signed("AAAA"))), "refused");
    assert_eq!(kind(&woovi.verify_callback(body, &CallbackSignatures::default())), "refused");
    // The breaker in front of the adapter does not skip the check.
    let router = Router::new(vec![Arc::new(woovi)]);
    let guarded = router.named(&router.names().remove(0)).unwrap();
    assert_eq!(guarded.verify_callback(body, &signed(&signature)), Ok(()));
    assert_eq!(kind(&guarded.verify_callback(body, &CallbackSignatures::default())), "refused");
    assert!(!guarded.lists_returns());
}
