//! No user can open pages or records of other accounts, with or without a session.

use cais_ports::Actor;
use cais_testkit::CapturedLogs;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::logins::invite;

use super::browser::{PASSWORD, Seen, TestBed};
use super::keys::{created, submit_key_form};
use super::routes::{forms, pages};
use super::shop::an_operator_browser;

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";

/// Returns `true` if the response leads to the login. For a path with a malformed id, 404 counts too.
fn is_closed(path: &str, seen: &Seen) -> bool {
    (seen.status, seen.location()) == (303, "/login") || (path.contains("/x") && seen.status == 404)
}

#[actix_web::test]
async fn page_without_login_leads_to_the_login() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    browser.get("/login").await;
    // The first steps of a login, and the forms of a browser without a user.
    let open = ["/login", "/signup", "/welcome/x", "/logout", "/language"];
    for path in pages().iter().filter(|path| !open.contains(&path.as_str())) {
        let seen = browser.get(path).await;
        assert!(is_closed(path, &seen), "{path}: {seen:?}");
        assert!(seen.header("content-security-policy").is_some(), "{path}");
    }
    for path in forms().iter().filter(|path| !open.contains(&path.as_str())) {
        let seen = browser.post(path, &[("code", "123456")]).await;
        assert!(is_closed(path, &seen), "{path}: {seen:?}");
    }
}

#[actix_web::test]
async fn half_login_reaches_no_page() {
    let bed = TestBed::new(None);
    bed.logged_in(EMAIL).await;
    let mut browser = bed.browser();
    browser.log_in(EMAIL).await;
    let token = browser.get("/login/code").await.between("name=\"token\" value=\"", "\"");
    let open = ["/login", "/login/code", "/login/enrol", "/signup", "/welcome/x", "/logout", "/language"];
    for path in pages().iter().filter(|path| !open.contains(&path.as_str())) {
        let seen = browser.get(path).await;
        assert!(is_closed(path, &seen), "{path}: {seen:?}");
    }
    for path in forms().iter().filter(|path| !open.contains(&path.as_str())) {
        browser.token.clone_from(&token);
        let seen = browser.post(path, &[]).await;
        assert!(is_closed(path, &seen), "{path}: {seen:?}");
    }
    // An authenticator in use is not shown or replaced.
    assert_eq!(browser.get("/login/enrol").await.status, 404);
}

#[actix_web::test]
async fn records_of_another_account_do_not_exist() {
    let bed = TestBed::new(None);
    let mut ana = bed.logged_in(EMAIL).await;
    let key = created(&bed, &mut ana, EMAIL).await;
    let confirmation = submit_key_form(&mut ana, "till").await;
    let session = ana.get("/sessions").await.between("/sessions/", "/end");
    let mut bia = bed.logged_in(OTHER).await;
    bia.get("/keys").await;
    let revoke = format!("/keys/{}/revoke", key.prefix);
    let end = format!("/sessions/{session}/end");
    for path in [revoke.as_str(), confirmation.as_str()] {
        assert_eq!(bia.get(path).await.status, 404, "{path}");
    }
    bia.get("/keys").await;
    let code = bed.code(OTHER, 0).await;
    for path in [revoke.as_str(), confirmation.as_str(), end.as_str()] {
        assert_eq!(bia.post(path, &[("code", &code)]).await.status, 404, "{path}");
    }
    assert!(!bia.get("/keys").await.body.contains(key.prefix.as_str()));
    assert_eq!(ana.get("/").await.status, 200, "the session goes on");
    ana.get("/keys").await;
    assert_eq!(ana.post(&end, &[]).await.status, 303);
    assert_eq!(ana.get("/").await.location(), "/login");
}

#[actix_web::test]
async fn operator_sets_a_password_and_has_no_merchant_pages() {
    let bed = TestBed::new(None);
    let by = Actor { name: "ana".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() };
    let email = AccountEmail::parse("ops@cais.example").unwrap();
    let link = invite::create_operator(&bed.dashboard.logins.ports, &by, email).await.unwrap().expose();
    let path = format!("/welcome/{link}");
    let mut browser = bed.browser();
    assert_eq!(browser.get("/welcome/usr_x.y").await.status, 404);
    assert_eq!(browser.get(&path).await.status, 200);
    assert_eq!(browser.post(&path, &[("password", "short")]).await.status, 422);
    let seen = browser.post(&path, &[("password", PASSWORD)]).await;
    assert_eq!(seen.location(), "/login?password-set");
    assert_eq!(browser.get(&path).await.status, 404, "the link works once");
    browser.log_in("ops@cais.example").await;
    browser.get("/login/enrol").await;
    let code = bed.code("ops@cais.example", 0).await;
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 200);
    let home = browser.get("/").await;
    assert!(home.body.contains("operador") && !home.body.contains("/keys"), "{}", home.body);
}

