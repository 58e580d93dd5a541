//! The report of a failed command on standard error: a line for people, one JSON object for programs.

use std::process::ExitCode;

use cais_http_api::causes::chain;
use serde_json::{Value, json};

use crate::config::problem_as_json;
use crate::context::Problem;
use crate::output::Output;

/// The exit code of a mistake in the command line.
const USAGE: u8 = 2;

/// Prints the cause of a failure, and returns the exit code 1. `problems` are the mistakes in the configuration that caused the failure;
/// empty for any other cause.
pub fn report(error: &anyhow::Error, problems: &[Problem], output: Output) -> ExitCode {
    let message = chain(error.as_ref());
    if output.json {
        eprintln!("{}", as_json(&message, problems));
    } else {
        eprintln!("cais: {message}");
    }
    ExitCode::FAILURE
}

/// Prints a mistake in the command line and returns the exit code 2, or prints the requested help and returns 0.
pub fn usage(mistake: &clap::Error) -> ExitCode {
    // The command line could not be parsed, so `--json` is searched for among its words.
    let json = std::env::args_os().any(|argument| argument == "--json");
    if json && mistake.use_stderr() {
        let text = mistake.render().to_string();
        let message = text.trim().trim_start_matches("error: ");
        eprintln!("{}", json!({ "error": { "code": "usage", "message": message } }));
        return ExitCode::from(USAGE);
    }
    // A closed standard output or standard error is not reported.
    let _printed = mistake.print();
    ExitCode::from(if mistake.use_stderr() { USAGE } else { 0 })
}

fn as_json(message: &str, problems: &[Problem]) -> Value {
    if problems.is_empty() {
        return json!({ "error": { "code": "failed", "message": message } });
    }
    let problems: Vec<Value> = problems.iter().map(problem_as_json).collect();
    json!({ "error": { "code": "configuration", "message": message, "problems": problems } })
}
