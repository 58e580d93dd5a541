//! The exact fields and formats of answers.

use serde_json::{Value, json};

use crate::support::{Engine, on_both, shared};

on_both! { new_charge_has_the_contract_fields paid_charge_has_the_contract_fields balance_has_the_contract_fields list_row_equals_the_charge }

/// The fields in the order of the contract's table.
const CHARGE: [&str; 11] = [
    "amount",
    "created_at",
    "description",
    "end_to_end_id",
    "expires_at",
    "external_id",
    "id",
    "paid_at",
    "pix",
    "status",
    "txid",
];

fn is_instant(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let shape: String = text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    shape == "0000-00-00T00:00:00.000Z" && text.parse::<jiff::Timestamp>().is_ok()
}

/// Returns whether the value is a `TypeID`: prefix, `_`, 26 characters of lower-case Crockford base32 of 128 bits.
pub fn is_id(value: &Value, prefix: &str) -> bool {
    let suffix = value.as_str().and_then(|text| text.strip_prefix(prefix)).and_then(|text| text.strip_prefix('_'));
    suffix.is_some_and(|suffix| {
        suffix.len() == 26
            && suffix.starts_with(|first| ('0'..='7').contains(&first))
            && suffix.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte))
    })
}

async fn new_charge_has_the_contract_fields(engine: Engine) {
    let shop = shared(engine).await.shop();
    let body = json!({
        "amount": 10.5, "description": "Pedido 1", "payer_name": "Ana", "payer_document": "123.456.789-09",
        "expires_in": 600, "external_id": "order-1",
    });
    let reply = shop.create(body.to_string()).await;
    let charge = reply.expect(201);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(crate::support::names(&charge), CHARGE, "{charge}");
    assert!(is_id(&charge["id"], "chg"), "{charge}");
    let txid = charge["txid"].as_str().unwrap();
    assert!((26..=35).contains(&txid.len()) && txid.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{txid}");
    assert_eq!(charge["external_id"], "order-1");
    assert!(reply.text().contains(r#""amount":10.50,"#), "{}", reply.text());
    assert_eq!((&charge["status"], &charge["description"]), (&json!("pending"), &json!("Pedido 1")));
    assert_eq!((&charge["end_to_end_id"], &charge["paid_at"]), (&Value::Null, &Value::Null));
    assert!(is_instant(&charge["created_at"]) && is_instant(&charge["expires_at"]), "{charge}");

    assert_eq!(crate::support::names(&charge["pix"]), ["copy_paste", "qr_code_image"]);
    let code = charge["pix"]["copy_paste"].as_str().unwrap();
    cais_domain::br_code::BrCode::parse(code).unwrap_or_else(|error| panic!("{code}: {error}"));
    let image = charge["pix"]["qr_code_image"].as_str().unwrap();
    assert!(image.starts_with("data:image/png;base64,"), "{image}");

    let bare = shop.charge("2").await;
    assert_eq!(crate::support::names(&bare), CHARGE, "absent fields are null, not missing");
    assert_eq!((&bare["external_id"], &bare["description"]), (&Value::Null, &Value::Null));
    assert_eq!(
        shop.fetch(charge["id"].as_str().unwrap()).await,
        charge,
        "the read equals the response of the creation"
    );
}

async fn paid_charge_has_the_contract_fields(engine: Engine) {
    let shop = shared(engine).await.shop();
    let id = shop.charge_id("10").await;
    let paid = shop.pay(&id, None).await.expect(200);
    assert_eq!(paid["status"], "paid", "{paid}");
    assert_eq!(crate::support::names(&paid), CHARGE);
    assert!(is_instant(&paid["paid_at"]), "{paid}");
    assert_eq!(paid["end_to_end_id"].as_str().unwrap().len(), 32);
    assert_eq!(shop.fetch(&id).await, paid);
}

async fn balance_has_the_contract_fields(engine: Engine) {
    let shop = shared(engine).await.shop();
    let empty = shop.get("/balance").await;
    assert_eq!(
        empty.text(),
        r#"{"available_balance":0.00,"pending_balance":0.00,"blocked_balance":0.00,"total_balance":0.00,"currency":"BRL"}"#
    );
    let id = shop.charge_id("10.5").await;
    shop.pay(&id, None).await.expect(200);
    shop.until_available("10.50").await;
    let reply = shop.get("/balance").await;
    for amount in [r#""available_balance":10.50"#, r#""total_balance":10.50"#, r#""pending_balance":0.00"#] {
        assert!(reply.text().contains(amount), "{}", reply.text());
    }
}

async fn list_row_equals_the_charge(engine: Engine) {
    let shop = shared(engine).await.shop();
    let made = shop.charge("10").await;
    let list = shop.get("/charges").await;
    let json = list.expect(200);
    assert_eq!(crate::support::names(&json), ["data", "has_more", "next_starting_after"]);
    assert_eq!(json["data"], json!([made]));
    assert!(list.text().contains(r#""amount":10.00,"#));
}
