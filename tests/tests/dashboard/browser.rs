//! A user of the dashboard in Chromium, and the checks of every page that the user sees.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_domain::login::code::STEP_S;
use cais_testkit::authenticator::present_step;
use cais_testkit::{Authenticator, Chromium};
use reqwest::Method;
use serde_json::{Value, json};

use super::routes;
use crate::support::{Engine, Node, OPEN, Shop, own, unique};

/// The password of all users.
const PASSWORD: &str = "correct horse battery";
/// The folder that keeps screenshots of all checked pages. Unset: none are taken.
const SCREENSHOTS: &str = "CAIS_SCREENSHOTS";
/// The widths of the checked windows: a desktop and a small phone.
const WIDTHS: [u32; 2] = [1280, 390];
/// Reports each violation of WCAG that axe-core rates as serious or critical. Its source stands before.
const AXE: &str = "
    const done = arguments[arguments.length - 1];
    const grave = (violation) => ['serious', 'critical'].includes(violation.impact);
    const shown = (violation) => violation.id + ': ' + violation.nodes.map((node) => node.html).join(' | ');
    axe.run(document, { resultTypes: ['violations'], preload: false })
        .then((results) => done(results.violations.filter(grave).map(shown)), (error) => done(['axe failed: ' + error]));";

/// Returns the elements that stick out of a page which is wider than its window.
const OVERFLOWS: &str = "
    const width = window.innerWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > width);
    return ['page'].concat(wide.map((element) => element.outerHTML.slice(0, 120)));";

/// Reports each layout shift since the page was opened, after the page was drawn twice.
const SHIFTS: &str = "
    const done = arguments[arguments.length - 1];
    const found = [];
    const moved = (shift) => shift.sources.map((source) => source.node?.outerHTML?.slice(0, 120)).join(' | ');
    const add = (shifts) => found.push(...shifts.map((shift) => shift.value + ': ' + moved(shift)));
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    const report = () => { add(observer.takeRecords()); done(found); };
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(report)));";

/// A user in front of a browser, with a service of their own. The sandbox's clock is moved between codes, because each
/// code is accepted once.
pub struct User {
    pub node: Node,
    pub email: String,
    chromium: Chromium,
    /// A merchant whose key moves the clock.
    timekeeper: Shop,
    offset_s: i64,
    authenticator: Option<Authenticator>,
    language: &'static str,
    axe: String,
    /// The checked pages of the table of pages.
    checked: Mutex<BTreeSet<String>>,
}

/// Returns the value, or fails with the whole chain of the error.
#[track_caller]
fn done<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error:#}"))
}

