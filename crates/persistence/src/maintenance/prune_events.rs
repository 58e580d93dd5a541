//! Removes old events with their deliveries. The oldest events of each account go first, so that the remaining events have no gap.

use jiff::Timestamp;

use super::prune::AT_A_TIME;
use crate::committer::Op;
use crate::error::Fault;
use crate::queue::QueueEngine;
use crate::sql::spec::{Column, Kind, Spec};
use crate::sql::{Query, Session, Value};

/// The number of events in one transaction. Such a transaction, which also removes their deliveries, holds the write lock of SQLite for a
/// few milliseconds.
const EVENTS_AT_ONCE: u32 = 100;
/// The number of accounts in a group. One statement checks one group.
const ACCOUNTS: u32 = 1_000;
/// The largest number of groups that one call checks. The next call continues behind the last checked account.
const MAX_GROUPS: u32 = 20;

/// Selects the last account of the next group of accounts.
const GROUP_END: &str = "SELECT max(account_id) FROM (SELECT account_id FROM event_counters WHERE account_id > ? ORDER BY account_id LIMIT ?) AS c \
     HAVING count(*) > 0";
/// Selects the accounts of the group whose oldest event is old.
const ACCOUNTS_WITH_OLD: &str = "SELECT c.account_id, c.account_id, e.sequence FROM event_counters AS c JOIN events AS e ON e.account_id = c.account_id \
     AND e.sequence = (SELECT min(m.sequence) FROM events AS m WHERE m.account_id = c.account_id) \
     WHERE c.account_id > ? AND c.account_id <= ? AND e.created_at < ? ORDER BY c.account_id";
/// Selects the oldest events of an account, each as `old` or `young`.
const OLDEST: &str = "SELECT id, CASE WHEN created_at < ? THEN 'old' ELSE 'young' END, sequence FROM events WHERE account_id = ? \
     ORDER BY sequence LIMIT ?";
/// Selects the first event, up to a sequence number, that still has a pending delivery to an active endpoint.
const FIRST_UNDELIVERED: &str = "SELECT e.sequence, e.sequence FROM events AS e JOIN deliveries AS d ON d.event_id = e.id AND d.account_id || '' = e.account_id \
     JOIN pending_deliveries AS p ON p.account_id = d.account_id AND p.endpoint_id = d.endpoint_id AND p.id = d.id \
     JOIN webhook_endpoints AS w ON w.account_id = p.account_id AND w.id = p.endpoint_id AND w.epoch = p.epoch AND w.state = 'active' \
     WHERE e.account_id = ? AND e.sequence <= ? ORDER BY e.sequence LIMIT 1";
/// Selects the deliveries of an account's events up to a sequence number.
const DELIVERED: &str = "SELECT d.endpoint_id, d.id, e.sequence FROM events AS e JOIN deliveries AS d ON d.event_id = e.id AND d.account_id || '' = e.account_id \
     WHERE e.account_id = ? AND e.sequence <= ?";
/// Selects old test deliveries, which have no row in `events`. Pending ones are kept until they are finished or cancelled.
const TESTS: &str = "SELECT d.account_id, d.endpoint_id, d.id, d.id FROM deliveries AS d WHERE d.sequence IS NULL AND d.created_at < ? \
     AND d.status <> 'pending' ORDER BY d.created_at LIMIT ?";
/// The statements that delete deliveries, their rows in the queue, and their attempts.
static DELIVERIES: Spec = Spec::delete("deliveries", NAME);
static WAITING: Spec = Spec::delete("pending_deliveries", NAME);
static ATTEMPTS: Spec = Spec::delete("delivery_attempts", &[("account_id", Kind::Text), ("delivery_id", Kind::Text)]);
const NAME: &[Column] = &[("account_id", Kind::Text), ("endpoint_id", Kind::Text), ("id", Kind::Text)];
const EVENTS: &str = "DELETE FROM events WHERE account_id = ? AND sequence <= ?";

