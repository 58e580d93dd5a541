//! The command line: which part is measured, how long, and where the figures are written.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::database::{Engine, Postgres};
use crate::machine::Machine;
use crate::report::{self, Line, Report};
use crate::run_size::RunSize;
use crate::{bare, crypto, dashboard, deliveries, memory, pages, receiver, requests, store, upstream};

/// Measures Cais and reports whether its targets are met.
#[derive(Debug, Parser)]
#[command(name = "cais-bench", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    run: Run,
    #[command(subcommand)]
    internal: Option<Internal>,
}

#[derive(Debug, Subcommand)]
enum Internal {
    /// The handler that a GET of the service is compared with
    #[command(name = bare::SUBCOMMAND, hide = true)]
    Bare {
        #[arg(long)]
        workers: usize,
        #[arg(long)]
        bytes: usize,
    },
    /// The receivers of webhooks
    #[command(name = receiver::SUBCOMMAND, hide = true)]
    Receiver {
        #[arg(long)]
        endpoints: usize,
    },
}

/// The measurement.
#[derive(Debug, Args)]
struct Run {
    /// The part to measure
    #[arg(value_enum, default_value_t = Part::All)]
    part: Part,
    /// The database to measure
    #[arg(long, value_enum, default_value_t = Engines::Both)]
    engine: Engines,
    /// The counted seconds of each round, without its warm-up; 5, or 1 with --quick
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: Option<u64>,
    /// Run the short version, a few minutes with rough figures
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Also write the table into a Markdown page, between `<!-- figures begin -->` and `<!-- figures end -->`
    /// (docs/BENCHMARKS.md if no page is given)
    #[arg(long, value_name = "PAGE", num_args = 0..=1, default_missing_value = "docs/BENCHMARKS.md")]
    write: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    All,
    Store,
    Http,
    Memory,
    Pages,
    Dashboard,
    Deliveries,
    Upstream,
    Crypto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engines {
    Postgres,
    Sqlite,
    Both,
}

/// Runs the command line.
///
/// # Errors
/// If a measurement fails, the data in the measured store is inconsistent, or the page of `--write` cannot be written.
/// A missed target is no error.
pub fn main() -> Result<()> {
    let cli = Cli::parse();
    match cli.internal {
        Some(Internal::Bare { workers, bytes }) => bare::serve(workers, bytes),
        Some(Internal::Receiver { endpoints }) => receiver::serve(endpoints),
        None => cli.run.run(),
    }
}

impl Run {
    fn run(self) -> Result<()> {
        let began = Instant::now();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let server = self.engines().contains(&Engine::Postgres).then(Postgres::start).transpose()?;
        let machine = Machine::detect(server.as_ref());
        print_progress(&format!("On: {}", machine.line()));
        let lines = runtime.block_on(self.measure(server.as_ref()))?;
        let report = Report { machine, quick: self.quick, took_s: began.elapsed().as_secs(), lines };
        let text = if self.json { serde_json::to_string_pretty(&report)? } else { readable_text(&report) };
        writeln!(std::io::stdout(), "{text}")?;
        self.write.as_deref().map_or(Ok(()), |page| report::write_into(page, &report))
    }

    async fn measure(&self, server: Option<&Postgres>) -> Result<Vec<Line>> {
        let seconds = self.seconds.unwrap_or(if self.quick { 1 } else { 5 });
        let rounds = if self.quick { 2 } else { 3 };
        let size = RunSize { seconds, rounds, quick: self.quick };
        let mut all = Vec::new();
        for part in Part::value_variants().iter().copied().filter(|part| *part != Part::All) {
            if self.part != part && self.part != Part::All {
                continue;
            }
            for engine in self.engines() {
                print_progress(&format!("{part:?}, {}", engine.name()));
                let lines = match part {
                    Part::All | Part::Store => store::measure(engine, server, size).await?,
                    Part::Http => requests::measure(engine, server, size).await?,
                    Part::Memory => memory::measure(engine, server, size).await?,
                    Part::Pages => pages::measure(engine, server, size).await?,
                    Part::Dashboard => dashboard::measure(engine, server, size).await?,
                    Part::Deliveries => deliveries::measure(engine, server, size).await?,
                    Part::Upstream => upstream::measure(engine, server, size).await?,
                    Part::Crypto => crypto::measure(engine, server, size).await?,
                };
                for line in &lines {
                    print_progress(&report::one(line));
                }
                all.extend(lines);
            }
        }
        Ok(all)
    }

    fn engines(&self) -> Vec<Engine> {
        match self.engine {
            Engines::Postgres => vec![Engine::Postgres],
            Engines::Sqlite => vec![Engine::Sqlite],
            Engines::Both => vec![Engine::Postgres, Engine::Sqlite],
        }
    }
}

/// Prints a line to standard error.
fn print_progress(text: &str) {
    // An error is ignored, because the reader of standard error may be gone.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn readable_text(report: &Report) -> String {
    let verdict = if report.all_met() { "every target is met" } else { "not every target is met" };
    let (machine, table) = (report.machine.line(), report::table(&report.lines));
    format!("{machine}\n\n{table}\nIn {} s: {verdict}.", report.took_s)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::Cli;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn arguments_are_parsed() {
        for (line, good) in [
            ("cais-bench", true),
            ("cais-bench all --quick --json", true),
            ("cais-bench store --engine postgres --seconds 2", true),
            ("cais-bench http --write", true),
            ("cais-bench pages --write page.md", true),
            ("cais-bench dashboard --engine sqlite", true),
            ("cais-bench deliveries --engine sqlite --quick", true),
            ("cais-bench upstream --engine postgres --quick", true),
            ("cais-bench crypto --engine both --quick", true),
            ("cais-bench receiver --endpoints 100", true),
            ("cais-bench bare --workers 2 --bytes 600", true),
            ("cais-bench everything", false),
            ("cais-bench --seconds 0", false),
        ] {
            assert_eq!(Cli::try_parse_from(line.split(' ')).is_ok(), good, "{line}");
        }
    }
}
