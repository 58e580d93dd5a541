//! The output of the demonstration: headings, requests, responses.

use std::io::{self, IsTerminal};

use cais_webhooks::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};

use super::client::{Request, Response};
use super::pretty::pretty;
use super::receiver::Webhook;
use crate::output::print_line;

/// Indentation of JSON, in blanks.
const MARGIN: usize = 4;

/// The standard output of the demonstration.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// `true` on a terminal, unless `NO_COLOR` is set.
    pub colors: bool,
}

impl Screen {
    /// Returns the screen of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colors: io::stdout().is_terminal() && !refused }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Prints the heading of a step.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn heading(self, text: &str) -> io::Result<()> {
        print_line(&format!("\n{}", self.paint("1;36", text)))
    }

    /// Prints a sentence.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn line(text: &str) -> io::Result<()> {
        print_line(&format!("  {text}"))
    }

    /// Prints the result of a successful check.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn good(self, text: &str) -> io::Result<()> {
        print_line(&format!("  {} {text}", self.paint("32", "✓")))
    }

    /// Prints a request: the method, the path, the `Idempotency-Key` and the formatted body. The API key is not printed.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn request(self, request: &Request) -> io::Result<()> {
        let mut text =
            format!("  {} {}", self.paint("1", &format!("→ {}", request.method)), self.paint("1", &request.path));
        if let Some(key) = &request.idempotency_key {
            text.push_str("\n    ");
            text.push_str(&self.paint("2", &format!("Idempotency-Key: {key}")));
        }
        if let Some(body) = &request.body {
            text.push('\n');
            text.push_str(&pretty(body, MARGIN));
        }
        print_line(&text)
    }

    /// Prints a webhook: the headers of the signature, and the formatted body. Long data URLs are shortened.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn webhook(self, webhook: &Webhook) -> io::Result<()> {
        let mut text = format!("  {}", self.paint("1", "⇐ POST /hooks"));
        for name in [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER] {
            text.push_str("\n    ");
            text.push_str(&self.paint("2", &format!("{name}: {}", webhook.header(name))));
        }
        text.push('\n');
        text.push_str(&pretty(&String::from_utf8_lossy(&webhook.body), MARGIN));
        print_line(&text)
    }

    /// Prints a response: the status, `idempotent-replayed` if present, and the formatted body. Long data URLs are shortened.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn response(self, response: &Response) -> io::Result<()> {
        let color = if response.status < 400 { "1;32" } else { "1;31" };
        let mut text = format!("  {}", self.paint(color, &format!("← {}", response.status)));
        if let Some(replayed) = response.header("idempotent-replayed") {
            text.push_str(&self.paint("2", &format!("  idempotent-replayed: {replayed}")));
        }
        text.push('\n');
        text.push_str(&pretty(&String::from_utf8_lossy(&response.body), MARGIN));
        print_line(&text)
    }
}
