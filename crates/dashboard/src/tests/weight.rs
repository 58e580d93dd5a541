//! The size of a first load: a page with its style sheet, scripts and icon.

use super::browser::TestBed;
use super::charges::{EMAIL, created, merchant};

/// The largest permitted size of a first load, without compression.
const MAX_BYTES: usize = 100 * 1024;
/// The rows of a full page of transactions.
const ROWS: usize = 50;
/// The files of each page.
const FILES: usize = 4;

#[actix_web::test]
async fn first_load_has_at_most_100_kilobytes() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    for _ in 0..ROWS {
        created(&mut browser, &[("amount", "10,00"), ("payer_document", "123.456.789-09")]).await;
    }
    for path in ["/", "/transactions"] {
        let page = browser.get(path).await.body;
        let files: Vec<&str> = page.split("=\"/assets/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(files.len(), FILES, "{path}");
        // The browser draws the page only after its end has arrived, so no part moves while the page loads.
        assert!(page.contains("<link rel=\"expect\" href=\"#end\" blocking=\"render\">"), "{path}");
        assert!(page.contains("<footer id=\"end\">"), "{path}");
        let mut bytes = page.len();
        for file in files {
            let seen = browser.get(&format!("/assets/{file}")).await;
            assert_eq!(seen.status, 200, "{file}");
            bytes += seen.body.len();
        }
        assert!(bytes <= MAX_BYTES, "{path} has {bytes} bytes");
    }
}
