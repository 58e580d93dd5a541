//! `cais config`: check, print and document the configuration.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::output::{Output, say, table};
use crate::config::warnings::{Warning, warnings};
use crate::config::{Config, Effective, Problem, Problems, Sources, data_dir_problem, docs};
use crate::wiring;

/// The operations on the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every mistake and every probable slip; exit with 1 when there is a mistake
    Check,
    /// Print every value in force and its source, secrets masked
    Print,
    /// Print the page that documents every key
    Docs,
}

/// Runs the command.
///
/// # Errors
/// The mistakes of the configuration, for `print`.
pub fn run(command: &ConfigCommand, sources: &Sources, output: Output) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Check => check(sources, output),
        ConfigCommand::Print => {
            print(&Config::load(sources)?, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Docs => {
            say(&docs::markdown())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(sources: &Sources, output: Output) -> anyhow::Result<ExitCode> {
    // Certificates are read too, so that every reason for `serve` to fail is listed here.
    let mut found = Vec::new();
    let mut problems = match Config::load(sources) {
        Ok(config) => {
            found = warnings(&config);
            let files = wiring::configured_acquirers(&config).err();
            config.world().err().into_iter().chain(files.into_iter().flat_map(|Problems(problems)| problems)).collect()
        }
        Err(Problems(problems)) => problems,
    };
    problems.extend(data_dir_problem(sources));
    problems.sort_by(|one, other| one.key.cmp(&other.key));
    let listed: Vec<Value> = found
        .iter()
        .map(|warning| json!({ "warning": warning.kind.as_str(), "key": warning.key, "problem": warning.what }))
        .collect();
    if !output.json {
        for Warning { kind, key, what } in &found {
            eprintln!("cais: warning {}: {key} {what}", kind.as_str());
        }
    }
    if problems.is_empty() {
        let value = json!({ "ok": true, "problems": [], "warnings": listed });
        output.print(&value, || "The configuration has no mistakes.".to_owned())?;
        return Ok(ExitCode::SUCCESS);
    }
    if output.json {
        let problems: Vec<Value> = problems.iter().map(problem_as_json).collect();
        say(&json!({ "ok": false, "problems": problems, "warnings": listed }).to_string())?;
    } else {
        eprintln!("cais: {}", Problems(problems));
    }
    Ok(ExitCode::FAILURE)
}

/// Returns a mistake as `config check` and failures show it.
pub fn problem_as_json(problem: &Problem) -> Value {
    json!({ "key": problem.key, "problem": problem.what, "origin": problem.origin })
}

fn print(config: &Config, output: Output) -> anyhow::Result<()> {
    let entries = &config.effective;
    let value: Map<String, Value> = entries
        .iter()
        .map(|entry| (entry.key.clone(), json!({ "value": typed(entry), "origin": entry.origin })))
        .collect();
    output.print(&Value::Object(value), || {
        let rows: Vec<Vec<String>> =
            entries.iter().map(|entry| vec![entry.key.clone(), entry.value.clone(), entry.origin.clone()]).collect();
        table(&["KEY", "VALUE", "FROM"], &rows)
    })?;
    Ok(())
}

/// Returns a number as a number, a flag as a boolean, all else as text.
fn typed(entry: &Effective) -> Value {
    let literal = entry.is_literal.then(|| serde_json::from_str(&entry.value).ok()).flatten();
    literal.unwrap_or_else(|| Value::String(entry.value.clone()))
}
