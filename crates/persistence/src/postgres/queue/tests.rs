//! Tests the statements of the queue, their plans and their locks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use std::thread;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::{AttemptOutcome, DeliveryAttempt, DeliveryKey, FinishedAttempt, Health};
use cais_testkit::builders::{fresh, start};
use cais_testkit::postgres::Cluster;

use super::*;
use crate::DatabaseUrl;
use crate::engine::Engine as _;
use crate::queue::{LEASES, MOST_COUNTED, OVERDUE, REQUESTED, RETRIES, SET_ASIDE, SET_ASIDE_US};
use crate::rows::delivery::QueueRow;

/// The number of queues in addition to the long one.
const OTHERS: i64 = 50;
/// The number of deliveries in the long queue. All other queues together have the same number.
const WAITING: i64 = 100_000;

/// Starts a server without rows.
fn server() -> (Postgres, DatabaseUrl) {
    let url = DatabaseUrl::parse(&Cluster::shared().unwrap().fresh_database().unwrap()).unwrap();
    crate::migrations::migrate(&url, "test").unwrap();
    (Postgres::new(&url, Duration::from_mins(1)), url)
}

/// Creates a long queue and [`OTHERS`] short ones. Returns the endpoint of the long one.
fn fill(url: &DatabaseUrl) -> String {
    let long = fresh::<cais_domain::ids::kind::Endpoint>().to_string();
    let fill = format!(
        "INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
         SELECT 'a', id, 0, 'u', '*', 'active', 0, '', 0, 1 \
         FROM (SELECT '{long}' AS id UNION ALL SELECT 'e' || n FROM generate_series(1, {OTHERS}) AS n) AS e; \
         INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
         SELECT 'a', '{long}', 'l' || n, 0, n FROM generate_series(1, {WAITING}) AS n; \
         INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
         SELECT 'a', 'e' || n % {OTHERS} + 1, 's' || n, 0, n FROM generate_series(1, {WAITING}) AS n; \
         INSERT INTO deliveries (account_id, endpoint_id, id, event_id, event_type, sequence, status, created_at) \
         SELECT account_id, endpoint_id, id, id, 't', 1, 'pending', 0 FROM pending_deliveries"
    );
    Cluster::shared().unwrap().sql(url.expose(), &fill).unwrap();
    long
}

fn claiming(text: String, endpoint: &str, head: i64) -> Query<'_> {
    Query::once(text)
        .bind(WAITING)
        .texts([endpoint])
        .column(Bind::Ints(vec![Some(0)]))
        .column(Bind::Ints(vec![Some(head)]))
        .bind(8_i64)
        .bind(8_i64)
        .bind(WAITING)
        .bind(8_i64)
        .bind(8_i64)
        .bind(256_i64)
        .bind(WAITING + 1)
        .bind(WAITING + 1)
        .bind(WAITING)
}

fn finishing(text: String, endpoint: &str) -> Query<'_> {
    let one = |number| Bind::Ints(vec![number]);
    Query::once(text)
        .column(one(Some(0)))
        .texts(["a"])
        .texts([endpoint])
        .texts(["l1"])
        .column(one(Some(1)))
        .texts(["succeeded"])
        .column(one(None))
        .column(one(Some(0)))
        .column(one(Some(200)))
        .column(one(Some(1)))
        .column(Bind::Texts(vec![None]))
        .column(Bind::Texts(vec![None]))
}

fn cancelling(text: String) -> Query<'static> {
    Query::once(text).texts(["a"]).texts(["e1"]).column(Bind::Ints(vec![Some(0)])).bind(100_i64)
}

fn walking(text: String, behind: &str, queues: i64) -> Query<'_> {
    Query::once(text).bind(behind).bind(0_i64).bind(queues)
}

fn looking(text: String, now: i64) -> Query<'static> {
    Query::once(text).bind(now).bind(MOST_COUNTED)
}

fn setting_aside(text: String, endpoint: &str) -> Query<'_> {
    let queue = Query::once(text).bind(SET_ASIDE_US).bind(endpoint).bind(0_i64).bind(WAITING).bind(100_i64);
    queue.bind(WAITING).bind("a").bind(endpoint).bind(0_i64)
}

