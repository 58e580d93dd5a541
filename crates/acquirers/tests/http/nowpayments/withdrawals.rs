//! Tests withdrawals: the order on the wire, the login, one-time codes, and the forms of records.

use std::sync::atomic::{AtomicUsize, Ordering};

use cais_domain::crypto::{Address, CryptoAmount, Currency};
use cais_ports::{
    CodeOutcome, CryptoProcessor as _, CryptoWithdrawalOrder, ListRequest, UpstreamWithdrawal, UpstreamWithdrawalStatus,
};
use serde_json::{Value, json};

use super::answers::{
    BATCH, USDT, WITHDRAWAL, batch, btc, created_withdrawal, other_row, processor, refusal, withdrawal_id,
    withdrawal_order, withdrawal_row,
};
use crate::answers::{BUDGET, changed, html, http, json_reply, kind, reason};
use crate::server::{Act, Server};

fn ok() -> Act {
    Act::Reply(http(200, "text/plain", "OK"))
}

async fn get(answer: &Value) -> Result<UpstreamWithdrawal, cais_ports::AcquirerError> {
    let answer = answer.clone();
    let server = Server::start(move |_, _| json_reply(200, &answer)).await;
    processor(&server.url()).get_withdrawal(withdrawal_id(), &batch(), BUDGET).await
}

#[tokio::test]
async fn withdrawal_order_is_written_exactly() {
    let server = Server::start(|_, _| json_reply(200, &created_withdrawal())).await;
    let created = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await.unwrap();

    let seen = server.seen();
    let [login, post] = seen.as_slice() else { unreachable!("{seen:?}") };
    assert_eq!((login.path.as_str(), login.header("x-api-key")), ("/v1/auth", ""));
    assert_eq!(login.body, r#"{"email":"ana@shop.example","password":"pass"}"#);
    assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/v1/payout"));
    assert_eq!((post.header("x-api-key"), post.header("authorization")), ("K3Y", "Bearer good"));
    let wanted = format!(
        concat!(
            r#"{{"withdrawals":[{{"address":"{}","currency":"usdtbsc","amount":50.000001,"#,
            r#""unique_external_id":"{}"}}]}}"#
        ),
        USDT,
        withdrawal_id()
    );
    assert_eq!(post.body, wanted);
    assert_eq!((created.batch.as_str(), created.id.as_str()), (BATCH, WITHDRAWAL));
    assert_eq!((created.order, created.amount), (Some(withdrawal_id()), withdrawal_order().amount));
    assert_eq!((created.address, created.status), (withdrawal_order().address, UpstreamWithdrawalStatus::Unverified));
    assert_eq!((created.error, created.network_fee, created.tx_hash), (None, None, None));
}

#[tokio::test]
async fn inexpressible_withdrawal_is_never_sent() {
    let server = Server::start(|_, _| json_reply(200, &created_withdrawal())).await;
    let amount = |text| CryptoAmount::parse(Currency::UsdtBsc, text).unwrap();
    for (amount, address) in [
        (amount("50.0000001"), withdrawal_order().address),
        (amount("0"), withdrawal_order().address),
        (amount("50"), btc()),
    ] {
        let order = CryptoWithdrawalOrder { amount, address, ..withdrawal_order() };
        assert_eq!(kind(&processor(&server.url()).create_withdrawal(&order, BUDGET).await), "refused", "{amount}");
    }
    assert!(server.seen().is_empty());
}

/// The withdrawal may exist, so an answer that differs from the order is never a failure.
#[tokio::test]
async fn unexpected_creation_leaves_the_outcome_unknown() {
    for (field, value) in [
        ("amount", json!("50")),
        ("amount", json!("?")),
        ("address", json!("0xdAC17F958D2ee523a2206206994597C13D831ec7")),
        ("currency", json!("usdterc20")),
        ("currency", json!("usdttrc20")),
        ("unique_external_id", json!("cwd_01jd8x2m4pe9ktva0c6rzq5w3n")),
        ("id", Value::Null),
        ("status", Value::Null),
    ] {
        let answer = changed(created_withdrawal(), &format!("/withdrawals/0/{field}"), Some(value.clone()));
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let result = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{field} {value}: {}", reason(&result));
        assert_eq!(server.methods(), "POST");
    }
    for answer in [json!({"id": BATCH, "withdrawals": []}), json!([withdrawal_row(), withdrawal_row()]), json!({})] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let result = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{}", reason(&result));
    }
}

#[tokio::test]
async fn missing_echo_of_our_identifier_is_accepted() {
    let answer = changed(created_withdrawal(), "/withdrawals/0/unique_external_id", Some(Value::Null));
    let server = Server::start(move |_, _| json_reply(200, &answer)).await;
    let created = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await.unwrap();
    assert_eq!(created.order, Some(withdrawal_id()));
}

