//! Sign-up, login, sessions and languages.

use std::time::Duration;

use actix_web::test::TestRequest;
use cais_testkit::CapturedLogs;

use super::browser::{PASSWORD, TestBed};

const EMAIL: &str = "ana@shop.example";

#[actix_web::test]
async fn merchant_signs_up_enrols_and_sees_the_balance() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let first = browser.get("/").await;
    assert_eq!((first.status, first.location()), (303, "/login"));
    browser.sign_up(EMAIL, "Loja <da> Ana").await;
    let seen = browser.log_in(EMAIL).await;
    assert_eq!((seen.status, seen.location()), (303, "/login"));
    let seen = browser.get("/login").await;
    assert_eq!((seen.status, seen.location()), (303, "/login/enrol"));
    let page = browser.get("/login/enrol").await;
    assert!(page.body.contains("src=\"data:image/png;base64,"), "{}", page.body);
    let wrong = browser.post("/login/enrol", &[("code", "999999")]).await;
    assert_eq!(wrong.status, 422);
    let code = bed.code(EMAIL, 0).await;
    let shown = browser.post("/login/enrol", &[("code", &code)]).await;
    assert_eq!((shown.status, shown.body.matches("<li><code>").count()), (200, 10));
    let home = browser.get("/").await;
    assert_eq!(home.status, 200);
    assert!(home.body.contains("Loja &#60;da&#62; Ana") && home.body.contains("R$ 0,00"), "{}", home.body);
    assert!(home.body.contains("em análise"), "{}", home.body);
}

#[actix_web::test]
async fn password_page_names_the_user_to_password_managers() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let field = format!("value=\"{EMAIL}\" autocomplete=\"username\" hidden");
    assert!(browser.get("/password").await.body.contains(&field));
}

#[actix_web::test]
async fn unknown_email_and_wrong_password_have_the_same_answer() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    browser.sign_up(EMAIL, "Shop").await;
    let mut answers = Vec::new();
    for (email, password) in [(EMAIL, "wrong password 1"), ("no@shop.example", PASSWORD)] {
        browser.get("/login").await;
        let seen = browser.post("/login", &[("email", email), ("password", password)]).await;
        answers.push((seen.status, seen.body.replace(email, "")));
    }
    assert_eq!(answers.first(), answers.last());
    assert_eq!(answers.first().unwrap().0, 422);
    // A sign-up with an e-mail in use has the same response as any other sign-up.
    let again = browser.sign_up(EMAIL, "Shop").await;
    assert_eq!(again.location(), "/login?signed-up");
}

#[actix_web::test]
async fn eleventh_wrong_password_is_answered_429() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let mut last = 0;
    for _ in 0..11 {
        browser.get("/login").await;
        last = browser.post("/login", &[("email", EMAIL), ("password", "guess")]).await.status;
    }
    assert_eq!(last, 429);
}

#[actix_web::test]
async fn used_code_is_refused_and_session_changes_at_each_step() {
    let bed = TestBed::new(None);
    bed.logged_in(EMAIL).await;
    let code = bed.code(EMAIL, 0).await;
    for expected in [303, 422] {
        let mut browser = bed.browser();
        browser.log_in(EMAIL).await;
        let half = browser.session().cloned();
        assert!(half.is_some());
        let page = browser.get("/login/code").await;
        assert_eq!(page.status, 200);
        let seen = browser.post("/login/code", &[("code", &code)]).await;
        assert_eq!(seen.status, expected, "{}", seen.body);
        assert_eq!(browser.session() == half.as_ref(), expected == 422);
        // The session of the first step gives no access.
        let mut thief = bed.browser();
        thief.cookies.insert("cais-session".to_owned(), half.unwrap());
        assert_eq!(thief.get("/keys").await.location(), "/login");
    }
}

#[actix_web::test]
async fn session_that_the_attacker_chose_is_not_used() {
    let bed = TestBed::new(None);
    let mut attacker = bed.browser();
    attacker.sign_up(EMAIL, "Shop").await;
    let mut victim = bed.browser();
    let chosen = format!("ses_{}.{}", "0".repeat(26), "0".repeat(64));
    victim.cookies.insert("cais-session".to_owned(), chosen.clone());
    victim.log_in(EMAIL).await;
    assert_ne!(victim.session(), Some(&chosen));
    attacker.cookies.insert("cais-session".to_owned(), chosen);
    assert_eq!(attacker.get("/login/enrol").await.location(), "/login");
}

#[actix_web::test]
async fn ended_and_idle_sessions_lead_to_the_login() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let stolen = browser.session().cloned().unwrap();
    let listed = browser.get("/sessions").await;
    assert!(listed.body.contains("Test/1 &#60;b&#62;") && listed.body.contains("192.0.2.9"), "{}", listed.body);
    let out = browser.post("/logout", &[]).await;
    assert_eq!((out.location(), browser.session()), ("/login", None));
    let mut thief = bed.browser();
    thief.cookies.insert("cais-session".to_owned(), stolen);
    let logs = CapturedLogs::start();
    assert_eq!(thief.get("/").await.location(), "/login");
    let is_refusal = |line: &serde_json::Value| line["message"].as_str().unwrap().starts_with("cookie refused");
    assert_eq!(logs.infos().iter().filter(|line| is_refusal(line)).count(), 1, "{:?}", logs.infos());
    browser.log_in(EMAIL).await;
    browser.get("/login/code").await;
    let code = bed.code(EMAIL, 0).await;
    browser.post("/login/code", &[("code", &code)]).await;
    assert_eq!(browser.get("/").await.status, 200);
    bed.clock.advance(Duration::from_mins(61));
    assert_eq!(browser.get("/").await.location(), "/login");
}

