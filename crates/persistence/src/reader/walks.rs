//! Tests that PostgreSQL reads every list along an index and stops at the end of the page, also in tables without statistics.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use cais_testkit::postgres::Cluster;

use super::{
    audit, crypto, deliveries, events, infractions, logins, money_out, queries, reconciliation, statement, timeline,
    usage,
};
use crate::engine::Engine as _;
use crate::postgres::Postgres;
use crate::sql::select::{Select, texts};
use crate::sql::{Query, Session};
use crate::{DatabaseUrl, migrations};

/// The statement of a list, and values that select a page of an account with 10,000 rows.
pub(super) type List = (String, &'static str);

/// Returns the list of a query, with values for its conditions and its limit.
pub(super) fn list<R>(query: &impl Select<R>, values: &'static str) -> List {
    (texts(query).0, values)
}

/// The largest number of rows in any step of a plan. A page has 50 rows, and each needs a few rows of other tables.
const MOST_ROWS: u64 = 500;

fn lists() -> Vec<List> {
    let modules = [
        queries::lists,
        money_out::lists,
        infractions::lists,
        events::lists,
        deliveries::lists,
        timeline::lists,
        statement::lists,
        reconciliation::lists,
        audit::lists,
        crypto::lists,
        logins::lists,
        usage::lists,
    ];
    modules.into_iter().flat_map(|lists| lists()).collect()
}

/// Returns the text with `$1`, `$2` and so on in place of values.
fn numbered(text: &str) -> String {
    let mut pieces = text.split('?');
    let first = pieces.next().unwrap_or_default().to_owned();
    (1..).zip(pieces).fold(first, |text, (number, piece)| format!("{text}${number}{piece}"))
}

/// Returns the numbers that follow a word anywhere in the plan.
fn numbers(plan: &[String], word: &str) -> Vec<u64> {
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    plan.iter().filter_map(|line| number(line.split_once(word)?.1)).collect()
}

fn assert_walks(session: &mut dyn Session, tables: &str) {
    for (number, (text, values)) in lists().into_iter().enumerate() {
        let name = format!("{}_{number}", tables.replace(' ', "_"));
        session.run(&format!("PREPARE {name} AS {}", numbered(&text))).unwrap();
        let explain = format!("EXPLAIN (ANALYZE, TIMING OFF) EXECUTE {name}({values})");
        let plan: Vec<String> = session.load(&Query::once(explain)).unwrap();
        let of_event = text.contains("d.event_id = ?");
        for line in &plan {
            assert!(!line.contains("Seq Scan") && !line.contains("Bitmap"), "{tables}, {text}: {plan:#?}");
            // A sort is allowed for the deliveries of one event: they are few, and no index has their order.
            assert!(of_event || !line.contains("->  Sort "), "{tables}, {text}: {plan:#?}");
        }
        let looked_at = numbers(&plan, "actual rows=").into_iter().chain(numbers(&plan, "Rows Removed by Filter: "));
        let most = looked_at.max().unwrap();
        assert!(most <= MOST_ROWS, "{most} rows, {tables}, {text}: {plan:#?}");
    }
}

#[test]
fn lists_walk_an_index_with_and_without_statistics() {
    let url = Cluster::shared().unwrap().fresh_database().unwrap();
    migrations::migrate(&DatabaseUrl::parse(&url).unwrap(), "test").unwrap();
    let server = Postgres::new(&DatabaseUrl::parse(&url).unwrap(), Duration::from_mins(1));
    Cluster::shared().unwrap().sql(&url, include_str!("fill.sql")).unwrap();
    assert_walks(&mut *server.connect_reader().unwrap(), "never analyzed");
    Cluster::shared().unwrap().sql(&url, "ANALYZE").unwrap();
    assert_walks(&mut *server.connect_reader().unwrap(), "analyzed");
}
