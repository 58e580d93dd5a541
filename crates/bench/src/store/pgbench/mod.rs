//! The baseline for the store: pgbench writes the same rows, with one transaction per commit. A service that does not
//! combine commits into batches works in this way.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::changes::{AMOUNT, FEE, answer_body, event_data};
use super::payout_changes as payout;
use crate::database::Postgres;
use crate::process::output;
use crate::{CALLERS, GENERATOR_THREADS};

/// The SQL of the scripts, and of the rows that a script needs before it starts (`SEED_…`).
const NAMES: &str = include_str!("names.sql");
const OPEN: &str = include_str!("open.sql");
const ISSUE: &str = include_str!("issue.sql");
const CONFIRM: &str = include_str!("confirm.sql");
const HOLD: &str = include_str!("hold.sql");
const COMPLETE: &str = include_str!("complete.sql");
const SEED_OPENED: &str = include_str!("seed_opened.sql");
const SEED_WAITING: &str = include_str!("seed_waiting.sql");
const SEED_PAYER: &str = include_str!("seed_payer.sql");

/// The distance between the first values of pgbench's variable `n` in two rounds. The scripts derive all ids from `n`.
/// So no two rounds use the same ids.
const ROUND: u64 = 10_000_000;
/// The number of charges that are inserted before commit 2 is measured, for each counted second. The number is far
/// above pgbench's rate, so pgbench does not run out of charges.
const OPENED_PER_SECOND: u64 = 20_000;
/// The same number for the pending charges that are inserted before payments are measured.
const WAITING_PER_SECOND: u64 = 8_000;

/// pgbench with its scripts, on a database of its own.
pub struct Pgbench<'a> {
    server: &'a Postgres,
    /// The database's URL.
    database: String,
    scripts: TempDir,
    seconds: u64,
    /// The number of started runs of a script.
    rounds: u64,
    /// The number of creations whose commit 2 succeeded.
    issued: u64,
    /// The number of payments.
    paid: u64,
    /// The number of payouts.
    sent: u64,
}

impl<'a> Pgbench<'a> {
    /// Prepares scripts for a migrated, empty database.
    ///
    /// # Errors
    /// If the scripts cannot be written.
    pub fn new(server: &'a Postgres, database: String, seconds: u64) -> Result<Self> {
        let scripts = tempfile::tempdir()?;
        for (name, body) in [
            ("create", [OPEN, ISSUE].concat()),
            ("open", OPEN.into()),
            ("issue", ISSUE.into()),
            ("confirm", CONFIRM.into()),
            ("pay_out", [HOLD, COMPLETE].concat()),
        ] {
            fs::write(scripts.path().join(name), filled(&format!("{NAMES}{body}")))?;
        }
        Ok(Self { server, database, scripts, seconds, rounds: 0, issued: 0, paid: 0, sent: 0 })
    }

    /// Runs both commits of creations. Returns the creations per second.
    ///
    /// # Errors
    /// If pgbench fails.
    pub fn create(&mut self) -> Result<f64> {
        let round = self.next_round();
        let result = self.run("create", round)?;
        self.issued = self.issued.saturating_add(result.transactions);
        Ok(result.rate)
    }

    /// Runs only commit 1 of creations. Returns the commits per second.
    ///
    /// # Errors
    /// If pgbench fails.
    pub fn open(&mut self) -> Result<f64> {
        let round = self.next_round();
        Ok(self.run("open", round)?.rate)
    }

    /// Runs only commit 2 of creations. Returns the commits per second.
    ///
    /// # Errors
    /// If pgbench fails.
    pub fn issue(&mut self) -> Result<f64> {
        let round = self.next_round();
        self.seed(SEED_OPENED, round, OPENED_PER_SECOND)?;
        let result = self.run("issue", round)?;
        self.issued = self.issued.saturating_add(result.transactions);
        Ok(result.rate)
    }

    /// Runs payments of charges. Returns the payments per second.
    ///
    /// # Errors
    /// If pgbench fails.
    pub fn confirm(&mut self) -> Result<f64> {
        let round = self.next_round();
        self.seed(SEED_WAITING, round, WAITING_PER_SECOND)?;
        let result = self.run("confirm", round)?;
        self.paid = self.paid.saturating_add(result.transactions);
        Ok(result.rate)
    }

    /// Funds one account for payouts.
    ///
    /// # Errors
    /// If a statement fails.
    pub fn fund(&self) -> Result<()> {
        self.server.run(&self.database, &filled(SEED_PAYER))
    }

    /// Runs both commits of payouts of the funded account. Returns the payouts per second.
    ///
    /// # Errors
    /// If pgbench fails. pgbench also fails if a payout exceeds the available balance.
    pub fn pay_out(&mut self) -> Result<f64> {
        let round = self.next_round();
        let result = self.run("pay_out", round)?;
        self.sent = self.sent.saturating_add(result.transactions);
        Ok(result.rate)
    }