/// The pages that exist for merchants and operators.
const SHARED: [&str; 13] = [
    "/",
    "/login",
    "/login/code",
    "/login/enrol",
    "/signup",
    "/welcome/x",
    "/logout",
    "/language",
    "/password",
    "/recovery-codes",
    "/sessions",
    "/sessions/x/end",
    "/confirm/x",
];

#[actix_web::test]
async fn pages_of_the_other_role_do_not_exist() {
    let bed = TestBed::new(None);
    let (mut merchant, mut operator) = (bed.logged_in(EMAIL).await, an_operator_browser(&bed).await);
    let logs = CapturedLogs::start();
    let mut refused = 0;
    for (browser, is_foreign) in [(&mut merchant, true), (&mut operator, false)] {
        let token = browser.get("/password").await.between("name=\"token\" value=\"", "\"");
        let foreign = |path: &&String| !SHARED.contains(&path.as_str()) && path.starts_with("/operator/") == is_foreign;
        for path in pages().iter().filter(foreign) {
            assert_eq!(browser.get(path).await.status, 404, "{path}");
            refused += 1;
        }
        for path in forms().iter().filter(foreign) {
            browser.token.clone_from(&token);
            assert_eq!(browser.post(path, &[]).await.status, 404, "{path}");
            refused += 1;
        }
    }
    let is_refusal = |line: &serde_json::Value| {
        line.get("message").and_then(|text| text.as_str()).is_some_and(|text| text.starts_with("page refused"))
    };
    assert_eq!(logs.infos().into_iter().filter(is_refusal).count(), refused, "each refusal is logged");
}

#[actix_web::test]
async fn redirect_ignores_targets_in_the_request() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    browser.sign_up(EMAIL, "Shop").await;
    browser.get("/login?next=//evil.example&back=https://evil.example").await;
    let fields = [("email", EMAIL), ("password", PASSWORD), ("next", "//evil.example")];
    let seen = browser.post("/login?next=//evil.example", &fields).await;
    assert_eq!(seen.location(), "/login");
    browser.get("/login/enrol").await;
    let seen = browser.post("/language?back=//evil.example", &[("language", "en"), ("back", "//evil.example")]).await;
    assert_eq!(seen.location(), "/");
}

#[actix_web::test]
async fn free_text_is_escaped_in_refused_forms() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let text = "\"><script>alert(1)</script>";
    browser.get("/signup").await;
    let fields = [("email", text), ("name", text), ("document", text), ("password", PASSWORD)];
    let shown = browser.post("/signup", &fields).await;
    browser.get("/login").await;
    let login = browser.post("/login", &[("email", text), ("password", "x")]).await;
    let mut merchant = bed.logged_in(EMAIL).await;
    merchant.get("/keys/new").await;
    let key = merchant.post("/keys/new", &[("name", text), ("days", text)]).await;
    for seen in [shown, login, key] {
        assert_eq!(seen.status, 422);
        assert!(!seen.body.contains("<script>") && seen.body.contains("script&#62;"), "{}", seen.body);
    }
}

#[actix_web::test]
async fn refused_pages_and_forged_cookies_are_logged() {
    let bed = TestBed::new(None);
    let mut ana = bed.logged_in(EMAIL).await;
    let confirmation = submit_key_form(&mut ana, "till").await;
    let mut bia = bed.logged_in(OTHER).await;
    let logs = CapturedLogs::start();
    for path in [confirmation.as_str(), "/operator/accounts", "/charges/chg_01h455vb4pex5vsknk084sn02q"] {
        assert_eq!(bia.get(path).await.status, 404, "{path}");
    }
    let refused = logs.infos().into_iter().filter(|line| line["message"].as_str().unwrap().starts_with("page refused"));
    let field = |line: &serde_json::Value, name| line.get(name).unwrap().as_str().unwrap().to_owned();
    let routes: Vec<String> = refused.map(|line| field(&line, "route") + " " + &field(&line, "client")).collect();
    let expected = ["/confirm/{id}", "/operator/accounts", "/charges/{id}"];
    assert_eq!(routes, expected.map(|route| format!("{route} 192.0.2.9")));
    assert!(logs.warnings().is_empty(), "{:?}", logs.warnings());

    let (name, forged) = (String::from("cais-session"), bia.session().unwrap().clone());
    let (id, secret) = forged.split_at(forged.len() - 4);
    bia.cookies.insert(name, format!("{id}{}", if secret == "0000" { "1111" } else { "0000" }));
    assert_eq!(bia.get("/").await.location(), "/login");
    let warned = logs.warnings();
    assert!(warned.iter().any(|line| line["message"].as_str().unwrap().starts_with("cookie refused")), "{warned:?}");
    assert_eq!(ana.post("/logout", &[]).await.status, 303, "another session goes on");
}
