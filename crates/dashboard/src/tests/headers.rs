//! Security headers, cookies and assets.

use actix_web::test::TestRequest;

use super::browser::TestBed;

const EMAIL: &str = "ana@shop.example";

#[actix_web::test]
async fn every_page_has_a_strict_policy_and_no_inline_code() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for path in [
        "/",
        "/transactions",
        "/charges/new",
        "/pay/x",
        "/keys",
        "/keys/new",
        "/sessions",
        "/password",
        "/signup",
        "/login",
        "/operator/accounts",
        "/welcome/x",
        "/confirm/x",
        "/webhooks",
        "/webhooks/new",
        "/webhooks/x",
        "/events",
        "/events/x",
        "/payouts",
        "/payouts/new",
        "/infractions",
        "/settings",
        "/statement",
        "/crypto",
        "/crypto/deposits",
        "/crypto/deposits/new",
        "/crypto/withdrawals",
        "/crypto/withdrawals/new",
        "/api-log",
    ] {
        let seen = browser.get(path).await;
        let policy = seen.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(seen.header(name), Some(value), "{path}");
        }
        let mut scripts = seen.body.split("<script").skip(1);
        assert!(
            scripts.all(|script| script.starts_with(" defer src=\"/assets/")) && !seen.body.contains("style="),
            "{path}"
        );
        assert!(!seen.body.contains("<script>"), "{path}");
        assert!(!seen.body.contains("//") || seen.body.contains("data:image"), "{path}: {}", seen.body);
    }
}

#[actix_web::test]
async fn cookies_over_tls_belong_to_this_host_alone() {
    let bed = TestBed::new(Some("https://pay.example"));
    let mut browser = bed.browser();
    let first = browser.get("/login").await;
    assert_eq!(first.header("strict-transport-security"), Some("max-age=31536000"));
    browser.sign_up(EMAIL, "Shop").await;
    let seen = browser.log_in(EMAIL).await;
    for (seen, name) in [(first, "__Host-cais-form="), (seen, "__Host-cais-session=")] {
        let line = seen.header("set-cookie").unwrap_or_default();
        assert!(line.starts_with(name), "{line}");
        for part in ["; HttpOnly", "; SameSite=Lax", "; Secure", "; Path=/"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("Domain"), "{line}");
    }
}

#[actix_web::test]
async fn cookies_in_development_are_hidden_from_scripts() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let seen = browser.get("/login").await;
    let line = seen.header("set-cookie").unwrap_or_default();
    assert!(line.starts_with("cais-form=") && line.contains("HttpOnly") && !line.contains("Secure"), "{line}");
    assert_eq!(seen.header("strict-transport-security"), None);
}

#[actix_web::test]
async fn style_sheet_is_served_under_its_hash() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let path = browser.get("/login").await.between("<link rel=\"stylesheet\" href=\"", "\"");
    let css = browser.get(&path).await;
    assert_eq!((css.status, css.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(css.header("cache-control").unwrap_or_default().contains("immutable"));
    assert!(css.body.contains("prefers-color-scheme: dark") && !css.body.contains("http"), "{}", css.body);
    assert_eq!(browser.get("/assets/0123456789abcdef/dashboard.css").await.status, 404);
    assert_eq!(browser.get("/assets/0123456789abcdef/..%2fCargo.toml").await.status, 404);
}

#[actix_web::test]
async fn path_without_a_page_shows_a_page_to_browsers_only() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let open = |path: &str| TestRequest::get().uri(path).insert_header(("accept", "text/html,*/*;q=0.8"));
    for (path, status, text) in [
        ("/nope", 404, "Página não encontrada"),
        ("/charges/chg_x/refunds", 405, "só recebe formulários"),
        ("/logout", 405, "só recebe formulários"),
    ] {
        let seen = browser.send(open(path)).await;
        assert!(seen.status == status && seen.body.contains(text), "{path}: {} {}", seen.status, seen.body);
        assert!(seen.header("content-security-policy").is_some(), "{path}");
    }
    let seen = browser.get("/nope").await;
    assert_eq!((seen.status, seen.body.as_str()), (404, ""), "the API answers other clients");
}