/// Removes old test deliveries, and the events older than `before` of the accounts behind `checked_up_to`. Sets `checked_up_to` to the
/// account behind which the next call continues; empty after the last account. Returns the number of removed events.
pub(super) fn prune(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    before: Timestamp,
    checked_up_to: &mut String,
) -> Result<u64, Fault> {
    in_transaction(engine, session, |session| prune_tests(engine, session, before))?;
    let mut left = AT_A_TIME;
    for _ in 0..MAX_GROUPS {
        let group_end = Query::new(GROUP_END).bind(checked_up_to.as_str()).bind(ACCOUNTS);
        let Some(group_end) = session.load::<String>(&group_end)?.pop() else {
            checked_up_to.clear();
            break;
        };
        let old = Query::new(ACCOUNTS_WITH_OLD).bind(checked_up_to.as_str()).bind(group_end.as_str()).bind(before);
        for (account, ..) in session.load::<(String, String, i64)>(&old)? {
            let mut removed = EVENTS_AT_ONCE;
            while removed == EVENTS_AT_ONCE {
                if left == 0 {
                    return Ok(AT_A_TIME.into());
                }
                let most = left.min(EVENTS_AT_ONCE);
                removed =
                    in_transaction(engine, session, |session| prune_account(engine, session, &account, before, most))?;
                left = left.saturating_sub(removed);
            }
            checked_up_to.clone_from(&account);
        }
        *checked_up_to = group_end;
    }
    Ok(AT_A_TIME.saturating_sub(left).into())
}

/// Removes at most `most` of an account's oldest events. Stops before the first event that is young or that an active endpoint waits for.
/// Returns the number of removed events.
fn prune_account(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    account: &str,
    before: Timestamp,
    most: u32,
) -> Result<u32, Fault> {
    // The lock prevents a resend of these events meanwhile.
    let oldest = format!("{OLDEST}{}", engine.row_lock());
    let oldest = session.load::<(String, String, i64)>(&Query::new(oldest).bind(before).bind(account).bind(most))?;
    let old: Vec<i64> =
        oldest.into_iter().take_while(|(_, age, _)| age == "old").map(|(.., sequence)| sequence).collect();
    let Some(last) = old.last() else { return Ok(0) };
    let first_undelivered = session.load::<(i64, i64)>(&Query::new(FIRST_UNDELIVERED).bind(account).bind(*last))?.pop();
    let old: Vec<i64> =
        old.into_iter().take_while(|sequence| first_undelivered.is_none_or(|(first, _)| *sequence < first)).collect();
    let Some(last) = old.last() else { return Ok(0) };
    let delivered = session.load::<(String, String, i64)>(&Query::new(DELIVERED).bind(account).bind(*last))?;
    let names: Vec<_> = delivered.into_iter().map(|(endpoint, id, _)| [account.to_owned(), endpoint, id]).collect();
    remove_deliveries(engine, session, &names)?;
    session.execute(&Query::new(EVENTS).bind(account).bind(*last))?;
    u32::try_from(old.len()).map_err(|error| Fault::Corrupt(error.to_string()))
}

fn prune_tests(engine: &dyn QueueEngine, session: &mut dyn Session, before: Timestamp) -> Result<(), Fault> {
    // The lock prevents a resend of these deliveries meanwhile.
    let tests = format!("{TESTS}{}", engine.row_lock());
    let tests = session.load::<(String, String, String, String)>(&Query::new(tests).bind(before).bind(AT_A_TIME))?;
    let names: Vec<_> = tests.into_iter().map(|(account, endpoint, id, _)| [account, endpoint, id]).collect();
    remove_deliveries(engine, session, &names)
}

/// Removes deliveries, by account, endpoint and delivery id, with their attempts.
fn remove_deliveries(engine: &dyn QueueEngine, session: &mut dyn Session, names: &[[String; 3]]) -> Result<(), Fault> {
    if names.is_empty() {
        return Ok(());
    }
    let row = |name: &[String; 3]| name.iter().map(|part| Value::from(part.clone())).collect::<Vec<_>>();
    let tried = names.iter().map(|[account, _, id]| vec![account.clone().into(), id.clone().into()]).collect();
    let ops = [
        Op::free(&ATTEMPTS, tried),
        Op::free(&WAITING, names.iter().map(row).collect()),
        Op::free(&DELIVERIES, names.iter().map(row).collect()),
    ];
    engine.apply(session, &ops).map(drop)
}

fn in_transaction<T>(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    work: impl FnOnce(&mut dyn Session) -> Result<T, Fault>,
) -> Result<T, Fault> {
    session.run(engine.begin())?;
    match work(session) {
        Ok(done) => {
            session.run(engine.commit())?;
            Ok(done)
        }
        Err(fault) => {
            // An error of the rollback is ignored, because the connection is not used again.
            let _ = session.run("ROLLBACK");
            Err(fault)
        }
    }
}
