//! A headless Chromium with a profile of its own, driven over `WebDriver` (<https://www.w3.org/TR/webdriver2/>).
//!
//! The client is our own, because tests need only twelve calls. Of the published clients, `fantoccini` depends on a crate under the MPL,
//! which `deny.toml` does not allow. `thirtyfour` turns on `serde_json/preserve_order`, which would change the JSON of the whole workspace.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::process::{Folder, Watchdog, wait_for};
use crate::server::client;

/// The longest wait for the driver, for an element, or for a condition. Long enough for a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The pause between two searches of an element, or between two runs of a condition's script.
const RETRY_PAUSE: Duration = Duration::from_millis(25);
/// The text before the port in the driver's log.
const STARTED: &str = "started successfully on port ";
/// The JSON member that contains an element's id, fixed by the standard.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The driver's errors of a page that is still loading. A later attempt can succeed.
const PASSING: [&str; 4] =
    ["no such element", "stale element reference", "element not interactable", "element click intercepted"];
/// The height of the window in pixels.
const HEIGHT: u32 = 900;

/// A running browser. The browser ends when this value is dropped, or when the test process ends.
pub struct Chromium {
    driver: Child,
    watchdog: Option<Watchdog>,
    client: reqwest::Client,
    session: String,
    // The last field: the folder is removed after the processes have ended.
    _folder: Folder,
}

/// The driver's answer to a call that it refused.
struct Refusal {
    error: String,
    message: String,
}

