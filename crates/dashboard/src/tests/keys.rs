//! API keys are created and revoked in two steps.

use std::time::Duration;

use cais_domain::merchant::api_key::ApiKeyToken;
use cais_ports::KeyQueries as _;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::accounts::suspend::suspend;

use super::browser::{Browser, TestBed};

const EMAIL: &str = "ana@shop.example";

/// Sends the form of a new key. Returns the path of the confirmation.
pub(super) async fn submit_key_form(browser: &mut Browser<'_>, name: &str) -> String {
    browser.get("/keys/new").await;
    let fields = [("name", name), ("scope", "charges:read"), ("scope", "charges:write"), ("days", "30")];
    let seen = browser.post("/keys/new", &fields).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
    seen.location().to_owned()
}

/// Creates a key and returns it.
pub(super) async fn created(bed: &TestBed, browser: &mut Browser<'_>, email: &str) -> ApiKeyToken {
    let path = submit_key_form(browser, "till").await;
    browser.get(&path).await;
    let code = bed.code(email, 0).await;
    let seen = browser.post(&path, &[("code", &code)]).await;
    assert_eq!(seen.status, 200, "{}", seen.body);
    bed.clock.advance(Duration::from_secs(30));
    ApiKeyToken::parse(&seen.between("id=\"key\">", "<")).unwrap()
}

#[actix_web::test]
async fn key_is_shown_once_and_revoked_with_another_code() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let path = submit_key_form(&mut browser, "<b>till</b>").await;
    let page = browser.get(&path).await;
    assert!(
        page.body.contains("&#60;b&#62;till") && page.body.contains("charges:read, charges:write"),
        "{}",
        page.body
    );
    assert!(browser.get("/keys").await.body.contains("Nenhuma chave"), "no key before the code");
    browser.get(&path).await;
    let code = bed.code(EMAIL, 0).await;
    let seen = browser.post(&path, &[("code", &code)]).await;
    let token = ApiKeyToken::parse(&seen.between("id=\"key\">", "<")).unwrap();
    assert!(!browser.get(&path).await.body.contains(token.secret.expose()), "never by GET");
    let (key, _) = bed.store.find_key(&token.prefix).await.unwrap().unwrap();
    assert_eq!((key.name.as_str(), key.scopes.to_string().as_str()), ("<b>till</b>", "charges:read,charges:write"));
    assert!(key.expires_at.is_some());
    let listed = browser.get("/keys").await.body;
    assert!(listed.contains(token.prefix.as_str()) && !listed.contains(token.secret.expose()), "{listed}");
    bed.clock.advance(Duration::from_secs(30));
    let revoke = format!("/keys/{}/revoke", token.prefix);
    assert_eq!(browser.get(&revoke).await.status, 200);
    let path = browser.post(&revoke, &[]).await.location().to_owned();
    browser.get(&path).await;
    let code = bed.code(EMAIL, 0).await;
    assert_eq!(browser.post(&path, &[("code", &code)]).await.status, 200);
    assert!(bed.store.find_key(&token.prefix).await.unwrap().unwrap().0.revoked_at.is_some());
    assert_eq!(browser.get(&revoke).await.status, 404);
}

#[actix_web::test]
async fn key_with_permitted_addresses_is_created() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    browser.get("/keys/new").await;
    let addresses = "203.0.113.7, 198.51.100.9/24,2001:db8::/32";
    let fields = [("name", "till"), ("scope", "charges:read"), ("addresses", addresses)];
    let path = browser.post("/keys/new", &fields).await.location().to_owned();
    let expected = ["203.0.113.7/32", "198.51.100.0/24", "2001:db8::/32"];
    assert!(browser.get(&path).await.body.contains(&expected.join(", ")));
    let code = bed.code(EMAIL, 0).await;
    let seen = browser.post(&path, &[("code", &code)]).await;
    assert!(seen.body.contains("data-copy=\"key\""), "{}", seen.body);
    let token = ApiKeyToken::parse(&seen.between("id=\"key\">", "<")).unwrap();
    let (key, _) = bed.store.find_key(&token.prefix).await.unwrap().unwrap();
    assert_eq!(key.allowed_addresses, expected);
    assert!(browser.get("/keys").await.body.contains(&expected.join(", ")));
}

#[actix_web::test]
async fn fifth_wrong_code_ends_the_confirmation() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let path = submit_key_form(&mut browser, "till").await;
    for expected in ["Código incorreto", "Código incorreto", "Código incorreto", "Código incorreto", "Ação encerrada"]
    {
        browser.get(&path).await;
        let seen = browser.post(&path, &[("code", "999999")]).await;
        assert!(seen.status == 422 && seen.body.contains(expected), "{expected}: {}", seen.body);
    }
    let code = bed.code(EMAIL, 0).await;
    assert_eq!(browser.post(&path, &[("code", &code)]).await.status, 404);
}

#[actix_web::test]
async fn suspended_account_gets_the_reason_at_the_first_step() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let by = cais_testkit::builders::an_operator();
    suspend(&bed.dashboard.logins.ports, &by, &AccountEmail::parse(EMAIL).unwrap()).await.unwrap();
    browser.get("/keys/new").await;
    let seen = browser.post("/keys/new", &[("name", "till"), ("scope", "charges:read")]).await;
    assert!(seen.status == 422 && seen.body.contains("está suspensa"), "{}", seen.body);
}

#[actix_web::test]
async fn mistakes_of_a_new_key_are_named() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for (fields, text) in [
        (vec![("name", ""), ("scope", "charges:read")], "100 caracteres"),
        (vec![("name", "till")], "pelo menos uma permissão"),
        (vec![("name", "till"), ("scope", "gold")], "pelo menos uma permissão"),
        (vec![("name", "till"), ("scope", "charges:read"), ("days", "0")], "3650 dias"),
        (vec![("name", "till"), ("scope", "charges:read"), ("addresses", "203.0.113.7, shop.example")], "blocos CIDR"),
        (vec![("name", "till"), ("scope", "charges:read"), ("addresses", &"203.0.113.7,".repeat(51))], "blocos CIDR"),
        (vec![("name", "a\nb"), ("scope", "charges:read")], "100 caracteres"),
    ] {
        browser.get("/keys/new").await;
        let seen = browser.post("/keys/new", &fields).await;
        assert_eq!(seen.status, 422, "{fields:?}");
        assert!(seen.body.contains(text), "{fields:?}: {}", seen.body);
    }
}
