//! The command line: its definition, the dispatch to commands, and their output.
//!
//! A new command needs one file with its arguments and its `run`, a variant of `Command`, and an arm in `Cli::run`. A
//! command reaches the installation only through a method of [`CliContext`].

mod account;
mod acquirer;
mod acquirer_test;
mod audit;
mod callback;
mod config;
mod context;
mod crypto;
mod demo;
mod doctor;
mod failure;
mod finding;
mod infraction;
mod key;
mod ledger;
mod listen;
mod login;
mod migrate;
mod operator;
mod output;
mod pages;
mod payout;
mod reconcile;
mod sandbox;
mod secret;
mod serve;
mod signals;
mod webhook;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use cais_use_cases::Ports;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

pub use context::{
    Access, AcquirerTest, CliContext, ConfiguredAcquirer, Migrations, Opened, Options, Problem, Purpose,
    RunningSandbox, RunningService, Setting, Warning,
};
pub use finding::Finding;
use output::{Output, print_line};
pub use secret::SECRET_VARIABLES;

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";
/// Threads of the async runtime. The HTTP connections of the API have threads of their own.
const RUNTIME_THREADS: usize = 2;

/// Cais, a Pix payment service.
#[derive(Debug, Parser)]
#[command(
    name = "cais",
    version,
    about = "A payment service for Pix: charges, payouts, refunds and crypto coins behind one API, with a dashboard",
    propagate_version = true
)]
pub struct Cli {
    /// Configuration file; by default the one that `CAIS_CONFIG` names
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Print JSON for programs instead of text for people; a failure is one JSON object on standard error
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Operator's name in the audit log; by default the user of the operating system
    #[arg(long, global = true, value_name = "NAME", help_heading = GLOBAL, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    operator: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API until a signal ends it
    Serve {
        /// Use the built-in sandbox and its play money, for development; the same as `sandbox = true`
        #[arg(long)]
        sandbox: bool,
    },
    /// Bring the database's schema up to date
    Migrate {
        /// Print the state of each migration and change nothing; exit with 1 if a migration is pending
        #[arg(long)]
        status: bool,
    },
    /// Open, list and change accounts
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Create operators of the dashboard
    #[command(subcommand)]
    Operator(login::OperatorCommand),
    /// Print a one-time link with which an operator or an account's holder sets a new password and authenticator
    LoginLink(login::EmailArg),
    /// List, drain and test acquirers
    #[command(subcommand)]
    Acquirer(acquirer::AcquirerCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// List the changes that operators made
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Verify the ledger against its entries, and compare it with the coins at the crypto processor
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    /// Compare the stored records with the lists of the acquirers and the crypto processor, and credit missed payments; exit with 1 if a
    /// difference remains, with 2 if a list cannot be read
    Reconcile(reconcile::ReconcileArgs),
    /// List callbacks that could not be matched, and process one again
    #[command(subcommand)]
    Callback(callback::CallbackCommand),
    /// Credit the return of a payout, if the service cannot read this return at the acquirer
    #[command(subcommand)]
    Payout(payout::PayoutCommand),
    /// List, show and decide disputes (MED) of all accounts
    #[command(subcommand)]
    Infraction(infraction::InfractionCommand),
    /// Decide crypto withdrawals and payments that wait for an operator, and accept rates that jumped
    #[command(subcommand)]
    Crypto(crypto::CryptoCommand),
    /// Forward an account's new events to a receiver, such as one on this machine, signed like webhooks
    Listen(listen::ListenArgs),
    /// Check the signature of a webhook
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Print the `OpenAPI` description of the API
    Openapi,
    /// Demonstrate the service with the built-in sandbox: a charge, its payment, a webhook, a payout, a refund, a crypto deposit, a dispute
    Demo {
        /// End after the demonstration instead of serving until a signal
        #[arg(long)]
        once: bool,
    },
    /// Run only the simulated acquirer and crypto processor
    Sandbox {
        /// Address of this machine to listen on; port 0 selects a free one
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// File with the state of the simulation; by default `sandbox.journal` in the data directory
        #[arg(long, value_name = "FILE")]
        state_file: Option<PathBuf>,
    },
    /// Check, print and document the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check the installation: configuration, disk, database, master key, acquirers, Redis; exit with 1 when a check failed
    Doctor(doctor::DoctorArgs),
    /// Print the completions of a shell; `source <(cais completions bash)` loads them
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per command
    Man {
        /// Directory to write the pages into; by default only the page of `cais` is printed on standard output
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Runs the command line over the installation that `context` returns for the options.
///
/// The exit code is 0 after success, 1 after a failure, and 2 after a mistake in the command line. `cais reconcile` also exits with 2 if
/// it cannot read a list.
pub fn main<C: CliContext>(context: impl FnOnce(Options) -> C) -> ExitCode {
    let cli = match Cli::try_parse().and_then(Cli::accept) {
        Ok(cli) => cli,
        Err(mistake) => return failure::usage(&mistake),
    };
    let output = Output { json: cli.json };
    let context = context(cli.options());
    cli.run(&context).unwrap_or_else(|error| failure::report(&error, &context.problems(&error), output))
}

impl Cli {
    /// Rejects options that the parser accepts and the command does not use.
    fn accept(self) -> Result<Self, clap::Error> {
        if self.json && matches!(self.command, Command::Demo { .. }) {
            let message = "`cais demo` has no JSON output";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(self)
    }

    fn options(&self) -> Options {
        let sandbox = matches!(
            self.command,
            Command::Serve { sandbox: true } | Command::Doctor(doctor::DoctorArgs { sandbox: true })
        );
        Options { config: self.config.clone(), sandbox }
    }

    fn run(self, context: &dyn CliContext) -> anyhow::Result<ExitCode> {
        let output = Output { json: self.json };
        let operator = operator::of_process(self.operator.as_deref());
        match self.command {
            Command::Config(command) => config::run(context, &command, output),
            Command::Doctor(_) => block_on(doctor::run(context, output)),
            Command::Completions { shell } => done(pages::completions(shell)),
            Command::Man { out } => done(pages::manual(out.as_deref())),
            Command::Openapi => {
                print_line(&cais_http_api::openapi::document()?)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Serve { .. } => block_on(serve::run(context)),
            Command::Demo { once } => block_on(demo::run(context, once)),
            Command::Sandbox { listen, state_file } => block_on(sandbox::run(context, listen, state_file, output)),
            Command::Webhook(command) => webhook::run(context, command, output),
            Command::Listen(args) => block_on(listen::run(context, args, output)),
            Command::Migrate { status } => migrate::run(context, status, output),
            Command::Reconcile(args) => block_on(reconcile::run(context, args, output)),
            Command::Account(command) => {
                let creates = matches!(command, account::AccountCommand::Create { .. });
                let access = if creates { Access::Created } else { Access::Existing };
                on_ports(context, access, async |ports| done(account::run(ports, &operator, command, output).await))
            }
            Command::Acquirer(acquirer::AcquirerCommand::Test(args)) => {
                block_on(acquirer_test::run(context, args, output))
            }
            Command::Acquirer(command) => on_ports(context, Access::Existing, async |ports| {
                done(acquirer::run(context, ports, &operator, command, output).await)
            }),
            Command::Key(command) => on_ports(context, Access::Existing, async |ports| {
                done(key::run(ports, &operator, command, output).await)
            }),
            Command::Operator(command) => {
                let base = context.public_url()?;
                on_ports(context, Access::Created, async |ports| {
                    done(login::create_operator(ports, &operator, &base, command, output).await)
                })
            }
            Command::LoginLink(user) => {
                let base = context.public_url()?;
                on_ports(context, Access::Existing, async |ports| {
                    done(login::login_link(ports, &operator, &base, user, output).await)
                })
            }
            Command::Callback(command) => on_ports(context, Access::Existing, async |ports| {
                done(callback::run(ports, &operator, command, output).await)
            }),
            Command::Infraction(command) => on_ports(context, Access::Existing, async |ports| {
                done(infraction::run(ports, &operator, command, output).await)
            }),
            Command::Payout(command) => on_ports(context, Access::Existing, async |ports| {
                done(payout::run(ports, &operator, command, output).await)
            }),
            Command::Crypto(command) => on_ports(context, command.access(), async |ports| {
                done(crypto::run(ports, &operator, command, output).await)
            }),
            Command::Audit(command) => {
                on_ports(context, Access::Existing, async |ports| done(audit::run(ports, command, output).await))
            }
            Command::Ledger(ledger::LedgerCommand::Verify) => {
                on_ports(context, Access::Existing, async |ports| ledger::verify(ports, output).await)
            }
            Command::Ledger(ledger::LedgerCommand::Report) => {
                on_ports(context, Access::Acquirers, async |ports| done(ledger::report(ports, output).await))
            }
        }
    }
}

/// Returns the exit code 0 for a command that succeeded.
fn done(result: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

/// Opens the installation and runs `work` with its ports.
fn on_ports(
    context: &dyn CliContext,
    access: Access,
    work: impl AsyncFnOnce(&Ports) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    block_on(async { context.open(access).await?.run(work).await })
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(RUNTIME_THREADS).enable_all().build()?.block_on(work)
}

#[cfg(test)]
mod tests;