/// Returns the plan, and the number of pages that the server read.
fn explain(session: &mut dyn Session, query: &Query<'_>) -> (Vec<String>, u64) {
    let plan: Vec<String> = session.load(query).unwrap();
    assert!(!plan.iter().any(|line| line.contains("Seq Scan")), "{plan:#?}");
    // The first line with buffers is the total.
    let buffers = plan.iter().find(|line| line.contains("Buffers: shared")).cloned().unwrap_or_default();
    let pages = buffers.split(['=', ' ']).filter_map(|word| word.parse::<u64>().ok()).sum();
    (plan, pages)
}

/// Statements are prepared when a service starts, possibly on empty tables. Their plans stay in use for seconds while the tables grow.
#[test]
fn plans_of_empty_tables_use_the_right_indexes() {
    let (server, _url) = server();
    let mut session = server.connect_queue().unwrap();
    let plan = |text: &str| format!("EXPLAIN {text}");
    for (query, indexes) in [
        (
            claiming(plan(CLAIM), "e", 0),
            vec![
                "pending_deliveries_leased",
                "pending_deliveries_due",
                "pending_deliveries_pkey",
                "deliveries_pkey",
                "events_pkey",
                "endpoint_failures_pkey",
            ],
        ),
        (finishing(plan(FINISH), "e"), vec!["pending_deliveries_pkey", "deliveries_pkey", "webhook_endpoints"]),
        (
            cancelling(plan(CANCEL)),
            vec!["pending_deliveries_due", "pending_deliveries_pkey", "deliveries_pkey", "webhook_endpoints"],
        ),
        (walking(plan(QUEUES), "e", 1), vec!["pending_deliveries_due", "webhook_endpoints"]),
        (Query::once(plan(REQUESTED)).bind("e").bind(0_i64).bind(21_i64), vec!["pending_deliveries_requested"]),
        (looking(plan(OVERDUE), 1), vec!["pending_deliveries_overdue", "webhook_endpoints"]),
        (
            Query::once(plan(RETRIES)).bind(0_i64).bind(WAITING).bind(1_000_i64),
            vec!["pending_deliveries_overdue", "pending_deliveries_pkey"],
        ),
        (
            Query::once(plan(LEASES)).bind(0_i64).bind(0_i64).bind(WAITING).bind(1_000_i64),
            vec!["pending_deliveries_leased", "pending_deliveries_pkey"],
        ),
    ] {
        let (plan, _) = explain(&mut *session, &query);
        let used = plan.iter().filter_map(|line| line.split_once(" using ")?.1.split(' ').next());
        let other = used.clone().find(|used| !indexes.iter().any(|index| used.starts_with(index)));
        assert_eq!(other, None, "{plan:#?}");
        assert!(indexes.iter().all(|index| used.clone().any(|used| used.starts_with(index))), "{plan:#?}");
    }
}

#[test]
fn statements_read_only_the_head_of_a_backlog() {
    let (server, url) = server();
    let (long, mut session) = (fill(&url), server.connect_queue().unwrap());
    assert_head_only(&server, &mut *session, &long);
    // A node that stops leaves leases behind. Plans must stay cheap before and after the server analyzes the tables.
    let leave = "UPDATE pending_deliveries SET lease_until = 1, fence = 1 WHERE id LIKE 's%' AND due_at % 5 = 0";
    for statement in ["VACUUM ANALYZE", leave] {
        Cluster::shared().unwrap().sql(url.expose(), statement).unwrap();
    }
    let mut session = server.connect_queue().unwrap();
    assert_head_only(&server, &mut *session, &long);
}

