//! Tests look-ups by our identifiers. No list has a filter for them.

use cais_ports::CryptoProcessor as _;
use serde_json::{Value, json};

use super::answers::{
    deposit_id, other_row, paid_deposit, payment_id, processor, withdrawal_id, withdrawal_order, withdrawal_row,
};
use crate::answers::{BUDGET, changed, day, json_reply, kind, reason};
use crate::server::Server;

/// Starts a server that answers each page by its number.
async fn pages(answer: impl Fn(u32) -> Value + Send + Sync + 'static) -> Server {
    Server::start(move |seen, _| {
        let (_, query) = seen.path.split_once('?').unwrap();
        let page = query.split('&').find_map(|pair| pair.strip_prefix("page=")).unwrap();
        json_reply(200, &answer(page.parse().unwrap()))
    })
    .await
}

fn other_deposit() -> Value {
    changed(paid_deposit(), "/order_id", Some(json!("order 7")))
}

#[tokio::test]
async fn withdrawal_is_found_on_a_later_page() {
    let server = pages(|page| match page {
        0 | 1 => json!({"payouts": [other_row(), other_row()]}),
        2 => json!({"payouts": [other_row(), withdrawal_row()]}),
        _ => json!({"payouts": []}),
    })
    .await;
    let found = processor(&server.url()).find_withdrawal(withdrawal_id(), BUDGET).await.unwrap().unwrap();
    assert_eq!((found.order, found.amount), (Some(withdrawal_id()), withdrawal_order().amount));
    assert_eq!(server.methods(), "GET GET GET");
    let seen = server.seen();
    let first = seen.get(1).unwrap();
    assert_eq!(first.header("authorization"), "Bearer good");
    // The identifier was created on 2024-11-22; the list begins a day before.
    assert_eq!(first.path, "/v1/payout?limit=100&page=0&order_by=dateCreated&order=desc&date_from=2024-11-21");
}

#[tokio::test]
async fn absent_withdrawal_is_none_after_an_empty_page() {
    let server = pages(|page| if page < 3 { json!({"payouts": [other_row()]}) } else { json!({"payouts": []}) }).await;
    assert_eq!(processor(&server.url()).find_withdrawal(withdrawal_id(), BUDGET).await, Ok(None));
    assert_eq!(server.methods(), "GET GET GET GET");
}

#[tokio::test]
async fn doubtful_list_of_withdrawals_proves_nothing() {
    let unreadable = changed(withdrawal_row(), "/amount", Some(json!("?")));
    for (name, rows) in [
        ("endless", json!({"payouts": [other_row()]})),
        ("twice ours", json!({"payouts": [withdrawal_row(), withdrawal_row()]})),
        ("ours is unreadable", json!({"payouts": [unreadable]})),
        ("a refusal with status 200", json!({"status": false, "message": "busy"})),
        ("no rows", json!({"payouts": {}})),
        ("a row without an object", json!({"payouts": [1]})),
    ] {
        let server = pages(move |_| rows.clone()).await;
        let result = processor(&server.url()).find_withdrawal(withdrawal_id(), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{name}: {}", reason(&result));
    }
}

#[tokio::test]
async fn first_deposit_of_an_order_is_found() {
    let later = changed(paid_deposit(), "/payment_id", Some(json!(5_745_459_999_u64)));
    let child = changed(paid_deposit(), "/parent_payment_id", Some(json!(1)));
    let server = pages(move |page| match page {
        0 => json!({"data": [other_deposit(), later, child], "pagesCount": 2}),
        _ => json!({"data": [paid_deposit(), other_deposit()], "pagesCount": 2}),
    })
    .await;
    let found = processor(&server.url()).find_deposit(deposit_id(), BUDGET).await.unwrap().unwrap();
    assert_eq!(found.id, payment_id());
    assert_eq!(server.methods(), "GET GET");
    let first = server.seen().into_iter().nth(1).unwrap();
    assert_eq!(
        first.path,
        "/v1/payment/?limit=100&page=0&sortBy=created_at&orderBy=desc&dateFrom=2024-11-21&dateTo=2024-11-23"
    );
}

#[tokio::test]
async fn doubtful_list_of_deposits_proves_nothing() {
    let unreadable = changed(other_deposit(), "/actually_paid", Some(json!("?")));
    for (name, rows) in [
        ("endless", json!({"data": [other_deposit()]})),
        ("an unreadable row", json!({"data": [unreadable], "pagesCount": 1})),
        ("no rows", json!({"pagesCount": 1})),
    ] {
        let server = pages(move |_| rows.clone()).await;
        let result = processor(&server.url()).find_deposit(deposit_id(), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{name}: {}", reason(&result));
    }
    let server = pages(|_| json!({"data": [other_deposit()], "pagesCount": 1})).await;
    assert_eq!(processor(&server.url()).find_deposit(deposit_id(), BUDGET).await, Ok(None));
}

#[tokio::test]
async fn page_of_deposits_reports_unreadable_rows() {
    let server = pages(|page| match page {
        0 => json!({"data": [paid_deposit(), {"payment_id": 7, "pay_currency": "btc", "actually_paid": "?"}, 1]}),
        _ => json!({"data": []}),
    })
    .await;
    let processor = processor(&server.url());
    let page = processor.list_deposits(day(0), BUDGET).await.unwrap();
    assert_eq!((page.rows.len(), page.next, page.pages), (1, Some(1), None));
    let names: Vec<_> = page.unreadable.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["7", "data[2]"]);
    let page = processor.list_deposits(day(1), BUDGET).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (0, None));
    let last = server.seen().pop().unwrap();
    assert!(last.path.contains("dateFrom=2026-11-19&dateTo=2026-11-21"), "{}", last.path);
}
