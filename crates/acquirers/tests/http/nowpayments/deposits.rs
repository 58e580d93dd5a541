//! Tests deposits: the order on the wire, and the forms of records.

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{CryptoAmount, Currency, ProcessorId};
use cais_ports::{CryptoProcessor as _, UpstreamDeposit, UpstreamDepositStatus};
use serde_json::{Value, json};

use super::answers::{
    btc, config, created_deposit, deposit_id, deposit_order, paid_deposit, payment_id, processor, refusal,
};
use crate::answers::{BUDGET, changed, http, json_reply, kind, reason};
use crate::server::{Act, Server};

async fn read(answer: Act) -> Result<UpstreamDeposit, cais_ports::AcquirerError> {
    let server = Server::start(move |_, _| answer.clone()).await;
    processor(&server.url()).get_deposit(&payment_id(), BUDGET).await
}

fn coins(currency: Currency, text: &str) -> CryptoAmount {
    CryptoAmount::parse(currency, text).unwrap()
}

#[tokio::test]
async fn deposit_order_is_written_in_the_coin_itself() {
    let server = Server::start(|_, _| json_reply(201, &created_deposit())).await;
    let mut config = config(&server.url());
    config.callback_url = Some("https://pay.example/callbacks/x".to_owned());
    let processor = cais_acquirers::NowPayments::new(&config).unwrap();
    let deposit = processor.create_deposit(&deposit_order(), BUDGET).await.unwrap();

    let seen = server.seen();
    let [post] = seen.as_slice() else { unreachable!("{seen:?}") };
    assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/v1/payment"));
    assert_eq!((post.header("x-api-key"), post.header("authorization")), ("K3Y", ""));
    let wanted = format!(
        concat!(
            r#"{{"price_amount":0.17070286,"price_currency":"btc","pay_currency":"btc","order_id":"{}","#,
            r#""ipn_callback_url":"https://pay.example/callbacks/x","is_fixed_rate":false,"is_fee_paid_by_user":false}}"#
        ),
        deposit_id()
    );
    assert_eq!(post.body, wanted);
    assert_eq!((deposit.id, deposit.order, deposit.parent), (payment_id(), Some(deposit_id()), None));
    assert_eq!((deposit.address, deposit.extra_id), (Some(btc()), None));
    assert_eq!((deposit.asked, deposit.received), (Some(deposit_order().amount), None));
    assert_eq!(deposit.status, UpstreamDepositStatus::Waiting);
    assert_eq!(deposit.created_at.map(|at| at.to_string()).as_deref(), Some("2026-11-20T15:00:22.742Z"));
}

#[tokio::test]
async fn deposit_that_differs_from_the_order_is_refused() {
    for (field, value) in [
        ("order_id", json!("cdp_01jd8x2m4pe9ktva0c6rzq5w3n")),
        ("order_id", Value::Null),
        ("pay_amount", json!(0.170_702_87)),
        ("pay_amount", Value::Null),
        ("pay_currency", json!("ltc")),
        ("pay_currency", Value::Null),
        ("pay_address", json!("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5")),
        ("pay_address", json!("ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9")),
        ("pay_address", Value::Null),
        ("payment_id", json!("../1")),
        ("payment_id", Value::Null),
    ] {
        let answer = changed(created_deposit(), &format!("/{field}"), Some(value.clone()));
        let server = Server::start(move |_, _| json_reply(201, &answer)).await;
        let result = processor(&server.url()).create_deposit(&deposit_order(), BUDGET).await;
        assert_eq!(kind(&result), "refused", "{field} {value}: {}", reason(&result));
        assert_eq!(server.methods(), "POST");
    }
}

#[tokio::test]
async fn named_refusal_of_a_deposit_is_certain() {
    for (status, code, wanted) in [
        (400, "AMOUNT_MINIMAL_ERROR", "refused"),
        (400, "CURRENCY_UNAVAILABLE", "refused"),
        (400, "INVALID_REQUEST_PARAMS", "refused"),
        (403, "INVALID_API_KEY", "unavailable"),
        (403, "ENDPOINT_NOT_ALLOWED", "unavailable"),
        (429, "TOO_MANY", "unavailable"),
        (500, "INTERNAL", "unknown"),
    ] {
        let server = Server::start(move |_, _| refusal(status, code)).await;
        let result = processor(&server.url()).create_deposit(&deposit_order(), BUDGET).await;
        assert_eq!(kind(&result), wanted, "{status} {code}");
        assert!(reason(&result).contains(&format!("{status} {code}: Not accepted")), "{}", reason(&result));
        assert_eq!(server.methods(), "POST");
    }
}

