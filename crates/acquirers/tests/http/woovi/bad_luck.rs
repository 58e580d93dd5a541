//! Tests every call of the adapter with the table of failures.

use cais_ports::{Acquirer as _, DefenseOrder};
use serde_json::json;

use super::answers::{charge, charged, last_page, payment, refund, refused, transaction, woovi};
use super::callbacks::{payout_return, return_id};
use super::charges::EXISTS;
use crate::answers::{changed, day, instruction_id, order, payout_order, pix, refund_order, txid};
use crate::bad_luck::{assert_existing_txid, assert_outcomes};

#[tokio::test]
async fn calls_about_charges_report_the_right_outcome() {
    let answer = charged(&charge());
    tokio::join!(
        assert_outcomes("create", answer.clone(), |url, budget| async move {
            woovi(&url).create_charge(&order(), budget).await
        }),
        assert_outcomes(
            "find",
            answer.clone(),
            |url, budget| async move { woovi(&url).find_charge(&txid(), budget).await }
        ),
        assert_outcomes(
            "cancel",
            answer,
            |url, budget| async move { woovi(&url).cancel_charge(&txid(), budget).await }
        ),
        assert_outcomes("received", last_page("transactions", &[transaction()]), |url, budget| async move {
            woovi(&url).list_received(day(0), budget).await
        }),
        assert_outcomes("one received", json!({"transaction": transaction()}), |url, budget| async move {
            woovi(&url).find_received(&pix(), budget).await
        }),
    );
}

#[tokio::test]
async fn existing_txid_is_looked_up() {
    let (found, other) = (charged(&charge()), charged(&changed(charge(), "/value", Some(json!(9900)))));
    let books = (&found, &other, refused(400, "Charge not found"));
    assert_existing_txid("woovi", refused(400, EXISTS), books, |url, budget| async move {
        woovi(&url).create_charge(&order(), budget).await
    })
    .await;
}

#[tokio::test]
async fn calls_about_money_out_report_the_right_outcome() {
    tokio::join!(
        assert_outcomes("send", payment("CREATED"), |url, budget| async move {
            woovi(&url).send_payout(&payout_order(), budget).await
        }),
        assert_outcomes("find sent", payment("APPROVED"), |url, budget| async move {
            woovi(&url).find_payout(&instruction_id(), budget).await
        }),
        assert_outcomes("sent", last_page("payments", &[payment("CONFIRMED")]), |url, budget| async move {
            woovi(&url).list_sent(day(0), budget).await
        }),
        assert_outcomes("find return", json!({"transaction": payout_return()}), |url, budget| async move {
            woovi(&url).find_payout_return(&return_id(), budget).await
        }),
        assert_outcomes("list returns", last_page("transactions", &[payout_return()]), |url, budget| async move {
            woovi(&url).list_payout_returns(day(0), budget).await
        }),
        assert_outcomes("refund", refund("IN_PROCESSING"), |url, budget| async move {
            woovi(&url).send_refund(&refund_order(), budget).await
        }),
        assert_outcomes("find refund", refund("REFUNDED"), |url, budget| async move {
            woovi(&url).find_refund(&pix(), refund_order().id, budget).await
        }),
    );
}

#[tokio::test]
async fn calls_about_disputes_report_the_right_outcome() {
    let dispute =
        json!({"id": "67e3170b38e62d5935ed4faf", "status": "CREATED", "value": 1, "endToEndId": pix().as_str()});
    let order = || DefenseOrder {
        infraction: "67e3170b38e62d5935ed4faf".to_owned(),
        text: "delivered".to_owned(),
        evidence_url: Some("https://shop.example/proof.pdf".to_owned()),
    };
    tokio::join!(
        assert_outcomes("disputes", last_page("disputes", &[dispute]), |url, budget| async move {
            woovi(&url).list_infractions(day(0), budget).await
        }),
        assert_outcomes("defense", json!({"documents": [{"url": "https://x.example/y"}]}), |url, budget| async move {
            woovi(&url).send_defense(&order(), budget).await
        }),
        assert_outcomes("webhooks", last_page("webhooks", &[]), |url, budget| async move {
            woovi(&url).register_callback("https://pay.example/c", budget).await
        }),
    );
}
