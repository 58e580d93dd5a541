//! `cais operator create` and `cais login-link`: one-time links to the dashboard.

use cais_ports::Actor;
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::logins::invite::{self, LinkToken};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::output::Output;

/// The commands of operators.
#[derive(Debug, Subcommand)]
pub enum OperatorCommand {
    /// Create an operator and print the link with which the person sets a password
    Create(EmailArg),
}

/// The user that an operator creates, or that a link is for.
#[derive(Debug, Args)]
pub struct EmailArg {
    /// E-mail of the user
    #[arg(long, value_name = "EMAIL", value_parser = AccountEmail::parse)]
    email: AccountEmail,
}

/// Creates an operator, and prints the link with which the person sets a password.
///
/// # Errors
/// The e-mail has a user already, the store fails, or standard output cannot be written.
pub async fn create_operator(
    ports: &Ports,
    operator: &Actor,
    base: &str,
    OperatorCommand::Create(user): OperatorCommand,
    output: Output,
) -> anyhow::Result<()> {
    let token = invite::create_operator(ports, operator, user.email.clone()).await?;
    print(&user.email, base, &token, output)
}

/// Creates and prints a link for the holder of an account or for an operator.
///
/// # Errors
/// Neither an account nor an operator has the e-mail, the store fails, or standard output cannot be written.
pub async fn login_link(
    ports: &Ports,
    operator: &Actor,
    base: &str,
    user: EmailArg,
    output: Output,
) -> anyhow::Result<()> {
    let token = invite::login_link(ports, operator, user.email.clone()).await?;
    print(&user.email, base, &token, output)
}

fn print(email: &AccountEmail, base: &str, token: &LinkToken, output: Output) -> anyhow::Result<()> {
    let url = format!("{base}/welcome/{}", token.expose());
    output.print(&json!({ "email": email.as_str(), "one_time_url": url }), || {
        format!("{url}\n\nThe link sets the password of {email}, once and within 24 hours.")
    })?;
    Ok(())
}