#[actix_web::test]
async fn pages_are_portuguese_until_english_is_chosen() {
    let bed = TestBed::new(None);
    let mut browser = bed.browser();
    let page = browser.get("/login").await;
    assert!(page.body.contains("<html lang=\"pt-BR\">") && page.body.contains("Entrar"), "{}", page.body);
    let seen = browser.post("/language", &[("language", "en")]).await;
    assert_eq!(seen.location(), "/");
    let page = browser.get("/login").await;
    assert!(page.body.contains("<html lang=\"en\">") && page.body.contains("Log in"), "{}", page.body);
    assert!(page.body.contains("href=\"/docs/\""));
}

#[actix_web::test]
async fn changed_password_ends_other_sessions() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let mut other = bed.browser();
    other.log_in(EMAIL).await;
    other.get("/login/code").await;
    let code = bed.code(EMAIL, 0).await;
    other.post("/login/code", &[("code", &code)]).await;
    assert_eq!(other.get("/").await.status, 200);
    browser.get("/password").await;
    let wrong = browser.post("/password", &[("present", "wrong"), ("password", "a new long password")]).await;
    assert_eq!(wrong.status, 422);
    let weak = browser.post("/password", &[("present", PASSWORD), ("password", "short")]).await;
    assert_eq!(weak.status, 422);
    let done = browser.post("/password", &[("present", PASSWORD), ("password", "a new long password")]).await;
    assert_eq!(done.status, 200);
    assert_eq!(browser.get("/").await.status, 200);
    assert_eq!(other.get("/").await.location(), "/login");
}

#[actix_web::test]
async fn live_parts_do_not_keep_a_session_open() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for _ in 0..2 {
        bed.clock.advance(Duration::from_mins(29));
        assert_eq!(browser.send(TestRequest::get().uri("/").insert_header(("hx-request", "true"))).await.status, 200);
    }
    bed.clock.advance(Duration::from_mins(3));
    assert_eq!(browser.get("/").await.location(), "/login", "an hour without use");

    let mut used = bed.browser();
    used.log_in(EMAIL).await;
    used.get("/login/code").await;
    let code = bed.code(EMAIL, 0).await;
    assert_eq!(used.post("/login/code", &[("code", &code)]).await.location(), "/");
    for _ in 0..3 {
        bed.clock.advance(Duration::from_mins(29));
        assert_eq!(used.get("/").await.status, 200);
    }
}

/// Requests of htmx do not count as use of a session, so each of them must be a refresh.
#[test]
fn every_request_of_htmx_is_a_refresh() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/templates"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let is_refresh = text.matches("hx-get=").count() == text.matches("hx-trigger=\"every ").count();
            assert!(is_refresh && !text.contains("hx-boost") && !text.contains("hx-post"), "{}", path.display());
        }
    }
}

#[actix_web::test]
async fn requests_of_a_session_are_limited() {
    let bed = TestBed::new(None);
    let (mut ana, mut bia) = (bed.logged_in(EMAIL).await, bed.logged_in("bia@shop.example").await);
    let mut answered = 0;
    let refused = loop {
        let seen = ana.get("/sessions").await;
        if seen.status != 200 {
            break seen;
        }
        answered += 1;
        assert!(answered <= 300, "{answered} pages");
    };
    assert!(refused.status == 429 && answered > 200, "{} {answered}", refused.status);
    assert_eq!(ana.post("/language", &[("language", "en")]).await.status, 429, "forms too");
    assert_eq!(bia.get("/sessions").await.status, 200, "another session");
    bed.clock.advance(Duration::from_millis(100));
    assert_eq!(ana.get("/sessions").await.status, 200);
    assert_eq!(ana.get("/sessions").await.status, 429);
}

#[actix_web::test]
async fn recovery_codes_are_replaced_with_a_code() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let page = browser.get("/recovery-codes").await;
    assert!(page.body.contains("<strong>10</strong>"), "{}", page.body);
    let path = browser.post("/recovery-codes", &[]).await.location().to_owned();
    let asked = browser.get(&path).await;
    assert!(asked.body.contains("Criar novos códigos") && asked.body.contains(EMAIL), "{}", asked.body);
    assert!(!asked.body.contains("class=\"codes\""), "no codes before the authenticator's: {}", asked.body);
    let code = bed.code(EMAIL, 0).await;
    let shown = browser.post(&path, &[("code", &code)]).await;
    assert_eq!(shown.body.matches("<li><code>").count(), 10, "{}", shown.body);
    let new = shown.between("<li><code>", "<");
    assert!(!browser.get(&path).await.body.contains(&new), "shown once");
    let mut other = bed.browser();
    other.log_in(EMAIL).await;
    other.get("/login/code").await;
    assert_eq!(other.post("/login/code", &[("code", &new)]).await.location(), "/");
    assert!(other.get("/recovery-codes").await.body.contains("<strong>9</strong>"));
}
