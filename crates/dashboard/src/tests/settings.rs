//! The settings page shows the account.

use super::browser::TestBed;
use super::shop::{Shop, check_pages};

#[actix_web::test]
async fn settings_show_the_account_with_a_masked_document() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, "ana@shop.example").await;
    let page = shop.browser.get("/settings").await;
    for text in ["ana@shop.example", "aprovado", "R$ 50.000,00", "sem tarifa", "na hora", "/password", "/sessions"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert!(!page.body.contains(shop.base.account.document.as_str()), "{}", page.body);
    assert!(!page.body.contains(&shop.base.account.document.formatted()), "{}", page.body);
    check_pages(&mut shop, &["/settings"]).await;
}