/// The first token expires in flight, and the same order is sent again. A 401 proves that the order was not executed.
#[tokio::test]
async fn expired_token_is_renewed_and_the_order_resent() {
    let issued = AtomicUsize::new(0);
    let server = Server::start_raw(None, move |seen, _| match (seen.path.as_str(), seen.header("authorization")) {
        ("/v1/auth", _) => json_reply(200, &json!({"token": format!("t{}", issued.fetch_add(1, Ordering::SeqCst))})),
        (_, "Bearer t1") => json_reply(200, &created_withdrawal()),
        _ => refusal(401, "AUTH_REQUIRED"),
    })
    .await;
    let result = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await;
    assert_eq!(kind(&result), "ok", "{}", reason(&result));
    assert_eq!((server.methods().as_str(), server.tokens()), ("POST POST", 2));
}

#[tokio::test]
async fn failed_login_sends_no_order() {
    for answer in [html(200), refusal(403, "INVALID_CREDENTIALS"), json_reply(200, &json!({"token": ""})), Act::Cut] {
        let server = Server::start_raw(None, move |_, _| answer.clone()).await;
        let result = processor(&server.url()).create_withdrawal(&withdrawal_order(), BUDGET).await;
        assert_eq!((kind(&result), server.methods().as_str()), ("unavailable", ""));
    }
}

