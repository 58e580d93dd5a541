//! The list of transactions: filters, search, pages and files.

use cais_domain::ids::ChargeId;

use super::browser::TestBed;
use super::charges::{EMAIL, created, merchant, stored};

#[actix_web::test]
async fn transactions_are_filtered_by_the_query() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    assert!(browser.get("/transactions").await.body.contains("Nenhuma transação"));
    let paid = created(&mut browser, &[("amount", "10,00"), ("external_id", "<b>paid</b>")]).await;
    browser.get(&paid).await;
    browser.post(&format!("{paid}/pay"), &[]).await;
    let open = created(&mut browser, &[("amount", "20,00")]).await;
    for (query, expected) in [
        ("", vec![&open, &paid]),
        ("?type=cash_in&status=&created_from=&created_to=", vec![&open, &paid]),
        ("?type=cash_out", vec![]),
        ("?status=completed", vec![&paid]),
        ("?status=pending&created_from=2020-01-01", vec![&open]),
        ("?created_to=2020-01-01", vec![]),
    ] {
        let seen = browser.get(&format!("/transactions{query}")).await;
        assert_eq!(seen.status, 200, "{query}");
        let links: Vec<&str> = seen
            .body
            .split("<a href=\"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(link, _)| link)
            .collect();
        let links: Vec<&&str> = links.iter().filter(|link| link.starts_with("/charges/chg_")).collect();
        assert_eq!(links, expected, "{query}");
    }
    let shown = browser.get("/transactions?status=completed").await.body;
    assert!(shown.contains("&#60;b&#62;paid") && shown.contains("/transactions.csv?status=completed"), "{shown}");
    assert!(shown.contains("<option value=\"completed\" selected>"), "{shown}");
    for query in
        ["?type=gold", "?status=x", "?created_from=31/01/2026", "?created_from=2026-02-01&created_to=2026-01-01"]
    {
        let seen = browser.get(&format!("/transactions{query}")).await;
        assert!(seen.status == 422 && seen.body.contains("Filtro inválido"), "{query}");
    }
    assert_eq!(browser.get("/transactions?starting_after=x").await.status, 404);
    assert_eq!(browser.get("/transactions?starting_after=txn_in_01h455vb4pex5vsknk084sn02q").await.status, 404);
}

#[actix_web::test]
async fn pages_follow_each_other_and_the_file_has_all_rows() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    for _ in 0..51 {
        created(&mut browser, &[("amount", "10,00")]).await;
    }
    let first = browser.get("/transactions").await;
    assert_eq!(first.body.matches("/charges/chg_").count(), 50);
    let next = first.between("<a href=\"/transactions?starting_after=", "\"");
    let second = browser.get(&format!("/transactions?starting_after={next}")).await;
    assert_eq!(second.body.matches("/charges/chg_").count(), 1);
    let file = browser.get("/transactions.csv").await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"transactions.csv\""));
    assert!(file.body.starts_with("Standard\r\n"), "{}", file.body);
    assert_eq!(file.body.lines().count(), 52);
    assert!(browser.get("/transactions.csv?csv=excel-br").await.body.starts_with("ExcelBr\r\n"));
    assert_eq!(browser.get("/transactions.csv?status=completed").await.body.lines().count(), 1);
    assert_eq!(browser.get("/transactions.csv?status=x").await.status, 404);
}

#[actix_web::test]
async fn second_file_of_an_account_is_refused_while_the_first_runs() {
    let bed = TestBed::new(None);
    let (mut ana, mut bia) = (merchant(&bed, EMAIL).await, merchant(&bed, "bia@shop.example").await);
    let account = bed.user(EMAIL).await.role.account().unwrap();
    let unfinished = bed.exports.enter(account).unwrap();
    for path in ["/transactions.csv", "/statement.csv"] {
        let refused = ana.get(path).await;
        assert!(refused.status == 429 && refused.body.contains("ainda está sendo baixado"), "{}", refused.body);
        assert_eq!(bia.get(path).await.status, 200, "another account");
    }
    drop(unfinished);
    for path in ["/transactions.csv", "/statement.csv", "/transactions.csv"] {
        assert_eq!(ana.get(path).await.status, 200, "a file that was read to its end leaves its place");
    }
}

#[actix_web::test]
async fn search_finds_by_every_identifier_of_the_own_account() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let fields = [("amount", "10,00"), ("external_id", "order 1"), ("payer_document", "123.456.789-09")];
    let path = created(&mut browser, &fields).await;
    created(&mut browser, &[("amount", "20,00")]).await;
    browser.get(&path).await;
    browser.post(&format!("{path}/pay"), &[]).await;
    let charge = stored(&bed, &path);
    let pix = charge.state.settlement().unwrap().end_to_end_id.to_string();
    let mut other = merchant(&bed, "bia@shop.example").await;
    let (id, suffix) = (charge.id.to_string(), ChargeId::suffix(charge.id));
    for text in [
        id.clone(),
        format!("txn_in_{suffix}"),
        charge.txid.to_string(),
        pix,
        "order+1".to_owned(),
        "12345678909".to_owned(),
        "+123.456.789-09+".to_owned(),
    ] {
        let seen = browser.get(&format!("/transactions?q={text}")).await;
        assert_eq!(seen.status, 200);
        assert_eq!(seen.body.matches("/charges/chg_").count(), 1, "{text}: {}", seen.body);
        assert!(seen.body.contains(&path), "{text}");
        let foreign = other.get(&format!("/transactions?q={text}")).await;
        assert!(foreign.body.contains("Nenhuma transação"), "{text}");
    }
    for text in ["nothing", "12345678900", "E99999999202601011200aaaaaaaaaaa", "%3Cscript%3E"] {
        let seen = browser.get(&format!("/transactions?q={text}")).await;
        assert!(seen.body.contains("Nenhuma transação") && !seen.body.contains("<script>"), "{text}");
    }
    assert_eq!(browser.get(&format!("/transactions?q={}", "a".repeat(500))).await.status, 200);
}

#[actix_web::test]
async fn pages_are_shown_in_both_languages() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let path = created(&mut browser, &[("amount", "10,00")]).await;
    browser.get("/transactions").await;
    browser.post("/language", &[("language", "en")]).await;
    for (page, text) in
        [("/transactions", "Charge"), ("/charges/new", "New charge"), (path.as_str(), "waiting for payment")]
    {
        let seen = browser.get(page).await;
        assert_eq!(seen.status, 200, "{page}");
        assert!(seen.body.contains(text) && seen.body.contains("<html lang=\"en\">"), "{page}: {}", seen.body);
    }
}
