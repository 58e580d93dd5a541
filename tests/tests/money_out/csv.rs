//! Statement and timeline as CSV (RFC 4180), with all rows of the filter.

use reqwest::Method;
use serde_json::Value;

use crate::support::{Engine, Reply, Shop, id, on_both, shared};

on_both! { excel_br_file_is_for_people csv_has_the_rows_of_json quoting invalid_csv_requests_are_refused }

async fn csv(shop: &Shop, path: &str) -> (Reply, Vec<Vec<String>>) {
    let reply = Reply::of(shop.request(Method::GET, path).header("accept", "text/csv")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let kind = reply.header("content-type").unwrap();
    assert!(kind.starts_with("text/csv") && kind.contains("utf-8"), "{kind}");
    let rows = records(reply.text());
    (reply, rows)
}

/// Parses RFC 4180 strictly: CRLF after each record, quotes doubled.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => field.extend(characters.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\r', false) => {
                assert_eq!(characters.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut record));
            }
            (character, _) => field.push(character),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the text ends with a record");
    all
}

/// Formats a JSON value as a cell.
fn cell(value: &Value) -> String {
    value.as_str().map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned)
}

async fn csv_has_the_rows_of_json(engine: Engine) {
    let shop = shared(engine).await.shop();
    for _ in 0..3 {
        shop.earn("10").await;
        shop.pay_out("1", "ana@example.com").await.expect(201);
    }
    for (list, filter) in [
        ("/balance/entries", "kind=payout"),
        ("/transactions", "type=cash_in"),
        ("/transactions", "limit=200"),
        ("/balance/entries", "limit=200"),
    ] {
        let query = if filter.starts_with("limit") { String::new() } else { format!("?{filter}") };
        let (_, rows) = csv(&shop, &format!("{list}{query}")).await;
        // Statuses may change between both reads; identifiers, amounts and order do not.
        let json =
            shop.all(&format!("{list}?limit=200&{}", filter.replace("limit=200", "created_from=2001-01-01"))).await;
        assert_eq!(rows.len(), json.len() + 1, "{list}?{filter}");
        for (row, object) in rows[1..].iter().zip(&json) {
            for (name, value) in rows[0].iter().zip(row) {
                assert!(
                    name == "status" || name == "end_to_end_id" || *value == cell(&object[name]),
                    "{name}: {row:?} {object}"
                );
            }
        }
        let mut header: Vec<&str> = rows[0].iter().map(String::as_str).collect();
        header.sort_unstable();
        assert_eq!(header, crate::support::names(&json[0]));
    }
}

async fn quoting(engine: Engine) {
    let shop = shared(engine).await.shop();
    let description = "diz \"oi\", e\r\nquebra; =1+1 çã";
    let body = serde_json::json!({"amount": 10, "description": description}).to_string();
    let charge = id(&shop.create(body).await.expect(201));
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    let (_, rows) = csv(&shop, "/balance/entries").await;
    let column = rows[0].iter().position(|name| name == "description").unwrap();
    assert_eq!(rows[1][column], description);
    let (reply, rows) = csv(&shop, "/balance/entries?kind=refund").await;
    assert_eq!((rows.len(), reply.text().ends_with("\r\n")), (1, true), "the header alone");
    for name in ["x-request-id", "x-ratelimit-limit"] {
        assert!(reply.header(name).is_some(), "{name}");
    }
}

async fn excel_br_file_is_for_people(engine: Engine) {
    let shop = shared(engine).await.shop();
    let charge = id(&shop.create(r#"{"amount":1234.5,"description":"=1+1; dois"}"#).await.expect(201));
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    for (path, name) in [("/transactions", "transactions.csv"), ("/balance/entries", "statement.csv")] {
        let reply = shop.get(&format!("{path}?csv=excel-br")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let disposition = reply.header("content-disposition").unwrap();
        assert_eq!(disposition, format!("attachment; filename=\"{name}\""));
        let text = reply.text().strip_prefix('\u{feff}').unwrap();
        let (header, row) = text.split_once("\r\n").unwrap();
        assert!(header.starts_with("id;") && row.contains(";1234,50;"), "{text}");
        shop.get(&format!("{path}?csv=excel-br&limit=1")).await.refused(400, "VALIDATION_ERROR");
        let unknown = shop.get(&format!("{path}?csv=excel")).await;
        unknown.refused(400, "VALIDATION_ERROR");
        assert_eq!(unknown.issues(), ["csv"]);
    }
    let statement = shop.get("/balance/entries?csv=excel-br").await;
    assert!(statement.text().contains("\"'=1+1; dois\""), "{}", statement.text());
    let standard = Reply::of(shop.request(Method::GET, "/balance/entries").header("accept", "text/csv")).await;
    assert!(standard.header("content-disposition").is_none() && standard.text().contains(",'=1+1; dois,"));
}

async fn invalid_csv_requests_are_refused(engine: Engine) {
    let shop = shared(engine).await.shop();
    let ask =
        async |path: &str, accept: &str| Reply::of(shop.request(Method::GET, path).header("accept", accept)).await;
    ask("/transactions?limit=10", "text/csv").await.refused(400, "VALIDATION_ERROR");
    ask("/transactions?status=nope", "text/csv").await.refused(400, "VALIDATION_ERROR");
    for accept in ["*/*", "application/json", "application/json, text/csv;q=0.5", "text/csv;q=0, application/json"] {
        assert_eq!(ask("/transactions", accept).await.expect(200)["has_more"], false, "{accept}");
    }
    // A list without a CSV form is JSON.
    assert_eq!(ask("/payouts", "text/csv").await.expect(200)["has_more"], false);
}