#[tokio::test]
async fn withdrawal_is_verified_with_the_code_of_the_instant() {
    let server = Server::start(|_, _| ok()).await;
    let processor = processor(&server.url());
    let at = "2005-03-18T01:58:29Z".parse().unwrap();
    processor.verify_withdrawal(&batch(), at, BUDGET).await.unwrap();
    let last = server.seen().pop().unwrap();
    assert_eq!((last.method.as_str(), last.path.as_str()), ("POST", "/v1/payout/5000000713/verify"));
    assert_eq!(last.body, r#"{"verification_code":"081804"}"#);
    // The second withdrawal within 30 s has no unused code.
    assert_eq!(processor.verify_withdrawal(&batch(), at, BUDGET).await, Ok(CodeOutcome::UsedBefore));
    let later = "2005-03-18T01:58:31Z".parse().unwrap();
    assert_eq!(processor.verify_withdrawal(&batch(), later, BUDGET).await, Ok(CodeOutcome::Accepted));
    assert_eq!(server.methods(), "POST POST");
}

#[tokio::test]
async fn refused_code_may_be_followed_by_another() {
    for (answer, wanted) in [
        (refusal(400, "INVALID_REQUEST_PARAMS"), "unavailable"),
        (refusal(404, "NOT_FOUND"), "unavailable"),
        (html(400), "unknown"),
        (html(502), "unknown"),
        (Act::Cut, "unknown"),
        (json_reply(200, &json!({"status": false})), "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let at = "2026-11-20T15:00:00Z".parse().unwrap();
        let result = processor(&server.url()).verify_withdrawal(&batch(), at, BUDGET).await;
        assert_eq!((kind(&result), server.methods().as_str()), (wanted, "POST"), "{}", reason(&result));
    }
}

#[tokio::test]
async fn record_is_read_in_every_form() {
    let row = withdrawal_row();
    for answer in [
        json!([row]),
        json!({"id": BATCH, "createdAt": "2026-11-20T15:00:00Z", "withdrawals": [row]}),
        json!({"payouts": [row]}),
        json!({"payouts": [{"id": BATCH, "withdrawals": [row]}]}),
        row.clone(),
    ] {
        let found = get(&answer).await.unwrap();
        assert_eq!((found.batch, found.order), (batch(), Some(withdrawal_id())), "{answer}");
        assert_eq!(found.amount, withdrawal_order().amount);
    }
    let other = changed(row.clone(), "/unique_external_id", Some(json!("cwd_01jd8x2m4pe9ktva0c6rzq5w3n")));
    for answer in [other, json!([]), json!([[[[[[row]]]]]]), json!({"withdrawals": {}}), json!("OK")] {
        assert_eq!(kind(&get(&answer).await), "unknown", "{answer}");
    }
    let server = Server::start(|_, _| refusal(404, "NOT_FOUND")).await;
    assert_eq!(kind(&processor(&server.url()).get_withdrawal(withdrawal_id(), &batch(), BUDGET).await), "unknown");
}

#[tokio::test]
async fn every_status_of_a_withdrawal_is_read() {
    for (word, wanted) in [
        ("CREATING", UpstreamWithdrawalStatus::Unverified),
        ("WAITING", UpstreamWithdrawalStatus::Unverified),
        ("PROCESSING", UpstreamWithdrawalStatus::Processing),
        ("SENDING", UpstreamWithdrawalStatus::Processing),
        ("FINISHED", UpstreamWithdrawalStatus::Finished),
        ("FAILED", UpstreamWithdrawalStatus::Failed),
        ("REJECTED", UpstreamWithdrawalStatus::Rejected),
        ("CANCELLED", UpstreamWithdrawalStatus::Rejected),
        ("finished", UpstreamWithdrawalStatus::Finished),
        ("ON_HOLD", UpstreamWithdrawalStatus::Processing),
    ] {
        let answer = changed(withdrawal_row(), "/status", Some(json!(word)));
        assert_eq!(get(&answer).await.unwrap().status, wanted, "{word}");
    }
}

#[tokio::test]
async fn facts_of_a_sent_withdrawal_are_read() {
    let mut answer = withdrawal_row();
    let fields = answer.as_object_mut().unwrap();
    fields.insert("hash".to_owned(), json!("0xabc123"));
    fields.insert("fee".to_owned(), json!("0.41491074"));
    fields.insert("error".to_owned(), json!("network\nbusy"));
    fields.insert("amount".to_owned(), json!(50.000_001));
    let found = get(&answer).await.unwrap();
    assert_eq!((found.tx_hash.as_deref(), found.error.as_deref()), (Some("0xabc123"), Some("network busy")));
    assert_eq!(found.network_fee, CryptoAmount::parse(Currency::UsdtBsc, "0.41491074").ok());
    assert_eq!(found.address, Address::parse(Currency::UsdtBsc, USDT).unwrap());
    let answer = changed(answer, "/fee", Some(json!("some")));
    assert_eq!(get(&answer).await.unwrap().network_fee, None);
}

/// The list has no number of pages, its days have an unknown time zone, and rows of other systems may be unreadable.
#[tokio::test]
async fn list_is_read_to_its_first_empty_page() {
    let garbled = changed(withdrawal_row(), "/amount", Some(json!("?")));
    let server = Server::start(move |seen, _| {
        let is_first = seen.path.contains("page=0&");
        let rows = if is_first { json!([withdrawal_row(), other_row(), garbled]) } else { json!([]) };
        json_reply(200, &json!({ "payouts": rows }))
    })
    .await;
    let request = |page| ListRequest {
        from: "2026-11-20T00:00:00Z".parse().unwrap(),
        to: "2026-11-21T00:00:00Z".parse().unwrap(),
        page,
    };
    let listed = processor(&server.url()).list_withdrawals(request(0), BUDGET).await.unwrap();
    let [row] = listed.rows.as_slice() else { unreachable!("{listed:?}") };
    assert_eq!(
        (row.order, &row.batch, row.created_at),
        (Some(withdrawal_id()), &batch(), "2026-11-20T15:00:00Z".parse().ok())
    );
    let named: Vec<String> = listed.unreadable.iter().map(|row| row.name.clone()).collect();
    assert_eq!((named, listed.next), (vec!["77".to_owned(), withdrawal_id().to_string()], Some(1)));
    let last = processor(&server.url()).list_withdrawals(request(1), BUDGET).await.unwrap();
    assert_eq!((last.rows.len(), last.unreadable.len(), last.next), (0, 0, None));
    let path = "/v1/payout?limit=100&page=1&order_by=dateCreated&order=desc&date_from=2026-11-19&date_to=2026-11-22";
    assert_eq!(server.seen().pop().unwrap().path, path);
}

#[tokio::test]
async fn list_ends_at_withdrawals_before_the_period() {
    let server = Server::start(|_, _| json_reply(200, &json!({ "payouts": [withdrawal_row()] }))).await;
    for (from, wanted) in [("2026-11-22T14:00:00Z", Some(1)), ("2026-11-22T16:00:00Z", None)] {
        let from = from.parse().unwrap();
        let listed = processor(&server.url()).list_withdrawals(ListRequest { from, to: from, page: 0 }, BUDGET).await;
        let listed = listed.unwrap();
        assert_eq!((listed.rows.len(), listed.next), (1, wanted), "{from}");
    }
}

/// A refusal with status 200 is no empty page.
#[tokio::test]
async fn list_without_identifiers_is_unreadable() {
    for answer in [json!({"status": false, "message": "later"}), json!({"payouts": [{"status": "FINISHED"}]})] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let request = ListRequest { from: jiff::Timestamp::UNIX_EPOCH, to: jiff::Timestamp::UNIX_EPOCH, page: 0 };
        let result = processor(&server.url()).list_withdrawals(request, BUDGET).await;
        assert_eq!(kind(&result), "unknown", "{}", reason(&result));
    }
}