fn assert_head_only(server: &Postgres, session: &mut dyn Session, long: &str) {
    let look = |text: &str| format!("EXPLAIN (ANALYZE, BUFFERS) {text}");
    let (plan, pages) = explain(session, &cancelling(look(CANCEL)));
    assert!(pages < 100, "{pages} pages to cancel the deliveries of one queue: {plan:#?}");
    let (plan, pages) = explain(session, &walking(look(QUEUES), "", 1_000));
    assert!(pages < 1_000, "{pages} pages to go from queue to queue: {plan:#?}");
    // The statement counts at most 10,000 due deliveries, and reads about one page for each.
    let (plan, pages) = explain(session, &looking(look(OVERDUE), WAITING));
    assert!(pages < 12_000, "{pages} pages to find the due queues: {plan:#?}");
    for head in [i64::MIN, WAITING / 2] {
        session.run(server.begin()).unwrap();
        let (plan, pages) = explain(session, &claiming(look(CLAIM), long, head));
        assert!(pages < 500, "{pages} pages to claim eight deliveries from {head} on: {plan:#?}");
        let (plan, pages) = explain(session, &finishing(look(FINISH), long));
        assert!(pages < 100, "{pages} pages to finish one delivery: {plan:#?}");
        session.run("ROLLBACK").unwrap();
    }
}

#[test]
fn deliveries_to_inactive_endpoint_are_set_aside() {
    let (server, url) = server();
    let sql = |text: &str| Cluster::shared().unwrap().sql(url.expose(), text).unwrap();
    let long = fill(&url);
    for statement in ["SELECT 1", "VACUUM ANALYZE"] {
        sql(statement);
        let mut session = server.connect_writer().unwrap();
        assert_eq!(session.execute(&setting_aside(SET_ASIDE.to_owned(), &long)).unwrap(), 0, "the endpoint is active");
        let look = format!("EXPLAIN (ANALYZE, BUFFERS) {SET_ASIDE}");
        sql(&format!("UPDATE webhook_endpoints SET state = 'inactive' WHERE id = '{long}'"));
        let (plan, pages) = explain(&mut *session, &setting_aside(look, &long));
        assert!(pages < 5_000, "{pages} pages to set a hundred aside, {statement}: {plan:#?}");
        sql("UPDATE webhook_endpoints SET state = 'active'");
    }
    let aside = "SELECT count(*) || ' ' || max(due_at + 10000000000000000) FROM pending_deliveries WHERE due_at < 0";
    assert_eq!(sql(aside), "200 200", "the deliveries that are overdue the longest are set aside");
    // A claim commits while the statement that sets deliveries aside waits for the claimed row.
    sql(&format!("UPDATE webhook_endpoints SET state = 'inactive' WHERE id = '{long}'"));
    let mut claim = server.connect_writer().unwrap();
    claim.run(&format!("BEGIN; UPDATE pending_deliveries SET due_at = {WAITING} + 1 WHERE id = 'l201'")).unwrap();
    let moved = thread::scope(|scope| {
        let setting = || server.connect_writer().unwrap().execute(&setting_aside(SET_ASIDE.to_owned(), &long));
        let moved = scope.spawn(setting);
        wait_for_a_lock(&url);
        claim.run("COMMIT").unwrap();
        moved.join().unwrap()
    });
    assert_eq!(moved.unwrap(), 99, "the claimed delivery is not set aside");
    sql("UPDATE webhook_endpoints SET state = 'active'");
    let mut session = server.connect_writer().unwrap();
    let overdue = Query::new(OVERDUE).bind(WAITING).bind(200_u32);
    let counted: i64 = session.load::<QueueRow>(&overdue).unwrap().iter().map(|queue| queue.4).sum();
    assert_eq!(counted, 200, "other deliveries are counted instead");
    assert_eq!(sql("SELECT min(due_at) FROM pending_deliveries WHERE due_at > 0"), "1");
    // A claim begins with the deliveries that were set aside.
    let mut session = server.connect_queue().unwrap();
    let claimed = session.load::<ClaimedRow>(&claiming(CLAIM.to_owned(), &long, i64::MIN)).unwrap();
    assert_eq!(claimed.len(), 8);
    assert!(claimed.iter().all(|(.., (_, due_at, _))| *due_at < 0), "{claimed:?}");
}

/// The number of queues in the test with many queues.
const QUEUE_COUNT: i64 = 200_000;

