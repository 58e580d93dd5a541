//! `cais listen`: forwards new events of an account to a receiver, usually on this machine, signed like webhooks.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use cais_domain::event::EventType;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_http_api::causes::chain;
use cais_ports::{AttemptError, Sent, SigningSecret};
use cais_webhooks::{Relay, RelayError, RelayedEvent, parse_secret};
use clap::Args;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use crate::context::CliContext;
use crate::output::{Output, fields, print_while_read};
use crate::secret::{self, API_KEY_VARIABLE, STANDARD_INPUT, WEBHOOK_SECRET_VARIABLE};
use crate::signals::Signals;

/// Pause after a read without new events. One read per second uses a tenth of an API key's default rate limit.
const EVERY: Duration = Duration::from_secs(1);
/// Longest pause after a failed read. Each failure doubles the pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The arguments of `cais listen`.
#[derive(Debug, Args)]
pub struct ListenArgs {
    /// Receiver of the events: a URL such as `http://127.0.0.1:3000/hooks`, `localhost:3000/hooks`, or a port of this machine.
    /// Unlike a webhook endpoint, the receiver may have a private address and use plain http
    #[arg(long, value_name = "URL", value_parser = receiver)]
    forward_to: WebhookUrl,
    /// File with an API key of the scope events:read, or `-` for standard input; by default the key in `CAIS_API_KEY`
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Address of the service whose events are read; by default the service that runs with this configuration
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Types of events to forward, separated by commas; by default all
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = event_type)]
    events: Vec<EventType>,
    /// File with the secret that signs the events. If the file does not exist, it is created with a new secret for this and later
    /// starts. Without this option the secret in `CAIS_WEBHOOK_SECRET` signs; without both, a new secret for this start only
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// Parses the receiver. A bare number is a port of this machine. An address without a scheme is called over plain http.
fn receiver(text: &str) -> Result<WebhookUrl, String> {
    let is_port = text.parse::<u16>().is_ok();
    let url = match text.split_once("://") {
        None if text.is_empty() => return Err("must not be empty".to_owned()),
        None if is_port => format!("http://localhost:{text}"),
        None => format!("http://{text}"),
        Some(("http" | "https", _)) => text.to_owned(),
        Some((scheme, _)) => return Err(format!("must be an http or https URL, not {scheme}")),
    };
    WebhookUrl::parse(&url).map_err(|error| error.to_string())
}

fn event_type(name: &str) -> Result<EventType, String> {
    let known = || EventType::ALL.map(EventType::as_str).join(", ");
    EventType::parse(name.trim()).ok_or_else(|| format!("must be one of {}", known()))
}

/// Forwards new events until a signal arrives or standard output has no reader.
///
/// # Errors
/// The API key is missing or may not read events, the secret cannot be read or created, the address is malformed, or the first request
/// fails. A later failed request ends the command only if a retry cannot succeed.
pub async fn run(context: &dyn CliContext, args: ListenArgs, output: Output) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let key = secret::read(args.key_file.as_deref(), API_KEY_VARIABLE)?;
    let key = key.with_context(|| format!("an API key is needed: --key-file, or {API_KEY_VARIABLE}"))?;
    let base_url = match &args.base_url {
        Some(url) => url.clone(),
        None => format!("http://{}", context.service_address()?),
    };
    let secret = signing_secret(args.secret_file.as_deref())?;
    let relay = Relay::new(&base_url, key.expose().trim())?;
    let listening = Listening { context, relay, args, secret, output };
    tokio::select! {
        ended = listening.run(&base_url) => ended,
        () = signals.received() => Ok(ExitCode::SUCCESS),
    }
}

/// Returns the secret of the file or of the environment, otherwise a new secret. If `file` does not exist, it is created with a new secret.
fn signing_secret(file: Option<&Path>) -> anyhow::Result<SigningSecret> {
    let missing = file.filter(|file| *file != Path::new(STANDARD_INPUT) && !file.exists());
    if let Some(file) = missing {
        let secret = new_secret()?;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        let written = made.and_then(|mut made| writeln!(made, "{}", secret.reveal()));
        written.with_context(|| format!("the secret file {} cannot be created", file.display()))?;
        return Ok(secret);
    }
    match secret::read(file, WEBHOOK_SECRET_VARIABLE)? {
        Some(text) => Ok(parse_secret(text.expose().trim())?),
        None => new_secret(),
    }
}

fn new_secret() -> anyhow::Result<SigningSecret> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    ensure!(filled.is_ok(), "the system provides no secure random bytes for a secret");
    Ok(SigningSecret(bytes))
}

struct Listening<'a> {
    context: &'a dyn CliContext,
    relay: Relay,
    args: ListenArgs,
    secret: SigningSecret,
    output: Output,
}

