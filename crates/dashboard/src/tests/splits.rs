//! The splits of a charge: on its page, and on the operator's pages of both accounts.

use cais_domain::charge::{Charge, ChargeTerms};
use cais_domain::money::Money;
use cais_testkit::builders::{a_split, terms};

use super::browser::TestBed;
use super::shop::{Shop, an_operator_browser};

/// Creates a charge of R$ 100.00 with a fee of R$ 1.49. The recipient has 30 % of the net amount: R$ 29.55.
async fn shared(giver: &Shop<'_>, recipient: &Shop<'_>) -> Charge {
    let money = Money::from_centavos;
    let split = a_split(&[(recipient.base.account.id, "30")]);
    giver.base.pending_with(ChargeTerms { amount: money(10_000), fee: money(149), split, ..terms() }).await
}

#[actix_web::test]
async fn charge_page_shows_each_split_with_its_amount() {
    let bed = TestBed::new(None);
    let recipient = Shop::open(&bed, "bia@shop.example").await;
    let mut giver = Shop::open(&bed, "ana@shop.example").await;
    let charge = shared(&giver, &recipient).await;
    let path = format!("/charges/{}", charge.id);
    let row = |body: &str| body.split_once("bia@shop.example").unwrap().1.split_once("</tr>").unwrap().0.to_owned();
    let shown = row(&giver.browser.get(&path).await.body);
    assert!(shown.contains("30 %") && shown.contains("definido pelo pagamento"), "{shown}");
    bed.psp.pay(&charge.txid, 10_000);
    giver.base.read(&charge).await;
    let page = giver.browser.get(&path).await;
    let shown = row(&page.body);
    assert!(page.body.contains("<h2>Repasses</h2>") && shown.contains("R$ 29,55"), "{}", page.body);
    assert!(page.body.contains("R$ 68,96"), "the giver's part of the net amount: {}", page.body);
    giver.browser.post("/language", &[("language", "en")]).await;
    assert!(giver.browser.get(&path).await.body.contains("<h2>Splits</h2>"));
    let free = giver.base.pending(1_000).await;
    assert!(!giver.browser.get(&format!("/charges/{}", free.id)).await.body.contains("<h2>Splits</h2>"));
}

#[actix_web::test]
async fn operator_sees_given_and_received_splits() {
    let bed = TestBed::new(None);
    let recipient = Shop::open(&bed, "bia@shop.example").await;
    let giver = Shop::open(&bed, "ana@shop.example").await;
    let charge = shared(&giver, &recipient).await;
    bed.psp.pay(&charge.txid, 10_000);
    giver.base.read(&charge).await;
    let mut operator = an_operator_browser(&bed).await;
    for (shop, other, direction) in
        [(&giver, "bia@shop.example", "enviado"), (&recipient, "ana@shop.example", "recebido")]
    {
        let seen = operator.get(&format!("/operator/accounts/{}", shop.base.account.id)).await;
        let table = seen.body.split_once("id=\"splits\"").unwrap().1;
        for text in [other, direction, "30 %", "R$ 29,55", &charge.id.to_string()] {
            assert!(table.contains(text), "{text}: {table}");
        }
    }
    let free = Shop::open(&bed, "eva@shop.example").await;
    let seen = operator.get(&format!("/operator/accounts/{}", free.base.account.id)).await;
    assert!(seen.body.contains("Nenhum repasse."), "{}", seen.body);
}
