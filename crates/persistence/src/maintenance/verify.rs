//! The audit of the ledger. Each rule is one statement that selects its violations; all rules read one snapshot.

use cais_ports::{LedgerCheckResult, LedgerDifference, LedgerReport};

use super::{crypto, infractions, money_out};
use crate::engine::Engine;
use crate::error::Fault;
use crate::rows::instant;
use crate::sql::{Query, Session};

/// The largest number of differences in a report.
const MAX_DIFFERENCES: usize = 1_000;

const COUNTS: &str = "SELECT (SELECT count(*) FROM balances WHERE entries > 0), (SELECT count(*) FROM entries)";

/// Stores the result of an audit. If a row has the same instant already, its number of differences is replaced.
const RECORD: &str = "INSERT INTO ledger_verifications (verified_at, differences) VALUES (?, ?) \
     ON CONFLICT (verified_at) DO UPDATE SET differences = excluded.differences";
const LAST: &str = "SELECT verified_at, differences FROM ledger_verifications ORDER BY verified_at DESC LIMIT 1";

/// The rules, each as a statement that selects violations. The columns of a violation are: subject, expected value, stored value. Each rule
/// has one parameter: the greatest number of rows.
const RULES: [&str; 11] = [
    // A balance is the sum of its entries.
    "SELECT holder || '/' || bucket, CAST(coalesce(e.total, 0) AS BIGINT), b.amount FROM balances AS b \
     LEFT JOIN (SELECT holder, bucket, sum(amount) AS total FROM entries GROUP BY holder, bucket) AS e USING (holder, bucket) \
     WHERE b.amount <> coalesce(e.total, 0) LIMIT ?",
    // A balance stores the number of its entries.
    "SELECT 'count of entries of ' || holder || '/' || bucket, CAST(coalesce(e.number, 0) AS BIGINT), b.entries FROM balances AS b \
     LEFT JOIN (SELECT holder, bucket, count(*) AS number FROM entries GROUP BY holder, bucket) AS e USING (holder, bucket) \
     WHERE b.entries <> coalesce(e.number, 0) LIMIT ?",
    // A balance stores the id of its last entry. A violation shows the number of entries after the stored id.
    "SELECT 'entries after the last of ' || b.holder || '/' || b.bucket, CAST(0 AS BIGINT), count(*) FROM balances AS b \
     JOIN entries AS e ON e.holder = b.holder AND e.bucket = b.bucket AND (b.last_entry_id IS NULL OR e.id > b.last_entry_id) \
     GROUP BY b.holder, b.bucket LIMIT ?",
    // No entry is without a balance.
    "SELECT 'no balance row for ' || e.holder || '/' || e.bucket, CAST(sum(e.amount) AS BIGINT), CAST(0 AS BIGINT) FROM entries AS e \
     LEFT JOIN balances AS b ON b.holder = e.holder AND b.bucket = e.bucket WHERE b.holder IS NULL GROUP BY e.holder, e.bucket LIMIT ?",
    // Each entry stores the balance after it: the sum of the ledger account's entries up to and including itself.
    "SELECT 'running balance at ' || id, expected, stored FROM (SELECT id, balance_after AS stored, \
     CAST(sum(amount) OVER (PARTITION BY holder, bucket ORDER BY id) AS BIGINT) AS expected FROM entries) AS r \
     WHERE expected <> stored LIMIT ?",
    // Each transfer has two entries, and their sum is zero.
    "SELECT 'sum of transfer ' || transfer_id, CAST(0 AS BIGINT), CAST(sum(amount) AS BIGINT) FROM entries \
     GROUP BY transfer_id HAVING sum(amount) <> 0 OR count(*) <> 2 LIMIT ?",
    // The sum of all balances is zero.
    "SELECT 'sum of all balances', CAST(0 AS BIGINT), CAST(sum(amount) AS BIGINT) FROM balances HAVING sum(amount) <> 0 LIMIT ?",
    // No merchant's balance is negative.
    "SELECT 'negative balance of ' || holder || '/' || bucket, CAST(0 AS BIGINT), amount FROM balances \
     WHERE amount < 0 AND substr(holder, 1, 4) = 'acc_' LIMIT ?",
    // Every payment was credited once and in full: the amount that left `settlement` under its end-to-end id is its amount. The money of a
    // returned payout does not count. It also leaves `settlement`, under the payout's end-to-end id. If the payout paid a charge of this
    // service, the payment has the same end-to-end id.
    "SELECT 'credit of payment ' || p.end_to_end_id, p.amount, CAST(coalesce(e.total, 0) AS BIGINT) FROM payments AS p \
     LEFT JOIN (SELECT end_to_end_id, -sum(amount) AS total FROM entries \
     WHERE substr(holder, 1, 11) = 'settlement:' AND amount < 0 AND kind <> 'payout_reversed' AND end_to_end_id IS NOT NULL GROUP BY end_to_end_id) AS e \
     ON e.end_to_end_id = p.end_to_end_id WHERE p.amount <> coalesce(e.total, 0) LIMIT ?",
    // Each credit that the rule above counts has a payment.
    "SELECT 'credit without payment ' || e.end_to_end_id, CAST(0 AS BIGINT), CAST(-sum(e.amount) AS BIGINT) FROM entries AS e \
     LEFT JOIN payments AS p ON p.end_to_end_id = e.end_to_end_id \
     WHERE substr(e.holder, 1, 11) = 'settlement:' AND e.amount < 0 AND e.kind <> 'payout_reversed' AND e.end_to_end_id IS NOT NULL AND p.end_to_end_id IS NULL \
     GROUP BY e.end_to_end_id LIMIT ?",
    // Sequences of events have no gap, and the counter stores the last number. Housekeeping may have removed the oldest events.
    "SELECT 'events of ' || coalesce(c.account_id, e.account_id), CAST(coalesce(c.last_sequence - e.first + 1, 0) AS BIGINT), \
     CAST(coalesce(e.number, 0) AS BIGINT) FROM event_counters AS c FULL JOIN (\
     SELECT account_id, count(*) AS number, min(sequence) AS first, max(sequence) AS last FROM events GROUP BY account_id) AS e \
     ON e.account_id = c.account_id \
     WHERE e.number IS NOT NULL AND (coalesce(c.last_sequence, 0) <> e.last OR e.last - e.first + 1 <> e.number) LIMIT ?",
];