impl Listening<'_> {
    async fn run(&self, base_url: &str) -> anyhow::Result<ExitCode> {
        let mut last = self.relay.last_sequence().await?;
        self.begin(base_url, last)?;
        let (mut pause, mut failing) = (EVERY, false);
        loop {
            match self.relay.next_events(last).await {
                Ok(events) => {
                    if std::mem::take(&mut failing) {
                        eprintln!("cais: the service responds again");
                    }
                    pause = EVERY;
                    let nothing = events.is_empty();
                    for event in events {
                        last = event.sequence;
                        if !self.forward(&event).await? {
                            return Ok(ExitCode::SUCCESS);
                        }
                    }
                    if !nothing {
                        continue;
                    }
                }
                Err(error) if is_final(&error) => return Err(error.into()),
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        eprintln!("cais: {}; the request is repeated", chain(&error));
                    }
                    pause = pause.saturating_mul(2).min(MAX_PAUSE);
                }
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn begin(&self, base_url: &str, last: i64) -> anyhow::Result<()> {
        let (to, secret) = (self.args.forward_to.as_str(), self.secret.reveal());
        let value = json!({ "forward_to": to, "base_url": base_url, "secret": secret, "after_sequence": last });
        self.output.print(&value, || {
            let rows = [("from", base_url.to_owned()), ("to", to.to_owned()), ("secret", secret.clone())];
            format!("Forwarding new events; Ctrl-C ends the command.\n\n{}\n", fields(&rows))
        })?;
        Ok(())
    }

    /// Forwards an event if its type is selected, and prints the result. A failed attempt is not repeated. Returns `false`
    /// if standard output has no reader any more.
    async fn forward(&self, event: &RelayedEvent) -> anyhow::Result<bool> {
        let selected = &self.args.events;
        if !selected.is_empty() && !selected.iter().any(|kind| kind.as_str() == event.kind) {
            return Ok(true);
        }
        let sent = self.relay.forward(&self.args.forward_to, &self.secret, event, self.context.now()).await;
        Ok(print_while_read(&if self.output.json {
            as_json(event, &sent).to_string()
        } else {
            for_people(event, &sent)
        })?)
    }
}

/// Returns `true` if a retry cannot succeed, for example because the API key or the address is wrong.
fn is_final(error: &RelayError) -> bool {
    match error {
        RelayError::Refused { status, .. } => matches!(status, 400..=499) && *status != 429,
        RelayError::BaseUrl | RelayError::Key | RelayError::Setup(_) => true,
        RelayError::Unreachable(_) | RelayError::Unreadable(_) => false,
    }
}

fn as_json(event: &RelayedEvent, sent: &Sent) -> Value {
    json!({
        "sequence": event.sequence,
        "id": event.id.to_string(),
        "type": event.kind,
        "status_code": sent.status_code,
        "error": sent.error.map(AttemptError::as_str),
        "duration_ms": sent.duration_ms,
    })
}

fn for_people(event: &RelayedEvent, sent: &Sent) -> String {
    let status = sent.status_code.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let error = sent.error.map(|error| format!("  {}", error.as_str())).unwrap_or_default();
    format!("{:>6}  {:<26}  {}  → {status} in {} ms{error}", event.sequence, event.kind, event.id, sent.duration_ms)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::ids::EventId;

    use super::*;

    fn event() -> RelayedEvent {
        let id = EventId::parse("evt_01h455vb4pex5vsknk084sn02x").unwrap();
        RelayedEvent { sequence: 7, id, kind: "charge.paid".to_owned(), body: b"{}".to_vec() }
    }

    fn sent(status_code: Option<u16>, error: Option<AttemptError>) -> Sent {
        Sent { status_code, error, retry_after: None, response_body: None, duration_ms: 12 }
    }

    #[test]
    fn event_is_printed_on_one_line() {
        assert_eq!(
            for_people(&event(), &sent(Some(200), None)),
            "     7  charge.paid                 evt_01h455vb4pex5vsknk084sn02x  → 200 in 12 ms"
        );
        assert!(
            for_people(&event(), &sent(None, Some(AttemptError::ConnectionFailed)))
                .ends_with("→ - in 12 ms  connection_failed")
        );
        let value = as_json(&event(), &sent(Some(500), Some(AttemptError::Refused)));
        assert_eq!((value.get("status_code"), value.get("error")), (Some(&json!(500)), Some(&json!("status_not_2xx"))));
    }

    #[test]
    fn temporary_errors_are_retried_and_final_ones_end() {
        let refused = |status| is_final(&RelayError::Refused { status, message: String::new() });
        assert!(refused(401) && refused(403) && refused(404));
        assert!(!refused(429) && !refused(500) && !refused(503));
        assert!(is_final(&RelayError::BaseUrl));
        assert!(!is_final(&RelayError::Unreadable(String::new())));
    }

    #[test]
    fn receiver_may_be_a_port_or_lack_its_scheme() {
        for (text, url) in [
            ("3000", "http://localhost:3000"),
            ("localhost:3000", "http://localhost:3000"),
            ("127.0.0.1:3000/hooks", "http://127.0.0.1:3000/hooks"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://shop.example/hooks", "https://shop.example/hooks"),
        ] {
            assert_eq!(receiver(text).unwrap().as_str(), url, "{text}");
        }
        for text in ["", "ftp://localhost", "file:///etc/passwd"] {
            assert!(receiver(text).is_err(), "{text}");
        }
    }

    #[test]
    fn new_secrets_differ() {
        assert_ne!(new_secret().unwrap(), new_secret().unwrap());
    }

    #[test]
    fn new_secret_is_saved_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("listen.secret");
        let made = signing_secret(Some(&file)).unwrap();
        assert_eq!(signing_secret(Some(&file)).unwrap(), made);
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
}
