//! The public payment page. The page needs no session, only the token in its URL.

use actix_web::test::TestRequest;
use cais_domain::charge::ChargeStatus;

use super::browser::{ORIGIN, TestBed};
use super::charges::{EMAIL, created, merchant, stored};

async fn page_of(bed: &TestBed, fields: &[(&str, &str)]) -> (String, String) {
    let mut browser = merchant(bed, EMAIL).await;
    let path = created(&mut browser, fields).await;
    let page = browser.get(&path).await.between("<a href=\"/pay/", "\"");
    (path, format!("/pay/{page}"))
}

#[actix_web::test]
async fn payer_sees_the_charge_and_nothing_else() {
    let bed = TestBed::new(None);
    let fields = [
        ("amount", "10,50"),
        ("description", "Pedido <1>"),
        ("payer_name", "Maria Souza"),
        ("payer_document", "123.456.789-09"),
        ("external_id", "order-77"),
    ];
    let (path, page) = page_of(&bed, &fields).await;
    let charge = stored(&bed, &path);
    let mut payer = bed.browser();
    for (query, text) in [("", "Pague com Pix para"), ("?lang=en", "Pay with Pix to"), ("?lang=xx", "Pague com Pix")] {
        let seen = payer.get(&format!("{page}{query}")).await;
        assert_eq!(seen.status, 200);
        for part in [text, "Shop", "10", "Pedido &#60;1&#62;", "data:image/png", "data-until=", "noindex"] {
            assert!(seen.body.contains(part), "{part}: {}", seen.body);
        }
        for part in ["Maria", "12345678909", "order-77", "chg_", charge.account.to_string().as_str(), "<script>", EMAIL]
        {
            assert!(!seen.body.contains(part), "{part}: {}", seen.body);
        }
        assert_eq!(seen.header("x-robots-tag"), Some("noindex, nofollow"));
        assert_eq!(seen.header("set-cookie"), None);
        assert!(seen.header("content-security-policy").unwrap_or_default().starts_with("default-src 'none'"));
    }
    let live = payer.get(&format!("{page}/live?was=open")).await;
    assert_eq!((live.status, live.header("set-cookie")), (204, None));
    let svg = payer.get(&format!("{page}/qr.svg")).await;
    assert_eq!((svg.status, svg.header("content-type")), (200, Some("image/svg+xml")));
    assert!(svg.body.starts_with("<svg "), "{}", svg.body);
}

#[actix_web::test]
async fn page_follows_the_payment() {
    let bed = TestBed::new(None);
    let (path, page) = page_of(&bed, &[("amount", "10,00")]).await;
    let mut payer = bed.browser();
    assert_eq!(payer.get(&format!("{page}/live?was=open")).await.status, 204);
    payer.origin = Some("https://evil.example".to_owned());
    assert_eq!(payer.post(&format!("{page}/pay"), &[]).await.status, 403);
    assert_eq!(stored(&bed, &path).state.status(), ChargeStatus::Pending);
    payer.origin = Some(ORIGIN.to_owned());
    let seen = payer.post(&format!("{page}/pay"), &[]).await;
    assert_eq!((seen.status, seen.location()), (303, page.as_str()));
    assert_eq!(stored(&bed, &path).state.status(), ChargeStatus::Paid);
    let live = payer.get(&format!("{page}/live?was=open")).await;
    assert_eq!((live.status, live.header("hx-refresh")), (200, Some("true")));
    let seen = payer.get(&page).await;
    assert!(seen.body.contains("Pagamento recebido"), "{}", seen.body);
    for part in ["data:image", "id=\"code\"", "hx-get", "/pay\""] {
        assert!(!seen.body.contains(part), "{part}: {}", seen.body);
    }
    assert_eq!(payer.get(&format!("{page}/qr.png")).await.status, 404);
    assert_eq!(payer.get(&format!("{page}/qr.svg")).await.status, 404);
    payer.post(&format!("{page}/pay"), &[]).await;
    assert_eq!(bed.psp.charges().iter().map(|charge| charge.payments.len()).sum::<usize>(), 1, "paid once");
}

#[actix_web::test]
async fn expired_charge_shows_no_code() {
    let bed = TestBed::new(None);
    let (_, page) = page_of(&bed, &[("amount", "10,00"), ("minutes", "1")]).await;
    bed.clock.advance(std::time::Duration::from_secs(61));
    let seen = bed.browser().get(&page).await;
    assert!(seen.body.contains("expirou") && !seen.body.contains("data:image"), "{}", seen.body);
}

#[actix_web::test]
async fn invalid_token_is_answered_404() {
    let bed = TestBed::new(None);
    let (_, page) = page_of(&bed, &[("amount", "10,00")]).await;
    let mut payer = bed.browser();
    let token = page.strip_prefix("/pay/").unwrap();
    let (id, proof) = token.split_at(32);
    let other: String = proof.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect();
    for token in [
        format!("{id}{other}"),
        format!("{id}{}", "0".repeat(32)),
        id.to_owned(),
        format!("{}{proof}", "0".repeat(32)),
        token.to_uppercase(),
        format!("{token}0"),
        "x".to_owned(),
        "%C3%A9".repeat(32),
    ] {
        for path in ["", "/live?was=open", "/qr.png", "/qr.svg"] {
            assert_eq!(payer.get(&format!("/pay/{token}{path}")).await.status, 404, "{token}{path}");
        }
        assert_eq!(payer.post(&format!("/pay/{token}/pay"), &[]).await.status, 404, "{token}");
    }
    let form = TestRequest::post().uri(&format!("{page}/pay")).insert_header(("content-type", "text/plain"));
    assert_eq!(payer.send(form).await.status, 400);
}

#[actix_web::test]
async fn payment_page_is_limited_per_client_address() {
    let bed = TestBed::new(None);
    let (_, page) = page_of(&bed, &[("amount", "10,00")]).await;
    let mut payer = bed.browser();
    let mut served = 0;
    while payer.get(&format!("{page}/live?was=open")).await.status == 204 {
        served += 1;
    }
    assert_eq!(served, 300);
    assert_eq!(payer.get(&page).await.status, 429);
}
