//! The statement: filter, links, pages, and the same rows as CSV.

use super::browser::TestBed;
use super::shop::{Shop, check_pages};

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";

#[actix_web::test]
async fn statement_shows_entries_with_links_and_balances() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (charge, _) = shop.base.paid(1_500).await;
    let page = shop.browser.get("/statement").await;
    for text in [format!("/charges/{}", charge.id), "R$ 15,00".to_owned(), "R$ 10.015,00".to_owned()] {
        assert!(page.body.contains(&text), "{text}: {}", page.body);
    }
    assert_eq!(page.body.matches("<tr>").count(), 3, "a header and two entries");
}

#[actix_web::test]
async fn statement_is_filtered_by_the_query() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    shop.base.paid(1_500).await;
    for (filter, rows) in [
        ("kind=charge", 2),
        ("kind=fee", 2),
        ("kind=refund", 0),
        ("bucket=blocked", 0),
        ("created_from=2000-01-01&created_to=2000-01-31", 0),
        ("created_from=2000-01-01&kind=&bucket=", 3),
    ] {
        let page = shop.browser.get(&format!("/statement?{filter}")).await;
        assert_eq!(page.status, 200, "{filter}");
        assert_eq!(page.body.matches("<tr>").count(), rows, "{filter}: {}", page.body);
    }
    let page = shop.browser.get("/statement?kind=charge&created_from=2000-01-01").await;
    assert!(page.body.contains("href=\"/statement.csv?kind=charge&#38;created_from=2000-01-01\""), "{}", page.body);
    for wrong in ["kind=gold", "bucket=in_transit", "created_from=x", "created_from=2026-02-02&created_to=2026-02-01"] {
        let page = shop.browser.get(&format!("/statement?{wrong}")).await;
        assert_eq!(page.status, 422, "{wrong}");
        assert!(page.body.contains("Filtro inválido"), "{wrong}");
    }
}

#[actix_web::test]
async fn statement_is_downloaded_by_the_same_filter() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    shop.base.paid(1_500).await;
    let file = shop.browser.get("/statement.csv").await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/csv; charset=utf-8; header=present")));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"statement.csv\""));
    assert_eq!(file.body.lines().count(), 3, "names and two entries: {}", file.body);
    assert_eq!(shop.browser.get("/statement.csv?kind=charge").await.body.lines().count(), 2);
    assert_ne!(shop.browser.get("/statement.csv?csv=excel-br").await.body, file.body);
    assert_eq!(shop.browser.get("/statement.csv?kind=gold").await.status, 404);
    for _ in 0..200 {
        shop.base.adjust_available(100).await;
    }
    assert_eq!(shop.browser.get("/statement.csv").await.body.lines().count(), 203, "rows of two reads");
}

#[actix_web::test]
async fn statement_continues_on_the_next_page() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    for _ in 0..50 {
        shop.base.adjust_available(100).await;
    }
    let first = shop.browser.get("/statement?kind=fee").await;
    assert_eq!(first.body.matches("<tr>").count(), 51, "a header and fifty entries");
    let next = first.between("rel=\"next\" href=\"", "\"").replace("&#38;", "&");
    let second = shop.browser.get(&next).await;
    assert_eq!(second.body.matches("<tr>").count(), 2, "{}", second.body);
    let mut bia = Shop::open(&bed, OTHER).await;
    assert_eq!(bia.browser.get(&next).await.status, 404);
}

#[actix_web::test]
async fn statement_is_for_merchants_in_both_languages() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    check_pages(&mut shop, &["/statement"]).await;
    let mut stranger = bed.browser();
    assert_eq!(stranger.get("/statement.csv").await.location(), "/login");
}
