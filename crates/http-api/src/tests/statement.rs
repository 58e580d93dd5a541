//! Tests the statement over HTTP, as pages and as a file.

use std::fmt::Write as _;

use actix_web::body::MessageBody as _;
use actix_web::http::Method;
use cais_domain::merchant::api_key::Scopes;

use super::*;

const ENTRIES: &str = "/v1/balance/entries";
const HEADER: &str = "id,kind,bucket,amount,balance_after,resource_id,end_to_end_id,description,created_at";

fn wanting(bed: &TestBed, path: &str, accept: &str) -> TestRequest {
    let request = TestRequest::get().uri(path).insert_header(("x-api-key", bed.key.as_str()));
    request.insert_header(("accept", accept))
}

/// Returns a row as a CSV line. The texts of the row need no quotes.
fn line(row: &Value) -> String {
    let cells = HEADER.split(',').map(|name| match row.get(name).unwrap() {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => other.to_string(),
    });
    cells.collect::<Vec<_>>().join(",")
}

#[actix_web::test]
async fn statement_explains_every_centavo() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "25").await;
    let out =
        post(&bed, "/v1/payouts", "payout-key", r#"{"amount":20,"pix_key":"ana@example.com","description":"rent"}"#)
            .await;
    assert_eq!(out.status, 201);
    let page = get(&bed, ENTRIES).await;
    assert_eq!((page.status, page.at("/has_more")), (200, false.into()), "{page:?}");
    let rows = page.at("/data").as_array().unwrap().clone();
    let shown = |row: &Value| {
        ["kind", "bucket", "amount", "balance_after"].map(|name| row.get(name).unwrap().to_string()).join(" ")
    };
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [r#""payout" "available" -20.00 5.00"#, r#""charge" "available" 25.00 25.00"#]
    );
    assert_eq!(page.at("/data/0/description"), "rent");
    assert_eq!(page.at("/data/0/resource_id"), out.at("/id"));
    assert_eq!(page.at("/data/1/resource_id"), charge.as_str());
    assert!(page.at("/data/1/end_to_end_id").is_string());

    let first = get(&bed, &format!("{ENTRIES}?limit=1")).await;
    let next = first.at("/next_starting_after").as_str().unwrap().to_owned();
    let second = get(&bed, &format!("{ENTRIES}?limit=1&starting_after={next}")).await;
    assert_eq!(second.at("/data/0"), page.at("/data/1"));
    for (query, count) in [
        ("kind=payout", 1),
        ("kind=charge&bucket=available", 1),
        ("bucket=blocked", 0),
        ("created_from=2000-01-01&created_to=2001-01-01", 0),
        ("created_from=2001-01-01", 2),
    ] {
        let found = get(&bed, &format!("{ENTRIES}?{query}")).await;
        assert_eq!(found.at("/data").as_array().map(Vec::len), Some(count), "{query}");
    }
}

#[actix_web::test]
async fn invalid_statement_filters_are_rejected() {
    let bed = TestBed::new().await;
    let all = "bucket=in_transit&kind=gold&created_from=x&created_to=y&limit=0&starting_after=chg_1&x=1";
    let seen = get(&bed, &format!("{ENTRIES}?{all}")).await;
    let mut paths = seen.paths();
    paths.sort();
    assert_eq!(paths, ["bucket", "created_from", "created_to", "kind", "limit", "starting_after", "x"]);
    let seen = get(&bed, &format!("{ENTRIES}?starting_after=ent_01h455vb4pex5vsknk084sn02q")).await;
    assert_eq!((seen.error(), seen.paths()), ((400, "VALIDATION_ERROR".to_owned()), vec!["starting_after".to_owned()]));
    let reader = bed.key_with(Scopes::parse("charges:read,transactions:read").unwrap()).await;
    let seen = send(&bed, TestRequest::get().uri(ENTRIES).insert_header(("x-api-key", reader))).await;
    assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()));
}

