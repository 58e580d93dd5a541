//! Forms that a browser sends twice, such as after a double click. The browser drops the answer to the first form.

use super::browser::{Browser, Seen, TestBed};
use super::keys::submit_key_form;
use super::operator::{self, OPERATOR};
use super::webhooks::{self, EMAIL};

/// Confirms an action twice with the same code. Returns both answers.
async fn confirmed_twice(bed: &TestBed, browser: &mut Browser<'_>, email: &str, path: &str) -> (Seen, Seen) {
    browser.get(path).await;
    let code = bed.code(email, 0).await;
    let first = browser.post(path, &[("code", &code)]).await;
    (first, browser.post(path, &[("code", &code)]).await)
}

#[actix_web::test]
async fn second_form_of_a_key_leads_to_the_keys() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let path = submit_key_form(&mut browser, "till").await;
    let (first, second) = confirmed_twice(&bed, &mut browser, EMAIL, &path).await;
    let key = first.between("id=\"key\">", "<");
    let shown = browser.get(&path).await;
    for (seen, status) in [(second, 409), (shown, 200)] {
        assert_eq!(seen.status, status, "{}", seen.body);
        assert!(seen.body.contains("Já confirmado") && seen.body.contains("crie outra"), "{}", seen.body);
        assert!(seen.body.contains("class=\"button\" href=\"/keys\"") && !seen.body.contains(&key), "{}", seen.body);
    }
    let mut other = bed.browser();
    other.log_in(EMAIL).await;
    assert_eq!(other.get(&path).await.location(), "/login", "another session");
}

#[actix_web::test]
async fn second_form_of_a_rotation_leads_to_the_endpoint() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (endpoint, _) = webhooks::created(&mut browser).await;
    browser.get(&endpoint).await;
    let path = browser.post(&format!("{endpoint}/rotate"), &[("grace", "0")]).await.location().to_owned();
    let (first, second) = confirmed_twice(&bed, &mut browser, EMAIL, &path).await;
    assert!(first.body.contains("whsec_"), "{}", first.body);
    assert_eq!(second.status, 409, "{}", second.body);
    assert!(second.body.contains("troque o segredo outra vez") && !second.body.contains("whsec_"), "{}", second.body);
    assert!(second.body.contains(&format!("class=\"button\" href=\"{endpoint}\"")), "{}", second.body);
}

#[actix_web::test]
async fn second_form_of_recovery_codes_leads_to_them() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    browser.get("/recovery-codes").await;
    let path = browser.post("/recovery-codes", &[]).await.location().to_owned();
    let (first, second) = confirmed_twice(&bed, &mut browser, EMAIL, &path).await;
    assert!(first.body.contains("class=\"codes\""), "{}", first.body);
    assert_eq!(second.status, 409, "{}", second.body);
    assert!(second.body.contains("crie outros") && second.body.contains("href=\"/recovery-codes\""), "{}", second.body);
}

#[actix_web::test]
async fn second_form_of_an_account_change_leads_to_it() {
    let bed = TestBed::new(None);
    bed.logged_in(EMAIL).await;
    let mut browser = operator::operator(&bed).await;
    let account = format!("/operator/accounts/{}", operator::account(&bed).await.id);
    let path = operator::sent(&mut browser, &account, &[("change", "approve")]).await.location().to_owned();
    let (first, second) = confirmed_twice(&bed, &mut browser, OPERATOR, &path).await;
    assert_eq!((first.status, second.status), (303, 409), "{}", second.body);
    assert!(second.body.contains("já foi feita") && second.body.contains(&account), "{}", second.body);
}

#[actix_web::test]
async fn second_form_of_an_endpoint_leads_to_the_first() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, _) = webhooks::created(&mut browser).await;
    browser.get("/webhooks/new").await;
    let again = browser.post("/webhooks/new", &[("url", webhooks::URL), ("event", "*")]).await;
    assert_eq!(again.status, 422, "{}", again.body);
    assert!(again.body.contains(&format!("href=\"{path}\"")), "{}", again.body);
    let other = browser.post("/webhooks/new", &[("url", "ftp://x.example"), ("event", "*")]).await;
    assert!(!other.body.contains(&path), "{}", other.body);
}

#[actix_web::test]
async fn second_form_of_an_enrolment_leads_to_the_login() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    browser.sign_up(EMAIL, "Shop").await;
    browser.log_in(EMAIL).await;
    browser.get("/login/enrol").await;
    let (half, token) = (browser.cookies.clone(), browser.token.clone());
    let code = bed.code(EMAIL, 0).await;
    browser.token = "0".repeat(64);
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 403, "not enrolled yet");
    browser.token = token.clone();
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 200);
    let complete = browser.cookies.clone();
    // The second form has the cookie and the token of the first.
    (browser.cookies, browser.token) = (half, token);
    let second = browser.post("/login/enrol", &[("code", &code)]).await;
    assert_eq!((second.status, second.location()), (303, "/login?enrolled"), "{}", second.body);
    let page = browser.get("/login?enrolled").await;
    assert!(page.body.contains("já foi ativado"), "{}", page.body);
    // The browser may have kept the cookie of the answer that it dropped.
    browser.cookies = complete;
    assert_eq!(browser.get("/login?enrolled").await.location(), "/recovery-codes");
}
