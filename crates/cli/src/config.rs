//! `cais config`: check, print and document the configuration.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::context::{CliContext, Problem, Setting, Warning};
use crate::output::{Output, print_line, table};

/// The operations on the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every mistake, and every probable slip of a configuration that can be loaded; exit with 1 if there is a mistake
    Check,
    /// Print every value in force and its source, secrets masked
    Print,
    /// Print the page that documents every key
    Docs,
}

/// Runs the command.
///
/// # Errors
/// For `print`: the mistakes of the configuration.
pub fn run(context: &dyn CliContext, command: &ConfigCommand, output: Output) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Check => return check(context, output),
        ConfigCommand::Print => print(&context.settings()?, output)?,
        ConfigCommand::Docs => print_line(&context.settings_page())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(context: &dyn CliContext, output: Output) -> anyhow::Result<ExitCode> {
    let (mistakes, warnings) = context.check_configuration();
    if output.json {
        let problems = mistakes.as_ref().map(|mistakes| context.problems(mistakes)).unwrap_or_default();
        let problems: Vec<Value> = problems.iter().map(problem_as_json).collect();
        let warnings: Vec<Value> = warnings
            .iter()
            .map(|Warning { name, key, problem }| json!({ "warning": name, "key": key, "problem": problem }))
            .collect();
        print_line(&json!({ "ok": mistakes.is_none(), "problems": problems, "warnings": warnings }).to_string())?;
    } else {
        for Warning { name, key, problem } in &warnings {
            eprintln!("cais: warning {name}: {key} {problem}");
        }
        match &mistakes {
            Some(mistakes) => eprintln!("cais: {mistakes}"),
            None => print_line("The configuration has no mistakes.")?,
        }
    }
    Ok(if mistakes.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns a mistake as JSON, for `config check` and for the report of a failed command.
pub fn problem_as_json(Problem { key, problem, origin }: &Problem) -> Value {
    json!({ "key": key, "problem": problem, "origin": origin })
}

fn print(settings: &[Setting], output: Output) -> anyhow::Result<()> {
    let value: Map<String, Value> = settings
        .iter()
        .map(|setting| (setting.key.clone(), json!({ "value": typed(setting), "origin": setting.origin })))
        .collect();
    output.print(&Value::Object(value), || {
        let row = |Setting { key, value, origin, .. }: &Setting| vec![key.clone(), value.clone(), origin.clone()];
        table(&["KEY", "VALUE", "FROM"], &settings.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(())
}

/// Returns the JSON value of a setting: a number, a boolean, or otherwise a text.
fn typed(setting: &Setting) -> Value {
    let literal = setting.is_literal.then(|| serde_json::from_str(&setting.value).ok()).flatten();
    literal.unwrap_or_else(|| Value::String(setting.value.clone()))
}
