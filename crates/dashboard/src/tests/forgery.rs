//! Forms of other sites, and forms without the browser's token, change nothing.

use actix_web::test::TestRequest;
use cais_testkit::CapturedLogs;

use super::browser::{ORIGIN, PASSWORD, TestBed};
use super::routes::forms;

const EMAIL: &str = "ana@shop.example";

#[actix_web::test]
async fn form_with_foreign_or_missing_origin_is_refused() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
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
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let mut other = bed.logged_in("bia@shop.example").await;
    other.get("/").await;
    browser.get("/").await;
    let own = browser.token.clone();
    for token in [String::new(), "0".repeat(64), other.token.clone(), own.to_uppercase() + "0", "é".repeat(32)] {
        browser.token = token;
        let logs = CapturedLogs::start();
        assert_eq!(browser.post("/logout", &[]).await.status, 403);
        let warned = logs.warnings();
        let field = |name: &str| warned.first().and_then(|line| line.get(name)).and_then(|text| text.as_str());
        assert_eq!((warned.len(), field("route"), field("client")), (1, Some("/logout"), Some("192.0.2.9")));
    }
    // A token from before the login is refused after the login.
    let mut early = bed.browser();
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
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for path in forms() {
        browser.token = "0".repeat(64);
        assert_eq!(browser.post(&path, &[]).await.status, 403, "{path}");
        let form = TestRequest::post().uri(&path).insert_header(("origin", ORIGIN));
        let other = form.insert_header(("content-type", "text/plain")).set_payload("token=x");
        assert_eq!(browser.send(other).await.status, 400, "{path}");
    }
    for path in ["/logout", "/language", "/sessions/x/end"] {
        assert_eq!(browser.get(path).await.status, 405, "{path}");
    }
}

#[actix_web::test]
async fn form_of_another_site_is_refused_by_fetch_metadata() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
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
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    browser.get("/login").await;
    let seen = browser.post("/login", &[("email", &"a".repeat(crate::MAX_FORM_BYTES)), ("password", PASSWORD)]).await;
    assert_eq!(seen.status, 400);
}

#[actix_web::test]
async fn configured_origin_alone_is_accepted() {
    let bed = TestBed::new(Some("https://pay.example"));
    let mut browser = bed.browser();
    browser.get("/login").await;
    browser.origin = Some(ORIGIN.to_owned());
    assert_eq!(browser.post("/login", &[("email", EMAIL), ("password", "x")]).await.status, 403);
    browser.origin = Some("https://pay.example".to_owned());
    assert_eq!(browser.post("/login", &[("email", EMAIL), ("password", "x")]).await.status, 422);
}

#[actix_web::test]
async fn malformed_bodies_are_refused() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    browser.get("/keys/new").await;
    let token = browser.token.clone();
    let form = "application/x-www-form-urlencoded";
    let fields: Vec<String> = (0..1_000).map(|number| format!("f{number}=1")).collect();
    for (kind, body, expected) in [
        (form, format!("token={token}&name=%ff%fe&scope=charges%3Aread"), 400),
        (form, format!("token={token}&name=%C3%28&scope=charges%3Aread"), 400),
        (form, String::new(), 403),
        (form, format!("token=x&token={token}&name=a&scope=charges%3Aread"), 403),
        (form, format!("token={token}&name=a%00b&scope=charges%3Aread"), 422),
        (form, format!("token={token}&name=a%0D%0ASet-Cookie:x&scope=charges%3Aread"), 422),
        (form, format!("token={token}&{}", fields.join("&")), 422),
        ("application/x-www-form-urlencodedx", format!("token={token}&name=a&scope=charges%3Aread"), 400),
        ("application/json", format!("{{\"token\":\"{token}\"}}"), 400),
        ("multipart/form-data; boundary=x", format!("token={token}"), 400),
        ("Application/X-WWW-Form-Urlencoded; charset=UTF-8", format!("token={token}&name=a&scope=charges%3Aread"), 303),
    ] {
        let request = TestRequest::post().uri("/keys/new").insert_header(("origin", ORIGIN));
        let request = request.insert_header(("content-type", kind)).set_payload(body.clone());
        assert_eq!(browser.send(request).await.status, expected, "{kind}: {body}");
    }
}