#[actix_web::test]
async fn file_has_all_rows_in_the_order_of_the_pages() {
    let bed = TestBed::new().await;
    for _ in 0..6 {
        fund(&bed, "100").await;
    }
    let mut csv = format!("{HEADER}\r\n");
    // With 510 payouts, the file has more rows than one read returns.
    for number in 0..510 {
        let body = r#"{"amount":0.01,"pix_key":"ana@example.com"}"#;
        assert_eq!(post(&bed, "/v1/payouts", &format!("payout-key-{number}"), body).await.status, 201);
        bed.rates.leave(super::bed::LIMIT);
    }
    let mut after = String::new();
    loop {
        let page = get(&bed, &format!("{ENTRIES}?limit=200{after}")).await;
        for row in page.at("/data").as_array().unwrap() {
            write!(csv, "{}\r\n", line(row)).unwrap();
        }
        let Some(next) = page.at("/next_starting_after").as_str().map(str::to_owned) else { break };
        after = format!("&starting_after={next}");
    }
    let file = send(&bed, wanting(&bed, ENTRIES, "text/csv")).await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/csv; charset=utf-8; header=present")));
    assert!(file.header("x-request-id").is_some() && file.header("x-ratelimit-limit").is_some());
    let text = String::from_utf8(file.body).unwrap();
    assert!(text == csv, "{} lines, not {}", text.lines().count(), csv.lines().count());
    assert_eq!(text.lines().count(), 517);
    let some = send(&bed, wanting(&bed, &format!("{ENTRIES}?kind=charge"), "text/csv, */*;q=0.5")).await;
    assert_eq!(String::from_utf8(some.body).unwrap().lines().count(), 7);
}

#[actix_web::test]
async fn file_with_page_parameters_is_rejected() {
    let bed = TestBed::new().await;
    let seen = send(&bed, wanting(&bed, &format!("{ENTRIES}?limit=5&starting_after=x&kind=gold"), "text/csv")).await;
    assert_eq!(
        (seen.status, seen.paths()),
        (400, vec!["kind".to_owned(), "limit".to_owned(), "starting_after".to_owned()])
    );
    let empty = send(&bed, wanting(&bed, ENTRIES, "text/csv")).await;
    assert_eq!(String::from_utf8(empty.body).unwrap(), format!("{HEADER}\r\n"));
    for accept in ["application/json", "*/*", "text/csv;q=0.1, application/json", "text/html"] {
        let page = send(&bed, wanting(&bed, ENTRIES, accept)).await;
        assert_eq!(page.header("content-type"), Some("application/json"), "{accept}");
    }
    let head = send(&bed, wanting(&bed, ENTRIES, "text/csv").method(Method::HEAD)).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(head.header("content-type").unwrap().starts_with("text/csv"));
}

#[actix_web::test]
async fn file_with_failed_read_is_cut_off() {
    let bed = TestBed::new().await;
    for _ in 0..510 {
        fund(&bed, "2").await;
        bed.rates.leave(super::bed::LIMIT);
    }
    let app = bed.app.clone();
    let response = call_service(&app, wanting(&bed, ENTRIES, "text/csv").to_request()).await;
    assert_eq!(response.status(), 200);
    bed.store.set_unreachable(true);
    let body = response.into_body();
    assert_eq!(body.size(), actix_web::body::BodySize::Stream);
    assert!(actix_web::body::to_bytes(body).await.is_err(), "a cut-off file must not look complete");
    let refused = call_service(&app, wanting(&bed, ENTRIES, "text/csv").to_request()).await;
    assert_eq!(refused.status(), 503, "a failure before the first row is a normal error response");
}

#[actix_web::test]
async fn second_file_is_rejected_until_the_first_one_ends() {
    let bed = TestBed::new().await;
    fund(&bed, "25").await;
    let app = bed.app.clone();
    let request_file = || call_service(&app, wanting(&bed, ENTRIES, "text/csv").to_request());
    let open = request_file().await;
    assert_eq!(open.status(), 200);
    let refused = send(&bed, wanting(&bed, ENTRIES, "text/csv")).await;
    assert_eq!(refused.error(), (429, "rate_limit_exceeded".to_owned()));
    assert!(refused.at("/error/retry_after").is_number(), "{refused:?}");
    assert_eq!(get(&bed, ENTRIES).await.status, 200, "pages are not limited");

    // Each account has its own limit, however many files of other accounts are open.
    let mut others = Vec::new();
    for number in 0..8 {
        let key = bed.beneficiary(&format!("shop-{number}@example.com")).await;
        let request = TestRequest::get().uri(ENTRIES).insert_header(("x-api-key", key));
        others.push(call_service(&app, request.insert_header(("accept", "text/csv")).to_request()).await);
    }
    assert!(others.iter().all(|other| other.status() == 200));

    // The caller disconnects.
    drop(open);
    let next = request_file().await;
    assert_eq!((next.status().as_u16(), request_file().await.status().as_u16()), (200, 429));
    // The file is read to its end.
    read_body(next).await;
    assert_eq!(request_file().await.status(), 200);
}