    /// Checks the numbers of rows that pgbench wrote. Without this check, a script whose statements match no row would
    /// pass, and would be too fast.
    ///
    /// # Errors
    /// If a number of rows or a sum differs from the expected one.
    pub fn verify(&self) -> Result<()> {
        let answers = self.issued.saturating_add(self.sent);
        let events = self.paid.saturating_add(self.sent);
        let entries = self.paid.saturating_mul(4).saturating_add(self.sent.saturating_mul(8));
        for (what, sql, expected) in [
            ("stored responses", "SELECT count(*) FROM idempotency_records WHERE response_kind = 'created'", answers),
            (
                "pending charges",
                "SELECT count(*) FROM charges WHERE status = 'pending' AND account_id <> 'acc_hot'",
                self.issued,
            ),
            ("paid charges", "SELECT count(*) FROM charges WHERE status = 'paid'", self.paid),
            ("payments", "SELECT count(*) FROM payments", self.paid),
            ("completed payouts", "SELECT count(*) FROM payouts WHERE status = 'completed'", self.sent),
            ("entries", "SELECT count(*) FROM entries", entries),
            ("events", "SELECT count(*) FROM events", events),
            ("sequence", "SELECT coalesce(max(last_sequence), 0) FROM event_counters", events),
            ("centavos in transit", "SELECT coalesce(sum(amount), 0) FROM balances WHERE bucket = 'in_transit'", 0),
            ("sum of all balances", "SELECT coalesce(sum(amount), 0) FROM balances", 0),
        ] {
            let found = self.server.number(&self.database, sql)?;
            ensure!(found == expected, "pgbench: {found} {what} where {expected} were expected");
        }
        Ok(())
    }

    /// Begins a round. Returns the value of `n` before its first transaction.
    fn next_round(&mut self) -> u64 {
        self.rounds = self.rounds.saturating_add(1);
        self.rounds.saturating_mul(ROUND)
    }

    fn seed(&self, sql: &str, round: u64, per_second: u64) -> Result<()> {
        let callers = u64::try_from(CALLERS)?;
        let first = round.saturating_add(1).saturating_mul(callers);
        let last = first.saturating_add(per_second.saturating_mul(self.seconds));
        let sql = filled(sql).replace("{first}", &first.to_string()).replace("{last}", &last.to_string());
        self.server.run(&self.database, &sql)
    }

    fn run(&self, script: &str, round: u64) -> Result<RunResult> {
        self.server.run(&self.database, "CHECKPOINT")?;
        let program = self.server.program("pgbench").display().to_string();
        let (callers, threads) = (CALLERS.to_string(), GENERATOR_THREADS.to_string());
        let (seconds, first) = (self.seconds.to_string(), format!("n={round}"));
        let file: PathBuf = self.scripts.path().join(script);
        let file = file.display().to_string();
        let arguments = [
            "-n",
            "-M",
            "prepared",
            "-c",
            &callers,
            "-j",
            &threads,
            "-T",
            &seconds,
            "-D",
            &first,
            "-f",
            &file,
            &self.database,
        ];
        RunResult::parse(&output(&program, &arguments)?)
    }
}

/// The output of a pgbench run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RunResult {
    rate: f64,
    transactions: u64,
}

impl RunResult {
    fn parse(printed: &str) -> Result<Self> {
        let after = |start: &str| printed.lines().find_map(|line| line.strip_prefix(start)?.split_whitespace().next());
        ensure!(after("number of failed transactions:").unwrap_or("0") == "0", "pgbench had failures: {printed}");
        let rate = after("tps =").context("pgbench printed no rate")?;
        let transactions =
            after("number of transactions actually processed:").context("pgbench printed no number of transactions")?;
        Ok(Self { rate: rate.parse().context("pgbench's rate")?, transactions: transactions.parse()? })
    }
}

fn filled(text: &str) -> String {
    let numbers = [
        ("{amount}", AMOUNT),
        ("{fee}", FEE),
        ("{net}", AMOUNT.saturating_sub(FEE)),
        ("{sent}", payout::AMOUNT),
        ("{payout_fee}", payout::FEE),
        ("{gross}", payout::AMOUNT.saturating_add(payout::FEE)),
        ("{funds}", payout::FUNDS),
    ];
    let filled = numbers.iter().fold(text.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()));
    filled.replace("{answer}", answer_body()).replace("{event}", event_data()).replace("{payout}", payout::body())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_parsed_and_failures_are_errors() {
        let printed = "number of transactions actually processed: 10\nnumber of failed transactions: 0 (0.000%)\n\
                    latency average = 20.1 ms\ntps = 3183.250000 (without initial connection time)\n";
        assert_eq!(RunResult::parse(printed).ok(), Some(RunResult { rate: 3_183.25, transactions: 10 }));
        assert!(RunResult::parse(&printed.replace("transactions: 0", "transactions: 3")).is_err());
        assert!(RunResult::parse("nothing").is_err());
    }

    #[test]
    fn scripts_have_no_placeholder_left() {
        for script in [NAMES, OPEN, ISSUE, CONFIRM, HOLD, COMPLETE, SEED_PAYER] {
            assert!(!filled(script).contains('{'), "{script}");
        }
    }
}
