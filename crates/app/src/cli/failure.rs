//! The report of a failed command on standard error: a line for people, one JSON object for programs.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::output::Output;
use crate::config::Problems;
use crate::logging;

/// The exit code of a mistake in the command line.
const USAGE: u8 = 2;

/// Prints the cause of a failure, and returns the exit code 1.
pub fn report(error: &anyhow::Error, output: Output) -> ExitCode {
    if output.json {
        eprintln!("{}", as_json(error));
    } else {
        eprintln!("cais: {}", logging::chain(error.as_ref()));
    }
    ExitCode::FAILURE
}

/// Prints a mistake in the command line and returns the exit code 2, or prints the requested help and returns 0.
pub fn usage(mistake: &clap::Error) -> ExitCode {
    // The command line could not be parsed, so the option is searched for by its name.
    let json = std::env::args_os().any(|argument| argument == "--json");
    if json && mistake.use_stderr() {
        let text = mistake.render().to_string();
        let message = text.trim().trim_start_matches("error: ");
        eprintln!("{}", json!({ "error": { "code": "usage", "message": message } }));
        return ExitCode::from(USAGE);
    }
    // A closed standard output or error is no failure.
    let _printed = mistake.print();
    ExitCode::from(if mistake.use_stderr() { USAGE } else { 0 })
}

fn as_json(error: &anyhow::Error) -> Value {
    let message = logging::chain(error.as_ref());
    let Some(Problems(problems)) = error.downcast_ref() else {
        return json!({ "error": { "code": "failed", "message": message } });
    };
    let problems: Vec<Value> = problems.iter().map(super::config::problem_as_json).collect();
    json!({ "error": { "code": "configuration", "message": message, "problems": problems } })
}