#[tokio::test]
async fn identifiers_and_amounts_are_numbers_or_texts() {
    for (field, value) in [
        ("payment_id", json!("5745459419")),
        ("pay_amount", json!("0.17070286")),
        ("pay_amount", json!(0.170_702_860)),
        ("actually_paid", json!("0.17070286")),
        ("parent_payment_id", json!("null")),
        ("payin_extra_id", json!("")),
        ("pay_currency", json!("BTC")),
        ("payment_status", json!("FINISHED")),
    ] {
        let answer = changed(paid_deposit(), &format!("/{field}"), Some(value.clone()));
        let deposit = read(json_reply(200, &answer)).await;
        let deposit = deposit.unwrap_or_else(|error| unreachable!("{field} {value}: {error}"));
        assert_eq!((deposit.id, deposit.parent, deposit.extra_id), (payment_id(), None, None));
        assert_eq!(deposit.received, Some(ArrivedCoins::Supported(deposit_order().amount)), "{field} {value}");
        assert_eq!((deposit.status, deposit.asked), (UpstreamDepositStatus::Finished, Some(deposit_order().amount)));
        assert_eq!(deposit.tx_hash.as_deref(), Some("ab12"));
    }
}

#[tokio::test]
async fn received_coins_are_exact_and_never_rounded_up() {
    for (currency, written, wanted) in [
        ("usdtbsc", "1000000.000000000000000001", coins(Currency::UsdtBsc, "1000000.000000000000000001")),
        ("usdtbsc", "1.0001341847350678", coins(Currency::UsdtBsc, "1.0001341847350678")),
        ("trx", "12.3456789", coins(Currency::Trx, "12.345678")),
        ("btc", "1e-8", coins(Currency::Btc, "0.00000001")),
        ("btc", "0.123456789012345678901234567890", coins(Currency::Btc, "0.12345678")),
        ("btc", "0", coins(Currency::Btc, "0")),
    ] {
        let text = changed(paid_deposit(), "/pay_currency", Some(json!(currency))).to_string();
        let text = text.replace(r#""actually_paid":0.17070286"#, &format!(r#""actually_paid":{written}"#));
        let deposit = read(Act::Reply(http(200, "application/json", &text))).await.unwrap();
        assert_eq!(deposit.received, Some(ArrivedCoins::Supported(wanted)), "{currency} {written}");
    }
}

#[tokio::test]
async fn every_status_of_a_deposit_is_read() {
    for (word, wanted) in [
        ("waiting", UpstreamDepositStatus::Waiting),
        ("confirming", UpstreamDepositStatus::Confirming),
        ("confirmed", UpstreamDepositStatus::Confirmed),
        ("sending", UpstreamDepositStatus::Sending),
        ("partially_paid", UpstreamDepositStatus::PartiallyPaid),
        ("finished", UpstreamDepositStatus::Finished),
        ("failed", UpstreamDepositStatus::Failed),
        ("refunded", UpstreamDepositStatus::Refunded),
        ("expired", UpstreamDepositStatus::Expired),
        ("cancelled", UpstreamDepositStatus::Expired),
        ("on_hold", UpstreamDepositStatus::Unknown),
    ] {
        let answer = changed(paid_deposit(), "/payment_status", Some(json!(word)));
        assert_eq!(read(json_reply(200, &answer)).await.unwrap().status, wanted, "{word}");
    }
}

#[tokio::test]
async fn wrong_asset_and_later_payments_are_reported() {
    let mut answer = paid_deposit();
    let fields = answer.as_object_mut().unwrap();
    fields.insert("pay_currency".to_owned(), json!("usdttrc20"));
    fields.insert("actually_paid".to_owned(), json!("99.5"));
    fields.insert("pay_address".to_owned(), json!("TNDFkiSmBQorNFacb3735q8MnT29sn8BLn"));
    fields.insert("parent_payment_id".to_owned(), json!(5_745_459_000_u64));
    fields.insert("order_id".to_owned(), json!("another system's"));
    let deposit = read(json_reply(200, &answer)).await.unwrap();
    let wrong = ArrivedCoins::Unsupported { currency: "usdttrc20".to_owned(), amount: "99.5".to_owned() };
    assert_eq!((deposit.received, deposit.asked, deposit.address), (Some(wrong), None, None));
    assert_eq!((deposit.order, deposit.parent.unwrap().as_str()), (None, "5745459000"));
}

#[tokio::test]
async fn unreadable_deposit_leaves_the_outcome_unknown() {
    for (field, value) in [
        ("payment_id", json!(1)),
        ("actually_paid", json!("much")),
        ("actually_paid", json!(-1)),
        ("actually_paid", json!("-1e-8")),
        ("actually_paid", json!("1e30")),
        ("actually_paid", json!({"amount": 1})),
        ("pay_currency", Value::Null),
        ("parent_payment_id", json!("a b")),
    ] {
        let answer = changed(paid_deposit(), &format!("/{field}"), Some(value.clone()));
        assert_eq!(kind(&read(json_reply(200, &answer)).await), "unknown", "{field} {value}");
    }
    assert_eq!(kind(&read(refusal(404, "NOT_FOUND")).await), "unknown");
}

#[tokio::test]
async fn first_payment_names_the_later_ones() {
    for (value, expected) in [
        (json!([5_513_339_153_u64, "5513339154"]), ["5513339153", "5513339154"].as_slice()),
        (json!([null, "a b", 7]), &["7"]),
        (Value::Null, &[]),
        (json!("null"), &[]),
    ] {
        let answer = changed(paid_deposit(), "/payment_extra_ids", Some(value.clone()));
        let deposit = read(json_reply(200, &answer)).await.unwrap();
        assert_eq!(deposit.later.iter().map(ProcessorId::as_str).collect::<Vec<_>>(), expected, "{value}");
    }
}