impl Chromium {
    /// Starts a browser.
    ///
    /// # Errors
    /// If Chromium or its driver is not installed, or does not start.
    pub async fn start() -> Result<Self> {
        let folder = Folder::new("cais-browser-")?;
        let (log, profile) = (folder.path().join("driver.log"), folder.path().join("profile"));
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("TMPDIR", folder.path()).env("HOME", folder.path()).stdin(Stdio::null());
        // The driver and its browser are one process group, so that both end together.
        command.stdout(File::create(&log)?).stderr(Stdio::null()).process_group(0);
        let driver = command.spawn().context("cannot start chromedriver: run scripts/setup")?;
        let watchdog = Some(Watchdog::of_group(driver.id())?);
        let mut browser = Self { driver, watchdog, client: client()?, session: String::new(), _folder: folder };
        let port = wait_for("the start of chromedriver", DEADLINE, || {
            let text = fs::read_to_string(&log)?;
            Ok(text.split_once(STARTED).and_then(|(_, rest)| Some(rest.split_once('.')?.0.to_owned())))
        })?;
        let sessions = format!("http://127.0.0.1:{port}/session");
        let arguments = [
            "--headless=new",
            // Chromium's sandbox does not run as root, and the pages are ours.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--no-proxy-server",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"args": arguments},
        }}});
        let created = browser.send(&sessions, Some(&wanted)).await?;
        let created = created.map_err(|refusal| anyhow::anyhow!("no browser session: {}", refusal.message))?;
        let id = created.get("sessionId").and_then(Value::as_str).context("a session without an id")?;
        browser.session = format!("{sessions}/{id}");
        Ok(browser)
    }

    /// Opens a page and waits until it is loaded.
    ///
    /// # Errors
    /// If there is no such page.
    pub async fn open(&self, url: &str) -> Result<()> {
        self.call("/url", Some(json!({ "url": url }))).await.map(drop)
    }

    /// Returns the URL of the page.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn url(&self) -> Result<String> {
        Ok(self.call("/url", None).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Waits for an element and clicks it. If the click loads a page, waits for that page too.
    ///
    /// # Errors
    /// If there is no such element within [`DEADLINE`].
    pub async fn click(&self, css: &str) -> Result<()> {
        self.on_element(css, "/click", Some(json!({}))).await.map(drop)
    }

    /// Waits for a field and replaces its text.
    ///
    /// # Errors
    /// The errors of [`Self::click`].
    pub async fn fill(&self, css: &str, text: &str) -> Result<()> {
        self.on_element(css, "/clear", Some(json!({}))).await?;
        self.on_element(css, "/value", Some(json!({ "text": text }))).await.map(drop)
    }

    /// Waits for an element and returns its visible text.
    ///
    /// # Errors
    /// The errors of [`Self::click`].
    pub async fn text(&self, css: &str) -> Result<String> {
        Ok(self.on_element(css, "/text", None).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script and returns the value of its `return`.
    ///
    /// # Errors
    /// If the script throws.
    pub async fn run(&self, script: &str) -> Result<Value> {
        self.call("/execute/sync", Some(json!({ "script": script, "args": [] }))).await
    }

    /// Runs a script and returns the value that the script passes to its last argument, a callback function.
    ///
    /// # Errors
    /// If the script throws or exceeds the time limit.
    pub async fn run_async(&self, script: &str) -> Result<Value> {
        self.call("/execute/async", Some(json!({ "script": script, "args": [] }))).await
    }

    /// Waits until a script returns `true`.
    ///
    /// # Errors
    /// If that does not happen within [`DEADLINE`].
    pub async fn wait_until(&self, script: &str) -> Result<()> {
        let begun = Instant::now();
        while self.run(script).await? != true {
            if begun.elapsed() > DEADLINE {
                bail!("`{script}` is not true after {DEADLINE:?} on {}", self.url().await?);
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        Ok(())
    }

    /// Returns the warnings and errors of the console since the last call: script errors, failed loads, and violations of the content
    /// policy.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn console(&self) -> Result<Vec<String>> {
        let lines = self.call("/se/log", Some(json!({ "type": "browser" }))).await?;
        let lines = lines.as_array().cloned().unwrap_or_default();
        let is_bad = |line: &&Value| line.get("level").is_some_and(|level| level == "SEVERE" || level == "WARNING");
        let text = |line: &Value| line.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(lines.iter().filter(is_bad).map(text).collect())
    }

    /// Sets the width of the window in pixels of the page.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn set_width(&self, width: u32) -> Result<()> {
        let metrics = json!({ "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
    }

    /// Sets the theme that the user prefers: `light` or `dark`.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn set_theme(&self, theme: &str) -> Result<()> {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.command("Emulation.setEmulatedMedia", features).await.map(drop)
    }

    /// Delays each response to the browser by this time.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn set_latency(&self, latency: Duration) -> Result<()> {
        let delay = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        let network = json!({
            "offline": false, "latency": delay, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.command("Network.emulateNetworkConditions", network).await.map(drop)
    }

    /// Returns the whole page as a PNG image in base64.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn screenshot(&self) -> Result<String> {
        let image = self.command("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await?;
        Ok(image.get("data").and_then(Value::as_str).context("no image")?.to_owned())
    }

    /// Runs a command of the `DevTools` protocol, for settings that `WebDriver` does not have.
    async fn command(&self, name: &str, parameters: Value) -> Result<Value> {
        self.call("/goog/cdp/execute", Some(json!({ "cmd": name, "params": parameters }))).await
    }

    /// Calls `path` on the first element that a selector matches. Repeats the call until the element exists and the call succeeds.
    async fn on_element(&self, css: &str, path: &str, body: Option<Value>) -> Result<Value> {
        let begun = Instant::now();
        loop {
            let refusal = match self.try_on_element(css, path, body.as_ref()).await? {
                Ok(value) => return Ok(value),
                Err(refusal) => refusal,
            };
            if !PASSING.contains(&refusal.error.as_str()) || begun.elapsed() > DEADLINE {
                bail!("{path} on `{css}` of {}: {}: {}", self.url().await?, refusal.error, refusal.message);
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    async fn try_on_element(&self, css: &str, path: &str, body: Option<&Value>) -> Result<Result<Value, Refusal>> {
        let search = json!({ "using": "css selector", "value": css });
        let found = match self.send(&format!("{}/element", self.session), Some(&search)).await? {
            Ok(found) => found,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let id = found.get(ELEMENT).and_then(Value::as_str).context("an element without an id")?;
        self.send(&format!("{}/element/{id}{path}", self.session), body).await
    }

    async fn call(&self, path: &str, body: Option<Value>) -> Result<Value> {
        let answer = self.send(&format!("{}{path}", self.session), body.as_ref()).await?;
        answer.map_err(|refusal| anyhow::anyhow!("{path}: {}: {}", refusal.error, refusal.message))
    }

    /// Sends a POST with `body`, or a GET if `body` is `None`. Returns the member `value` of the answer.
    async fn send(&self, url: &str, body: Option<&Value>) -> Result<Result<Value, Refusal>> {
        let request = match body {
            Some(body) => self.client.post(url).json(body),
            None => self.client.get(url),
        };
        let mut answer: Value = request.send().await?.json().await?;
        let value = answer.get_mut("value").map(Value::take).context("an answer without a value")?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(match (text("error"), text("message")) {
            (Some(error), Some(message)) => Err(Refusal { error, message }),
            _ => Ok(value),
        })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Dropping the watchdog closes its standard input. The watchdog then kills the process group.
        drop(self.watchdog.take());
        drop(self.driver.wait());
    }
}
