//! An account's holder who uses the dashboard with a browser without scripts.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use cais_testkit::Authenticator;
use cais_testkit::authenticator::present_step;
use cais_testkit::server::{Http, Reply};
use http::Method;

use crate::service::{Service, email};

const PASSWORD: &str = "correct horse battery";

/// A browser with its cookies.
pub(super) struct Visitor {
    http: Http,
    origin: String,
    cookies: BTreeMap<String, String>,
    /// The hidden field `token` of the last page. Each form must contain this value.
    token: String,
}

impl Visitor {
    /// Sets the password of an account's holder by a one-time link, logs in, and sets up an authenticator.
    pub(super) async fn log_in(service: &Service, number: usize) -> Result<Self> {
        let origin = format!("http://{}", service.address()?);
        let (cookies, token) = (BTreeMap::new(), String::new());
        let mut visitor = Self { http: Http::to(&origin)?, origin, cookies, token };
        let link = service.login_link(number)?;
        let link = link.find("/welcome/").and_then(|start| link.get(start..)).context("the login link has no page")?;
        visitor.get(link).await?;
        visitor.post(link, &[("password", PASSWORD)]).await?;
        visitor.get("/login").await?;
        visitor.post("/login", &[("email", &email(number)), ("password", PASSWORD)]).await?;
        let page = visitor.get("/login/enrol").await?;
        let mut authenticator = Authenticator::read(between(&page, "id=\"secret\">")?)?;
        visitor.post("/login/enrol", &[("code", &authenticator.code(present_step().0))]).await?;
        visitor.get("/").await?;
        Ok(visitor)
    }

    /// Returns the bytes of a complete HTTP request for a page, with the session's cookies.
    pub(super) fn request(&self, path: &str) -> Vec<u8> {
        let (host, cookies) = (self.origin.trim_start_matches("http://"), self.cookie_header());
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookies}\r\n\r\n").into_bytes()
    }

    async fn get(&mut self, path: &str) -> Result<String> {
        let reply = self.send(Method::GET, path, String::new()).await?;
        let page = String::from_utf8_lossy(&reply.body).into_owned();
        ensure!(reply.status == 200, "GET {path}: {}: {page}", reply.status);
        between(&page, "name=\"token\" value=\"")?.clone_into(&mut self.token);
        Ok(page)
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<()> {
        let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let pairs = [("token", self.token.as_str())];
        let pairs = pairs.iter().chain(fields).map(|(name, value)| format!("{name}={}", escaped(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let reply = self.send(Method::POST, path, body).await?;
        let text = String::from_utf8_lossy(&reply.body);
        ensure!(reply.status == 200 || reply.status == 303, "POST {path}: {}: {text}", reply.status);
        Ok(())
    }

    async fn send(&mut self, method: Method, path: &str, body: String) -> Result<Reply> {
        let request = self.http.request(method, path).header("cookie", self.cookie_header());
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let reply = self.http.send(request.header("origin", &self.origin).body(body)).await?;
        for line in reply.headers.get_all("set-cookie") {
            let pair = line.to_str()?.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').context("a cookie has no value")?;
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        Ok(reply)
    }

    fn cookie_header(&self) -> String {
        self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the text after `before`, up to the next quote or tag.
fn between<'p>(page: &'p str, before: &str) -> Result<&'p str> {
    let (_, rest) = page.split_once(before).with_context(|| format!("no `{before}` in {page}"))?;
    rest.split(['"', '<']).next().context("no text")
}