impl User {
    /// Opens the dashboard of a new service in a language: `pt-BR` or `en`.
    pub async fn new(language: &'static str) -> Self {
        let node = own(Engine::Sqlite, &OPEN).await;
        let (timekeeper, chromium) = (node.shop(), done(Chromium::start().await));
        let file = client_folder("axe").join("node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let email = format!("{}@shop.example", unique("holder"));
        let (authenticator, checked) = (None, Mutex::default());
        let user = Self { node, email, chromium, timekeeper, offset_s: 0, authenticator, language, axe, checked };
        user.open("/login").await;
        if language == "en" {
            user.click("form[action='/language'] button").await;
        }
        user.wait_until(&format!("return document.documentElement.lang === '{language}'")).await;
        user
    }

    /// Opens a path of the dashboard.
    pub async fn open(&self, path: &str) {
        done(self.chromium.open(&format!("{}{path}", self.node.base())).await);
    }

    /// Opens a path at both widths and checks that nothing moves while the page loads. Then checks the page.
    pub async fn visit(&self, path: &str, name: &str) {
        for width in WIDTHS.into_iter().rev() {
            done(self.chromium.set_width(width).await);
            self.open(path).await;
            assert_eq!(self.path().await, path);
            assert_eq!(self.shifts().await, json!([]), "{name} moves at {width} px");
        }
        self.check(name).await;
    }

    /// Waits until the page of a path has loaded. A click returns before a slow answer.
    pub async fn arrive(&self, path: &str) {
        self.wait_until(&format!(
            "return document.readyState === 'complete' && location.pathname + location.search === '{path}'"
        ))
        .await;
    }

    /// Waits until a page has loaded whose path begins so. Returns the path.
    pub async fn arrive_below(&self, start: &str) -> String {
        let script = format!("return document.readyState === 'complete' && location.pathname.startsWith('{start}')");
        self.wait_until(&script).await;
        self.path().await
    }

    /// Returns the path of the page.
    pub async fn path(&self) -> String {
        let url = done(self.chromium.url().await);
        url.strip_prefix(&self.node.base()).unwrap_or(&url).to_owned()
    }

    /// Waits for an element and clicks it.
    pub async fn click(&self, css: &str) {
        done(self.chromium.click(css).await);
    }

    /// Waits for a field and replaces its text.
    pub async fn fill(&self, css: &str, text: &str) {
        done(self.chromium.fill(css, text).await);
    }

    /// Waits for an element and returns its visible text.
    pub async fn text(&self, css: &str) -> String {
        done(self.chromium.text(css).await)
    }

    /// Waits until a script returns `true`.
    pub async fn wait_until(&self, script: &str) {
        done(self.chromium.wait_until(script).await);
    }

    /// Delays each response to the browser by this time.
    pub async fn set_latency(&self, latency: Duration) {
        done(self.chromium.set_latency(latency).await);
    }

    /// Presses the button of the page's own form, below its heading.
    pub async fn submit(&self) {
        self.click("main form button").await;
    }

    /// Opens an account and logs in for the first time, with a check of each page.
    pub async fn sign_up(&mut self) {
        self.open("/signup").await;
        self.check("signup").await;
        self.fill("[name=name]", "Loja da Ana").await;
        self.fill("[name=document]", "123.456.789-09").await;
        self.fill("[name=email]", &self.email).await;
        self.fill("[name=password]", PASSWORD).await;
        self.submit().await;
        self.arrive("/login?signed-up").await;
        self.first_log_in().await;
    }

    /// Approves the account. Returns its API with a key for everything.
    pub fn approve(&self) -> Shop {
        self.node.cli(&["account", "approve", "--account", &self.email]);
        Shop::new(self.node.base(), self.email.clone(), self.node.key(&self.email, "all"))
    }

    /// Sets the password by a one-time link and logs in for the first time, with a check of each page.
    pub async fn follow(&mut self, link: &str) {
        self.open(link.strip_prefix(&self.node.base()).unwrap()).await;
        self.check("welcome").await;
        self.fill("[name=password]", PASSWORD).await;
        self.submit().await;
        self.arrive("/login?password-set").await;
        self.first_log_in().await;
    }

    /// Enters e-mail and password.
    pub async fn enter_password(&self) {
        self.check("login").await;
        self.fill("[name=email]", &self.email).await;
        self.fill("[name=password]", PASSWORD).await;
        self.submit().await;
    }

    async fn first_log_in(&mut self) {
        self.enter_password().await;
        self.arrive("/login/enrol").await;
        self.check("enrol").await;
        self.authenticator = Some(done(Authenticator::read(&self.text("#secret").await)));
        self.enter_code().await;
        self.check("recovery").await;
        self.click("main a.button").await;
        self.arrive("/").await;
    }

    /// Enters an unused code of the authenticator, and moves the clock if all present codes are used.
    pub async fn enter_code(&mut self) {
        self.fill_code().await;
        self.submit().await;
    }

    /// Fills the field of the code without sending the form: see [`Self::enter_code`].
    pub async fn fill_code(&mut self) {
        let present = present_step().0 + self.offset_s / STEP_S;
        let authenticator = self.authenticator.as_mut().unwrap();
        let step = authenticator.unused_step(present);
        let code = authenticator.code(step);
        if step > present {
            self.offset_s += (step - present) * STEP_S;
            let body = json!({ "offset_s": self.offset_s });
            self.timekeeper.send(Method::PUT, "/sandbox/clock", &body).await.expect(200);
        }
        self.fill("[name=code]", &code).await;
    }

    /// Confirms the action of the confirmation page with a code.
    pub async fn confirm(&mut self) {
        self.wait_until("return location.pathname.startsWith('/confirm/')").await;
        self.check("confirm").await;
        self.enter_code().await;
    }

    /// Opens all details of the page, and checks it in both themes and at both widths: no serious finding of axe-core, no sideways scrolling, and no
    /// line in the console. Takes screenshots if [`SCREENSHOTS`] is set.
    pub async fn check(&self, name: &str) {
        self.check_page(name).await;
        assert_eq!(self.console().await, Vec::<String>::new(), "console of {name}");
    }

    /// Checks the page of a failure, which the console names once for its status.
    pub async fn check_failure(&self, name: &str, status: u16) {
        self.check_page(name).await;
        let lines = self.console().await;
        assert!(lines.iter().all(|line| line.contains(&format!("status of {status}"))), "console of {name}: {lines:?}");
    }

    /// Fails if a page of the table was not checked.
    #[track_caller]
    pub fn assert_checked(&self, pages: &[&str]) {
        let checked = self.checked.lock().unwrap();
        let missing: Vec<&&str> = pages.iter().filter(|page| !checked.contains(**page)).collect();
        assert!(missing.is_empty(), "{missing:?} are missing in {checked:?}");
    }

    async fn check_page(&self, name: &str) {
        self.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })").await;
        let page = routes::page_of(&self.path().await);
        self.checked.lock().unwrap().extend(page);
        for theme in ["light", "dark"] {
            done(self.chromium.set_theme(theme).await);
            for width in WIDTHS {
                done(self.chromium.set_width(width).await);
                assert_eq!(self.overflows().await, json!([]), "{name} scrolls sideways at {width} px");
                self.take_screenshot(name, theme, width).await;
            }
            assert_eq!(self.violations().await, json!([]), "{name}, {theme}, {}", self.language);
        }
        done(self.chromium.set_width(WIDTHS[0]).await);
    }

    /// Returns the elements that make the page wider than its window.
    pub async fn overflows(&self) -> Value {
        done(self.chromium.run(OVERFLOWS).await)
    }

    /// Returns the layout shifts since the page was opened.
    pub async fn shifts(&self) -> Value {
        done(self.chromium.run_async(SHIFTS).await)
    }

    /// Returns the warnings and errors of the console since the last call.
    pub async fn console(&self) -> Vec<String> {
        done(self.chromium.console().await)
    }

    /// Returns the serious findings of axe-core.
    pub async fn violations(&self) -> Value {
        done(self.chromium.run_async(&format!("{}{AXE}", self.axe)).await)
    }

    /// Changes the page by a script.
    pub async fn run(&self, script: &str) {
        done(self.chromium.run(script).await);
    }

    async fn take_screenshot(&self, name: &str, theme: &str, width: u32) {
        let Some(folder) = std::env::var_os(SCREENSHOTS).map(PathBuf::from) else { return };
        std::fs::create_dir_all(&folder).unwrap();
        let image = STANDARD.decode(done(self.chromium.screenshot().await)).unwrap();
        let name = name.trim_matches('/').replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        std::fs::write(folder.join(format!("{name}.{}.{theme}.{width}.png", self.language)), image).unwrap();
    }
}

/// Returns a folder that `scripts/setup` filled.
fn client_folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let verifiers = std::env::var_os("CAIS_VERIFIERS").map_or_else(|| root.join("target/verifiers"), PathBuf::from);
    verifiers.join(name)
}

/// Returns a text member of what a command printed.
pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_else(|| panic!("no {field} in {value}"))
}
