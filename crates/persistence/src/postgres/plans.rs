//! Tests the plans of statements that find rows by their key. The server may plan such a statement when a service starts, on empty tables.
//! The plan stays in use for seconds while the tables grow. So each plan must find its rows in an index, even if the tables were empty when
//! the plan was made.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use cais_testkit::postgres::Cluster;

use super::{Postgres, bind};
use crate::committer::{LOOKUPS, Op};
use crate::engine::Engine as _;
use crate::reader;
use crate::rows::{self, block, charge, event, idempotency, ledger, reservation};
use crate::sql::spec::Spec;
use crate::sql::{Query, Session, Value};
use crate::{DatabaseUrl, migrations};

/// The statements that change or remove rows. The updates of records are not in this list; the test adds them.
static SPECS: [&Spec; 10] = [
    &charge::ISSUE,
    &idempotency::ANSWER,
    &idempotency::UPDATE,
    &reservation::FREE_WITHIN,
    &reservation::FREE_EVERYWHERE,
    &ledger::UPDATE,
    &ledger::UPDATE_PENDING,
    &event::UPDATE_COUNTER,
    &block::UPDATE,
    &block::DELETE,
];

/// Asserts that the plan scans no table, and searches each index by a key.
fn assert_by_key(session: &mut dyn Session, statement: &str, query: &Query<'_>) {
    let plan: Vec<String> = session.load(query).unwrap();
    let mut asked = 0;
    for (line, next) in plan.iter().zip(plan.iter().skip(1).map(String::as_str).chain([""])) {
        assert!(!line.contains("Seq Scan") && !line.contains("Join Filter"), "{statement}: {plan:#?}");
        if line.contains(" using ") {
            assert!(next.contains("Index Cond: "), "{statement}: {plan:#?}");
            asked += 1;
        }
    }
    assert!(asked > 0, "{statement}: {plan:#?}");
}

fn all_go_by_key(server: &Postgres) {
    let mut session = server.connect_by_id().unwrap();
    let records = rows::tables();
    let changes = || records.iter().filter_map(|record| record.changes.as_ref());
    let lookups = || LOOKUPS.into_iter().chain(changes().map(|changes| &changes.versions));
    let records_by_key = records.iter().map(|record| &record.rows);
    for lookup in lookups().chain(reader::LOOKUPS).chain(records_by_key) {
        for lock in [false, true] {
            let text = format!("EXPLAIN {}", lookup.set_based(lock));
            let query = lookup.keys.iter().fold(Query::once(text), |query, _| query.texts(["k"]));
            assert_by_key(&mut *session, lookup.set_based(lock), &query);
        }
    }
    for lookup in lookups() {
        let text = lookup.locked_by_others();
        let query = lookup.keys.iter().fold(Query::once(format!("EXPLAIN {text}")), |query, _| query.texts(["k"]));
        assert_by_key(&mut *session, &text, &query);
    }
    for spec in SPECS.into_iter().chain(changes().map(|changes| &changes.update)) {
        let op = Op::free(spec, vec![spec.columns().map(|_| Value::Null).collect()]);
        let query = bind(Query::once(format!("EXPLAIN {}", spec.set_based(false))), &op).unwrap();
        assert_by_key(&mut *session, spec.set_based(false), &query);
    }
}

#[test]
fn statements_by_key_use_indexes_even_on_empty_tables() {
    let url = Cluster::shared().unwrap().fresh_database().unwrap();
    migrations::migrate(&DatabaseUrl::parse(&url).unwrap(), "test").unwrap();
    let server = Postgres::new(&DatabaseUrl::parse(&url).unwrap(), Duration::from_mins(1));
    all_go_by_key(&server);
    // After a vacuum of a new service, the statistics describe every table as empty.
    Cluster::shared().unwrap().sql(&url, "VACUUM ANALYZE").unwrap();
    all_go_by_key(&server);
}