/// Checks every rule against one snapshot.
pub(super) fn verify(engine: &dyn Engine) -> Result<LedgerReport, Fault> {
    let mut session = engine.connect_auditor()?;
    session.run(engine.begin_snapshot())?;
    let report = check(&mut *session)?;
    session.run("ROLLBACK")?;
    Ok(report)
}

/// Stores the result of a ledger check.
pub(super) fn record(engine: &dyn Engine, check: LedgerCheckResult) -> Result<(), Fault> {
    let LedgerCheckResult { at, differences } = check;
    let differences = i64::try_from(differences).unwrap_or(i64::MAX);
    let mut session = engine.connect_housekeeper()?;
    session.execute(&Query::new(RECORD).bind(at).bind(differences))?;
    Ok(())
}

/// Returns the last stored ledger check.
pub(super) fn last(session: &mut dyn Session) -> Result<Option<LedgerCheckResult>, Fault> {
    let Some((at, differences)) = session.load::<(i64, i64)>(&Query::new(LAST))?.pop() else { return Ok(None) };
    let differences = u64::try_from(differences).map_err(|error| Fault::Corrupt(error.to_string()))?;
    Ok(Some(LedgerCheckResult { at: instant("ledger_verifications", at)?, differences }))
}

fn rules() -> impl Iterator<Item = &'static str> {
    RULES.into_iter().chain(money_out::RULES).chain(infractions::RULES).chain(crypto::RULES)
}

fn check(session: &mut dyn Session) -> Result<LedgerReport, Fault> {
    let (accounts, entries) = session.load(&Query::new(COUNTS))?.pop().unwrap_or_default();
    let mut differences = Vec::new();
    for rule in rules() {
        let room = MAX_DIFFERENCES.saturating_sub(differences.len());
        let Ok(limit) = i64::try_from(room) else { break };
        let found = session.load(&Query::new(rule).bind(limit))?;
        differences.extend(found.into_iter().map(|(what, expected, stored)| LedgerDifference {
            what,
            expected,
            stored,
        }));
    }
    let count = |number: i64| u64::try_from(number).map_err(|error| Fault::Corrupt(error.to_string()));
    Ok(LedgerReport { accounts: count(accounts)?, entries: count(entries)?, differences })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::postgres::Cluster;

    use super::*;
    use crate::postgres::Postgres;
    use crate::{DatabaseUrl, migrations};

    #[test]
    fn audit_of_tables_never_analyzed_reads_each_once() {
        let url = Cluster::shared().unwrap().fresh_database().unwrap();
        let url = DatabaseUrl::parse(&url).unwrap();
        migrations::migrate(&url, "test").unwrap();
        let mut session = Postgres::new(&url, Duration::from_mins(1)).connect_auditor().unwrap();
        for rule in rules() {
            let plan: Vec<String> = session.load(&Query::once(&*format!("EXPLAIN {rule}")).bind(1_i64)).unwrap();
            assert!(!plan.iter().any(|line| line.contains("Nested Loop")), "{plan:#?}");
        }
    }
}
