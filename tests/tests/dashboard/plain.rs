//! The dashboard over HTTP, as a browser without scripts uses it, up to a call of the API with the key that it made.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use cais_testkit::Authenticator;
use cais_testkit::authenticator::present_step;
use reqwest::Client;
use serde_json::Value;

use crate::support::{Engine, Node, Reply, Shop, client, eventually, on_both, shared, unique};

on_both! {
    key_made_in_the_dashboard_calls_the_api
    operator_logs_in_with_a_link
    payment_page_shows_a_payment_of_the_sandbox
}

const PASSWORD: &str = "correct horse battery";
/// The first seconds of a step, in which the code before it is still accepted for a long time.
const EARLY_S: i64 = 20;

/// A browser: cookies, and the token of the last page.
struct Browser {
    client: Client,
    base: String,
    cookies: BTreeMap<String, String>,
    token: String,
}

impl Browser {
    fn new(node: &Node) -> Self {
        Self { client: client(), base: node.base(), cookies: BTreeMap::new(), token: String::new() }
    }

    async fn get(&mut self, path: &str) -> Reply {
        self.send(self.client.get(format!("{}{path}", self.base))).await
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let plain = |text: &str| text.bytes().map(escaped).collect::<Vec<_>>().concat();
        let token = [("token", self.token.as_str())];
        let pairs = token.iter().chain(fields).map(|(name, value)| format!("{name}={}", plain(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = self.client.post(format!("{}{path}", self.base)).header("origin", &self.base);
        self.send(request.header("content-type", "application/x-www-form-urlencoded").body(body)).await
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Reply {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let reply = Reply::of(request.header("cookie", cookies.join("; "))).await;
        for line in reply.headers.get_all("set-cookie") {
            let (pair, _) = line.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        if reply.text().contains("name=\"token\"") {
            self.token = between(&reply, "name=\"token\" value=\"", "\"");
        }
        reply
    }

    /// Logs in for the first time. Returns the authenticator.
    async fn enrol(&mut self, email: &str) -> Authenticator {
        self.get("/login").await;
        let reply = self.post("/login", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!((reply.status, reply.header("location")), (303, Some("/login")), "{}", reply.text());
        let page = self.get("/login/enrol").await;
        let mut authenticator = Authenticator::read(&between(&page, "id=\"secret\">", "<")).unwrap();
        let code = code(&mut authenticator).await;
        let reply = self.post("/login/enrol", &[("code", &code)]).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        authenticator
    }

    /// Confirms the action of a form with a fresh code. Returns the page of its result.
    async fn confirm(&mut self, path: &str, fields: &[(&str, &str)], authenticator: &mut Authenticator) -> Reply {
        assert_eq!(self.get(path).await.status, 200);
        let begun = self.post(path, fields).await;
        let confirmation = begun.header("location").unwrap().to_owned();
        self.get(&confirmation).await;
        let code = code(authenticator).await;
        let reply = self.post(&confirmation, &[("code", &code)]).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply
    }
}

/// Returns a code that was not used before, and waits until the service accepts it.
async fn code(authenticator: &mut Authenticator) -> String {
    let step = eventually("an unused code", || async {
        let (present, age_s) = present_step();
        let first = if age_s < EARLY_S { present - 1 } else { present };
        Some(authenticator.unused_step(first)).filter(|step| *step <= present + 1)
    })
    .await;
    authenticator.code(step)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).unwrap().as_str().unwrap()
}

fn between(reply: &Reply, before: &str, after: &str) -> String {
    let rest = reply.text().split_once(before).unwrap_or_else(|| panic!("no `{before}` in {}", reply.text())).1;
    rest.split_once(after).unwrap().0.to_owned()
}

/// Returns a byte as a form escapes it.
fn escaped(byte: u8) -> String {
    format!("%{byte:02X}")
}

async fn key_made_in_the_dashboard_calls_the_api(engine: Engine) {
    let node = shared(engine).await;
    let email = format!("{}@shop.example", unique("holder"));
    let mut browser = Browser::new(&node);
    assert_eq!(browser.get("/").await.header("location"), Some("/login"));
    browser.get("/signup").await;
    let fields = [("email", email.as_str()), ("name", "Loja"), ("document", "12345678909"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signup", &fields).await.header("location"), Some("/login?signed-up"));
    node.cli(&["account", "approve", "--account", &email]);
    let mut authenticator = browser.enrol(&email).await;
    assert!(browser.get("/").await.text().contains("id=\"available\">R$ 0,00"));
    let fields = [("name", "caixa"), ("scope", "balance:read"), ("scope", "charges:read"), ("days", "")];
    let made = browser.confirm("/keys/new", &fields, &mut authenticator).await;
    let key = between(&made, "id=\"key\">", "<");
    let shop = Shop::new(node.base(), email.clone(), key.clone());
    assert_eq!(shop.get("/balance").await.status, 200);
    assert_eq!(shop.get("/payouts").await.status, 403, "only the chosen scopes");
    let prefix = key.split('_').nth(1).unwrap();
    browser.confirm(&format!("/keys/{prefix}/revoke"), &[], &mut authenticator).await;
    assert_eq!(shop.get("/balance").await.status, 401, "at once on this node");
    let rows = node.cli(&["audit", "list", "--account", &email, "--by", &email]);
    let rows = rows.get("data").unwrap().as_array().unwrap();
    let actions: Vec<&str> = rows.iter().map(|row| text(row, "action")).collect();
    assert_eq!(actions, ["key.revoke", "key.create", "user.enrol_totp", "account.create"]);
}

async fn operator_logs_in_with_a_link(engine: Engine) {
    let node = shared(engine).await;
    let email = format!("{}@cais.example", unique("ops"));
    let made = node.cli(&["operator", "create", "--email", &email]);
    assert_eq!(text(&made, "email"), email);
    let link = text(&made, "one_time_url").strip_prefix(&node.base()).unwrap().to_owned();
    let mut browser = Browser::new(&node);
    assert_eq!(browser.get(&link).await.status, 200);
    let set = browser.post(&link, &[("password", PASSWORD)]).await;
    assert_eq!(set.header("location"), Some("/login?password-set"), "{}", set.text());
    browser.enrol(&email).await;
    assert_eq!(browser.get("/").await.status, 200);
    assert_eq!(browser.get("/keys").await.status, 404);
    // A new link ends the session when it is used.
    let again = node.cli(&["login-link", "--email", &email]);
    let again = text(&again, "one_time_url").strip_prefix(&node.base()).unwrap().to_owned();
    let mut other = Browser::new(&node);
    other.get(&again).await;
    assert_eq!(other.post(&again, &[("password", "another long password")]).await.status, 303);
    assert_eq!(browser.get("/").await.header("location"), Some("/login"));
}

async fn payment_page_shows_a_payment_of_the_sandbox(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let made = shop.create(r#"{"amount":12.34,"description":"Two coffees"}"#).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = text(&made.json(), "id").to_owned();
    let page = shop.get(&format!("/charges/{id}/payment-page")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let page = text(&page.json(), "url").strip_prefix(&node.base()).unwrap().to_owned();
    let mut payer = Browser::new(&node);
    let open = payer.get(&page).await;
    for part in ["R$ 12,34", "Two coffees", "data:image/png", "data-until="] {
        assert!(open.text().contains(part), "{part}: {}", open.text());
    }
    assert!(!open.text().contains(&id), "{}", open.text());
    let image = Reply::of(payer.client.get(format!("{}{page}/qr.png", payer.base))).await;
    assert_eq!((image.status, image.header("content-type")), (200, Some("image/png")));
    let live = format!("{page}/live?was=open");
    assert_eq!(payer.get(&live).await.status, 204);
    let paid = shop.pay(&id, None).await;
    assert_eq!(paid.status, 200, "{}", paid.text());
    let changed = payer.get(&live).await;
    assert_eq!((changed.status, changed.header("hx-refresh")), (200, Some("true")));
    let after = payer.get(&page).await;
    assert!(after.text().contains("Pagamento recebido"), "{}", after.text());
    assert!(!after.text().contains("data:image"), "{}", after.text());
    assert_eq!(payer.get(&format!("{page}/qr.png")).await.status, 404);
    assert!(payer.cookies.is_empty(), "no session and no cookie");
    // The button of the page itself.
    let id = shop.charge_id("2.00").await;
    let page = shop.get(&format!("/charges/{id}/payment-page")).await;
    let page = text(&page.json(), "url").strip_prefix(&node.base()).unwrap().to_owned();
    assert_eq!(payer.post(&format!("{page}/pay"), &[]).await.header("location"), Some(page.as_str()));
    assert_eq!(text(&shop.get(&format!("/charges/{id}")).await.json(), "status"), "paid");
}
