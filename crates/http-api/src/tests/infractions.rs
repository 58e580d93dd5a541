//! Tests infractions over HTTP, from the payer's dispute to its end.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_domain::merchant::api_key::Scopes;
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, OrderReply};

use super::*;

const INFRACTIONS: &str = "/v1/infractions";
const UNKNOWN: &str = "inf_01h455vb4pex5vsknk084sn02q";
const DEFENSE: &str = r#"{"defense_text":"two\nlines","defense_evidence_url":"https://shop.example/1"}"#;

async fn dispute(bed: &TestBed, charge: &str, body: &str) -> Seen {
    let opened = post(bed, &format!("/v1/sandbox/charges/{charge}/infraction"), "", body).await;
    assert_eq!(opened.status, 201, "{opened:?}");
    opened
}

async fn balance(bed: &TestBed) -> [String; 2] {
    let balance = get(bed, "/v1/balance").await;
    ["/available_balance", "/blocked_balance"].map(|part| balance.at(part).to_string())
}

fn at(infraction: &Seen) -> String {
    format!("{INFRACTIONS}/{}", infraction.id())
}

#[actix_web::test]
async fn dispute_is_opened_defended_and_won() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "10").await;
    let opened = dispute(&bed, &charge, r#"{"reason_code":"COERCION","amount":4}"#).await;
    assert_eq!(
        (opened.at("/status"), opened.at("/reason_code"), opened.at("/amount").to_string()),
        ("open".into(), "COERCION".into(), "4.00".to_owned())
    );
    assert_eq!(balance(&bed).await, ["6.00", "4.00"]);
    assert_eq!(get(&bed, &at(&opened)).await.body, opened.body);
    let refund = post(&bed, &format!("/v1/charges/{charge}/refunds"), "refund-key", r#"{"amount":1}"#).await;
    assert_eq!(refund.error(), (422, "infraction_open".to_owned()));

    let path = format!("{}/defense", at(&opened));
    let defended = post(&bed, &path, "", DEFENSE).await;
    assert_eq!((defended.status, defended.at("/status")), (200, "under_review".into()), "{defended:?}");
    assert_eq!(defended.at("/defense_text"), "two\nlines");
    assert!(defended.at("/defense_submitted_at").is_string());
    assert_eq!(
        post(&bed, &path, "", DEFENSE).await.body,
        defended.body,
        "a repeat of the same defense is not a second one"
    );
    let other = post(&bed, &path, "", r#"{"defense_text":"other"}"#).await;
    assert_eq!(other.error(), (409, "invalid_state".to_owned()));

    let resolve = format!("/v1/sandbox/infractions/{}/resolve", opened.id());
    let won = post(&bed, &resolve, "", r#"{"outcome":"won"}"#).await;
    assert_eq!((won.status, won.at("/status")), (200, "won".into()), "{won:?}");
    assert!(won.at("/resolved_at").is_string());
    assert_eq!(balance(&bed).await, ["10.00", "0.00"]);
    assert_eq!(post(&bed, &resolve, "", r#"{"outcome":"lost"}"#).await.error(), (409, "invalid_state".to_owned()));
    let kinds = get(&bed, "/v1/events").await;
    let kinds: Vec<Value> = (0..3).map(|place| kinds.at(&format!("/data/{place}/type"))).collect();
    assert_eq!(kinds, ["infraction.won", "infraction.under_review", "infraction.opened"]);
    let event = get(&bed, "/v1/events?type=infraction.won").await;
    assert_eq!(event.at("/data/0/data"), won.json());
}

#[actix_web::test]
async fn infraction_list_has_contract_fields_and_filters() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "10").await;
    let (lost, open) = (dispute(&bed, &charge, "").await, dispute(&bed, &charge, "{}").await);
    let resolve = format!("/v1/sandbox/infractions/{}/resolve", lost.id());
    assert_eq!(post(&bed, &resolve, "", r#"{"outcome":"lost"}"#).await.at("/status"), "lost");
    let page = get(&bed, INFRACTIONS).await;
    assert_eq!((page.at("/data/0/id"), page.at("/data/1/id")), (open.at("/id"), lost.at("/id")));
    let row = page.at("/data/0");
    let mut without = open.json();
    let fields = without.as_object_mut().unwrap();
    fields.remove("defense_text").unwrap();
    fields.remove("defense_evidence_url").unwrap();
    assert_eq!(row, without);
    for (status, expected) in [("open", 1), ("lost", 1), ("won", 0)] {
        let seen = get(&bed, &format!("{INFRACTIONS}?status={status}")).await;
        assert_eq!(seen.at("/data").as_array().unwrap().len(), expected, "{status}");
    }
    assert_eq!(get(&bed, "/v1/infractions?status=closed&limit=0&x=1").await.paths(), ["x", "status", "limit"]);
    let unknown = get(&bed, &format!("{INFRACTIONS}?starting_after={UNKNOWN}")).await;
    assert_eq!((unknown.status, unknown.paths()), (400, vec!["starting_after".to_owned()]));
    let first = get(&bed, "/v1/infractions?limit=1").await;
    let next = format!("{INFRACTIONS}?starting_after={}", first.at("/next_starting_after").as_str().unwrap());
    assert_eq!(get(&bed, &next).await.at("/data/0/id"), lost.at("/id"));
}

#[actix_web::test]
async fn defense_errors_of_the_acquirer_are_reported() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "10").await;
    let opened = dispute(&bed, &charge, "").await;
    let path = format!("{}/defense", at(&opened));
    let reply = |sending| bed.bank.psp.set_for(OrderKind::Defense, sending);
    reply(OrderReply::Down);
    assert_eq!(post(&bed, &path, "", DEFENSE).await.error(), (502, "acquirer_unavailable".to_owned()));
    assert_eq!(get(&bed, &at(&opened)).await.body, opened.body, "no part of the defense is stored");
    reply(OrderReply::Refuses);
    let refused = post(&bed, &path, "", DEFENSE).await;
    assert_eq!(
        (refused.error(), refused.paths()),
        ((400, "VALIDATION_ERROR".to_owned()), vec!["defense_text".to_owned()])
    );
    assert_eq!(refused.at("/error/retryable"), false);
    assert!(
        refused.at("/error/issues/0/message").as_str().unwrap().ends_with(": the defense is incomplete"),
        "{refused:?}"
    );
    assert_eq!(get(&bed, &at(&opened)).await.body, opened.body, "the infraction is open and accepts another defense");
    reply(OrderReply::TooLate);
    assert_eq!(post(&bed, &path, "", DEFENSE).await.error(), (422, "deadline_passed".to_owned()));
    reply(OrderReply::Silent);
    let unknown = post(&bed, &path, "", DEFENSE).await;
    assert_eq!(unknown.error(), (503, "service_unavailable".to_owned()));
    assert_eq!(unknown.header("retry-after").unwrap(), unknown.at("/error/retry_after").to_string());
    let kept = get(&bed, &at(&opened)).await;
    assert_eq!((kept.at("/status"), kept.at("/defense_submitted_at")), ("open".into(), Value::Null));
    assert_eq!(kept.at("/defense_text"), "two\nlines");

    let late = dispute(&bed, &fund(&bed, "10").await, "").await;
    bed.clock.advance(std::time::Duration::from_hours(9 * 24));
    reply(OrderReply::Accepts);
    let late = post(&bed, &format!("{}/defense", at(&late)), "", DEFENSE).await;
    assert_eq!(late.error(), (422, "deadline_passed".to_owned()));
}

#[actix_web::test]
async fn invalid_infraction_requests_are_rejected() {
    let bed = TestBed::new().await;
    let path = format!("{INFRACTIONS}/{UNKNOWN}/defense");
    assert_eq!(post(&bed, &path, "", "{}").await.paths(), ["defense_text"]);
    assert_eq!(post(&bed, &path, "", DEFENSE).await.error(), (404, "not_found".to_owned()));
    assert_eq!(get(&bed, &format!("{INFRACTIONS}/{UNKNOWN}")).await.error(), (404, "not_found".to_owned()));
    assert_eq!(get(&bed, "/v1/infractions/ext:a").await.paths(), ["id"]);
    let reader = bed.key_with(Scopes::parse("infractions:read,charges:read").unwrap()).await;
    let request = TestRequest::post().uri(&path).insert_header(("x-api-key", reader));
    assert_eq!(send(&bed, request).await.error(), (403, "insufficient_scope".to_owned()));
    let suspended = TestBed::with(Account { status: AccountStatus::Suspended, ..an_account() }, true).await;
    assert_eq!(post(&suspended, &path, "", DEFENSE).await.error(), (403, "account_suspended".to_owned()));
}

#[actix_web::test]
async fn sandbox_dispute_of_unpaid_charge_is_rejected() {
    let bed = TestBed::new().await;
    let created = post(&bed, "/v1/charges", "pending-key", r#"{"amount":10,"external_id":"p"}"#).await;
    assert_eq!(created.status, 201);
    let path = "/v1/sandbox/charges/ext:p/infraction";
    assert_eq!(post(&bed, path, "", "").await.error(), (409, "invalid_state".to_owned()));
    assert_eq!(
        post(&bed, path, "", r#"{"amount":0,"reason_code":"x","deadline_s":0}"#).await.paths(),
        ["reason_code", "amount", "deadline_s"]
    );
    post(&bed, "/v1/sandbox/charges/ext:p/pay", "", "").await;
    let much = post(&bed, path, "", r#"{"amount":10.01}"#).await;
    assert_eq!((much.status, much.paths()), (400, vec!["amount".to_owned()]));
    let unknown = format!("/v1/sandbox/infractions/{UNKNOWN}/resolve");
    assert_eq!(post(&bed, &unknown, "", r#"{"outcome":"won"}"#).await.error(), (404, "not_found".to_owned()));
    assert_eq!(post(&bed, &unknown, "", r#"{"outcome":"reopened"}"#).await.paths(), ["outcome"]);
}
