//! Forms of other sites, and forms without the browser's token, change nothing.

use actix_web::test::TestRequest;

use super::browser::{ORIGIN, PASSWORD, World};

const EMAIL: &str = "ana@shop.example";

#[actix_web::test]
async fn form_with_foreign_or_missing_origin_is_refused() {
    let world = World::new(None);
    let mut browser = world.logged_in(EMAIL).await;
    for origin in [
        Some("https://evil.example"),
        Some("http://localhost:8081"),
        Some("http://localhost:8080.evil.example"),
        Some("null"),
        None,
    ] {
        browser.get("/sessions").await;
        browser.origin = origin.map(str::to_owned);
        let seen = browser.post("/logout", &[]).await;
        assert_eq!(seen.status, 403, "{origin:?}");
        assert!(seen.header("content-security-policy").is_some());
    }
    browser.origin = Some(ORIGIN.to_owned());
    assert_eq!(browser.get("/").await.status, 200, "still logged in");
    assert_eq!(browser.post("/logout", &[]).await.status, 303);
}

#[actix_web::test]
async fn form_without_the_own_token_is_refused() {
    let world = World::new(None);
    let mut browser = world.logged_in(EMAIL).await;
    let mut other = world.logged_in("bia@shop.example").await;
    other.get("/").await;
    browser.get("/").await;
    let own = browser.token.clone();
    for token in [String::new(), "0".repeat(64), other.token.clone(), own.to_uppercase() + "0", "é".repeat(32)] {
        browser.token = token;
        assert_eq!(browser.post("/logout", &[]).await.status, 403);
    }
    // A token from before the login is refused after the login.
    let mut early = world.browser();
    early.get("/login").await;
    let before = early.token.clone();
    early.log_in(EMAIL).await;
    early.token = before;
    assert_eq!(early.post("/logout", &[]).await.status, 403);
    browser.token = own;
    assert_eq!(browser.post("/logout", &[]).await.status, 303);
}

#[actix_web::test]
async fn every_form_is_checked_before_its_handler() {
    let world = World::new(None);
    let mut browser = world.logged_in(EMAIL).await;
    for path in [
        "/login",
        "/login/code",
        "/login/enrol",
        "/signup",
        "/welcome/x",
        "/logout",
        "/language",
        "/password",
        "/sessions/x/end",
        "/keys/new",
        "/charges/new",
        "/charges/x/refunds",
        "/refunds/confirm/x",
        "/charges/x/pay",
        "/keys/x/revoke",
        "/confirm/x",
    ] {
        browser.token = "0".repeat(64);
        assert_eq!(browser.post(path, &[]).await.status, 403, "{path}");
        let form = TestRequest::post().uri(path).insert_header(("origin", ORIGIN));
        let other = form.insert_header(("content-type", "text/plain")).set_payload("token=x");
        assert_eq!(browser.send(other).await.status, 400, "{path}");
    }
    for path in ["/logout", "/language", "/sessions/x/end"] {
        assert_eq!(browser.get(path).await.status, 405, "{path}");
    }
}

#[actix_web::test]
async fn form_of_another_site_is_refused_by_fetch_metadata() {
    let world = World::new(None);
    let mut browser = world.browser();
    browser.get("/login").await;
    let body = format!("token={}&email={EMAIL}&password=x", browser.token);
    let request = |site: &str| {
        TestRequest::post()
            .uri("/login")
            .insert_header(("origin", ORIGIN))
            .insert_header(("sec-fetch-site", site.to_owned()))
            .insert_header(("content-type", "application/x-www-form-urlencoded"))
            .set_payload(body.clone())
    };
    assert_eq!(browser.send(request("cross-site")).await.status, 403);
    assert_eq!(browser.send(request("same-site")).await.status, 403);
    assert_eq!(browser.send(request("same-origin")).await.status, 422);
}

#[actix_web::test]
async fn large_form_is_refused() {
    let world = World::new(None);
    let mut browser = world.browser();
    browser.get("/login").await;
    let seen = browser.post("/login", &[("email", &"a".repeat(crate::MAX_FORM_BYTES)), ("password", PASSWORD)]).await;
    assert_eq!(seen.status, 400);
}

#[actix_web::test]
async fn configured_origin_alone_is_accepted() {
    let world = World::new(Some("https://pay.example"));
    let mut browser = world.browser();
    browser.get("/login").await;
    browser.origin = Some(ORIGIN.to_owned());
    assert_eq!(browser.post("/login", &[("email", EMAIL), ("password", "x")]).await.status, 403);
    browser.origin = Some("https://pay.example".to_owned());
    assert_eq!(browser.post("/login", &[("email", EMAIL), ("password", "x")]).await.status, 422);
}
