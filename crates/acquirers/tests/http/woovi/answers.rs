//! Answers of Woovi, and an adapter for tests.

use cais_acquirers::{Secret, WooviAcquirer, WooviConfig};
use cais_domain::acquirer_name::AcquirerName;
use serde_json::{Value, json};

use crate::answers::{CODE, NAME, PIX, RECIPIENT, TXID, json_reply};
use crate::bad_luck::CONNECT;
use crate::server::{Act, Seen, Server};
use crate::tls::TRUSTED;

pub const APP_ID: &str = "Q2xpZW50X0lk";

pub fn config(base_url: &str) -> WooviConfig {
    WooviConfig {
        name: AcquirerName::parse("main").unwrap(),
        base_url: base_url.to_owned(),
        app_id: Secret::new(APP_ID),
        webhook_public_key: None,
        webhook_hmac_secret: Some(Secret::new("hush")),
        extra_root_pem: Some(TRUSTED.pem()),
        timeouts: cais_acquirers::Timeouts { connect: CONNECT, ..cais_acquirers::Timeouts::default() },
    }
}

pub fn woovi(base_url: &str) -> WooviAcquirer {
    WooviAcquirer::new(&config(base_url)).unwrap()
}

/// Returns the charge of [`crate::answers::order`].
pub fn charge() -> Value {
    json!({
        "value": 1050, "comment": "", "identifier": "d983a07836cf48ed9a65764d3c184273",
        "transactionID": "d983a07836cf48ed9a65764d3c184273", "status": "ACTIVE", "additionalInfo": [], "fee": 85,
        "discount": 0, "valueWithDiscount": 1050, "expiresDate": "2026-11-20T16:00:00.278Z", "type": "DYNAMIC",
        "correlationID": TXID, "createdAt": "2026-11-20T15:00:00.278Z", "brCode": CODE, "expiresIn": 3600
    })
}

/// Returns the answer with a charge.
pub fn charged(charge: &Value) -> Value {
    json!({"charge": charge, "correlationID": TXID, "brCode": CODE})
}

/// Returns the Pix that pays [`charge`].
pub fn transaction() -> Value {
    json!({
        "customer": {"name": "Dan"}, "payer": {"name": "Dan"}, "charge": {"status": "COMPLETED", "correlationID": TXID},
        "value": 1050, "time": "2026-11-20T15:00:00.000Z", "endToEndId": PIX, "type": "PAYMENT", "status": "CONFIRMED",
        "transactionID": "d983a07836cf48ed9a65764d3c184273", "infoPagador": "", "fee": 80
    })
}

/// Returns a page of a list that is the last.
pub fn last_page(field: &str, rows: &[Value]) -> Value {
    let paging = json!({"skip": 0, "limit": 100, "hasPreviousPage": false, "hasNextPage": false});
    json!({"pageInfo": paging, "status": "OK", field: rows})
}

/// Returns the payment of [`crate::answers::payout_order`] with a status.
pub fn payment(status: &str) -> Value {
    let payment = json!({
        "value": 1234, "status": status, "destinationAlias": RECIPIENT, "destinationAliasType": "EMAIL",
        "comment": "", "correlationID": NAME
    });
    if status == "CREATED" {
        return json!({"payment": payment});
    }
    json!({
        "payment": payment,
        "transaction": {"value": 1234, "endToEndId": PIX, "time": "2026-11-20T15:00:00.000Z"},
        "destination": {"name": "Ana Lima", "taxID": "12345678909", "pixKey": RECIPIENT, "bank": "A Bank"}
    })
}

/// Returns the refund of [`crate::answers::refund_order`], as `/refund` shows it.
pub fn refund(status: &str) -> Value {
    json!({"refund": {
        "status": status, "value": 400, "correlationID": NAME, "refundId": "11bf5b37e0b842e08dcfdc8c4aefc000",
        "returnIdentification": "D12345678202611201501bbbbbbbbbbb", "time": "2026-11-20T15:01:00.000Z"
    }})
}

/// Answers with a refusal.
pub fn refused(status: u16, error: &str) -> Act {
    json_reply(status, &json!({"error": error}))
}

/// Returns the requests as `METHOD path`, without `/api/v1` and queries.
pub fn asked(server: &Server) -> Vec<String> {
    let bare = |seen: Seen| {
        let path = seen.path.split('?').next().unwrap_or_default().trim_start_matches("/api/v1").to_owned();
        format!("{} {path}", seen.method)
    };
    server.seen().into_iter().map(bare).collect()
}
