//! `cais webhook`: tools for the developer of a program that receives webhooks.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use cais_ports::SigningSecret;
use cais_webhooks::{Received, TOLERANCE, parse_secret, verify};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::context::CliContext;
use crate::output::Output;
use crate::secret::{self, STANDARD_INPUT, WEBHOOK_SECRET_VARIABLE};

/// Largest accepted body, in bytes. A usual body has a few KiB.
const MAX_BODY_BYTES: u64 = 16 * 1024 * 1024;

/// The operations on webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Check the signature and the time of a webhook; exit with 1 if the webhook must not be trusted
    Verify(VerifyArgs),
}

/// The parts of a webhook as they arrived, and the secret.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// File with the endpoint's secret, which begins with `whsec_`, or `-` for standard input; by default the secret in
    /// `CAIS_WEBHOOK_SECRET`. After a rotation the file may have both secrets, one per line
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Value of the header `webhook-id`
    #[arg(long)]
    id: String,
    /// Value of the header `webhook-timestamp`
    #[arg(long, allow_hyphen_values = true)]
    timestamp: String,
    /// Value of the header `webhook-signature`
    #[arg(long)]
    signature: String,
    /// Accept any timestamp; by default the timestamp must be within five minutes of the present time
    #[arg(long)]
    any_age: bool,
    /// File with the body, byte for byte as it arrived, or `-` for standard input, which is the default
    #[arg(default_value = STANDARD_INPUT, hide_default_value = true)]
    body: PathBuf,
}

/// Checks the webhook and prints the result.
///
/// # Errors
/// The secret is missing or malformed, or the body cannot be read.
pub fn run(context: &dyn CliContext, command: WebhookCommand, output: Output) -> anyhow::Result<ExitCode> {
    let WebhookCommand::Verify(args) = command;
    let both = args.secret_file.as_deref() == Some(Path::new(STANDARD_INPUT)) && args.body == Path::new(STANDARD_INPUT);
    ensure!(!both, "standard input cannot be both the secret and the body: name the file with the body");
    let given = secret::read(args.secret_file.as_deref(), WEBHOOK_SECRET_VARIABLE)?;
    let given = given.with_context(|| format!("a secret is needed: --secret-file, or {WEBHOOK_SECRET_VARIABLE}"))?;
    let secrets: Vec<SigningSecret> = given.expose().split_whitespace().map(parse_secret).collect::<Result<_, _>>()?;
    let body = read(&args.body)?;
    let problem = find_problem(&args, &secrets, &body, context.now());
    let value = json!({ "ok": problem.is_none(), "problem": problem });
    output.print(&value, || match &problem {
        None => "The signature is valid.".to_owned(),
        Some(problem) => format!("The webhook must not be trusted: {problem}."),
    })?;
    Ok(if problem.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the reason to reject the webhook; `None` if the webhook is valid.
fn find_problem(args: &VerifyArgs, secrets: &[SigningSecret], body: &[u8], now: Timestamp) -> Option<String> {
    let VerifyArgs { id, timestamp, signature, any_age, .. } = args;
    let received = Received { id, timestamp, signature, body };
    let tolerance = if *any_age { SignedDuration::MAX } else { TOLERANCE };
    verify(secrets, &received, now, tolerance).err().map(|error| error.to_string())
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let limit = MAX_BODY_BYTES.saturating_add(1);
    if file == Path::new(STANDARD_INPUT) {
        std::io::stdin().take(limit).read_to_end(&mut body).context("the body cannot be read from standard input")?;
    } else {
        let opened = fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut body));
        opened.with_context(|| format!("{} cannot be read", file.display()))?;
    }
    let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
    ensure!(length <= MAX_BODY_BYTES, "the body has over {MAX_BODY_BYTES} bytes");
    Ok(body)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const AT_S: i64 = 1_760_000_000;

    fn args(body: &str, any_age: bool) -> VerifyArgs {
        let secret = parse_secret(SECRET).unwrap();
        VerifyArgs {
            secret_file: None,
            id: "evt_1".to_owned(),
            timestamp: AT_S.to_string(),
            signature: cais_webhooks::signatures(&[secret], "evt_1", AT_S, body.as_bytes()),
            any_age,
            body: STANDARD_INPUT.into(),
        }
    }

    fn problem_of(args: &VerifyArgs, body: &str, age_s: i64) -> Option<String> {
        let now = Timestamp::from_second(AT_S + age_s).unwrap();
        find_problem(args, &[parse_secret(SECRET).unwrap()], body.as_bytes(), now)
    }

    #[test]
    fn webhook_signed_recently_is_accepted() {
        assert_eq!(problem_of(&args("{}", false), "{}", 10), None);
        assert_eq!(problem_of(&args("{}", false), "{} ", 10).unwrap(), "no signature matches");
        assert_eq!(problem_of(&args("{}", false), "{}", 301).unwrap(), "the timestamp is too old");
        assert_eq!(problem_of(&args("{}", true), "{}", 90 * 86_400), None);
        assert_eq!(problem_of(&args("{}", true), "{}", -90 * 86_400), None);
    }
}