/// Each queue has one delivery, and few of the deliveries are due.
#[test]
fn search_in_many_queues_reads_only_due_ones() {
    let (server, url) = server();
    let fill = format!(
        "ALTER TABLE pending_deliveries SET (autovacuum_enabled = off); \
         INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
         SELECT 'a' || n / 20, 'e' || n, 0, 'u', '*', 'active', 0, '', 0, 1 FROM generate_series(1, {QUEUE_COUNT}) AS n; \
         INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
         SELECT 'a' || n / 20, 'e' || n, 'd' || n, 0, n FROM generate_series(1, {QUEUE_COUNT}) AS n"
    );
    Cluster::shared().unwrap().sql(url.expose(), &fill).unwrap();
    for statement in ["SELECT 1", "ANALYZE"] {
        Cluster::shared().unwrap().sql(url.expose(), statement).unwrap();
        let mut session = server.connect_writer().unwrap();
        let look = |text: &str| format!("EXPLAIN (ANALYZE, BUFFERS) {text}");
        let (plan, pages) = explain(&mut *session, &looking(look(OVERDUE), 10));
        assert!(pages < 100, "{pages} pages to find ten due queues, {statement}: {plan:#?}");
        let (plan, pages) = explain(&mut *session, &walking(look(QUEUES), "e150000", 1_000));
        assert!(pages < 10_000, "{pages} pages to go along a thousand queues, {statement}: {plan:#?}");
    }
}

/// A resend marks the delivery while it is in flight, and commits while the outcome of the attempt waits for the row.
#[test]
fn resend_committed_during_finish_is_due_at_once() {
    for (status, outcome, due_at) in [
        (DeliveryStatus::Succeeded, AttemptOutcome::Succeeded, None),
        (DeliveryStatus::Failed, AttemptOutcome::Failed, None),
        (DeliveryStatus::Pending, AttemptOutcome::Retry { due_at: start() }, Some(start())),
    ] {
        let (server, url) = server();
        let key = DeliveryKey { account: fresh(), endpoint: fresh(), id: fresh() };
        in_flight(&url, key);
        let response_body = None;
        let attempt = DeliveryAttempt { at: start(), status_code: None, duration_ms: 3, error: None, response_body };
        let ended_at = attempt.ended_at();
        let health = Health::Unchanged;
        let finished = FinishedAttempt { key, fence: 1, epoch: 0, tries: 1, attempt, outcome, health };
        let outcome = Outcome { finished: &finished, status, due_at };
        let mut resend = server.connect_writer().unwrap();
        resend.run("BEGIN; UPDATE pending_deliveries SET resend_requested = TRUE, tries = 0").unwrap();
        let standing = thread::scope(|scope| {
            let finishing =
                scope.spawn(|| server.finish(&mut *server.connect_queue().unwrap(), std::slice::from_ref(&outcome)));
            wait_for_a_lock(&url);
            resend.run("COMMIT").unwrap();
            finishing.join().unwrap()
        });
        assert_eq!(standing.unwrap(), [0]);
        let row =
            "SELECT concat_ws(' ', due_at, coalesce(lease_until, 0), tries, resend_requested) FROM pending_deliveries";
        let row = Cluster::shared().unwrap().sql(url.expose(), row).unwrap();
        assert_eq!(row, format!("{} 0 0 f", ended_at.as_microsecond()), "{status:?}");
    }
}

/// Creates a delivery that is in flight.
fn in_flight(url: &DatabaseUrl, key: DeliveryKey) {
    let DeliveryKey { account, endpoint, id } = key;
    let kind = EventType::ChargePaid.as_str();
    let make = format!(
        "INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
         VALUES ('{account}', '{endpoint}', 0, 'u', '*', 'active', 0, '', 0, 1); \
         INSERT INTO deliveries (account_id, endpoint_id, id, event_id, event_type, sequence, status, created_at) \
         VALUES ('{account}', '{endpoint}', '{id}', 'v', '{kind}', 1, 'pending', 0); \
         INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, fence, due_at, lease_until) \
         VALUES ('{account}', '{endpoint}', '{id}', 0, 1, {LEASE}, {LEASE})",
        LEASE = i64::MAX
    );
    Cluster::shared().unwrap().sql(url.expose(), &make).unwrap();
}

/// Waits until a statement in the database waits for a lock.
fn wait_for_a_lock(url: &DatabaseUrl) {
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let began = Instant::now();
    while Cluster::shared().unwrap().sql(url.expose(), waiting).unwrap() == "0" {
        assert!(began.elapsed() < Duration::from_mins(1), "no statement waits for the row");
        thread::sleep(Duration::from_millis(20));
    }
}
