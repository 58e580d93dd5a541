//! Queries in diesel's DSL, for both engines.

use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::query_dsl::methods::LoadQuery;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};

use super::{Connection, Session};

/// A query whose rows are `R` on either engine.
pub(crate) trait Select<R>:
    QueryFragment<Pg>
    + QueryFragment<Sqlite>
    + RunQueryDsl<PgConnection>
    + RunQueryDsl<SqliteConnection>
    + LoadQuery<'static, PgConnection, R>
    + LoadQuery<'static, SqliteConnection, R>
{
}

impl<R, Q> Select<R> for Q where
    Q: QueryFragment<Pg>
        + QueryFragment<Sqlite>
        + RunQueryDsl<PgConnection>
        + RunQueryDsl<SqliteConnection>
        + LoadQuery<'static, PgConnection, R>
        + LoadQuery<'static, SqliteConnection, R>
{
}

impl dyn Session + '_ {
    /// Returns the rows of a query.
    pub(crate) fn rows<R>(&mut self, query: impl Select<R>) -> QueryResult<Vec<R>> {
        match self.connection() {
            Connection::Postgres(connection) => RunQueryDsl::<PgConnection>::load(query, connection),
            Connection::Sqlite(connection) => RunQueryDsl::<SqliteConnection>::load(query, connection),
        }
    }
}

diesel::infix_operator!(Is, " ");

// The expression `column || ''` of an index that only a few queries use. Statements without the expression never use that index.
diesel::postfix_operator!(ExpressionIndex, " || ''", Text);

/// A comparison with fixed texts. The texts are part of the statement, because a partial index is not used with bound values.
#[derive(Debug, Clone)]
pub(crate) struct FixedTexts {
    one: &'static str,
    many: &'static str,
    list: Vec<&'static str>,
}

/// Returns the condition that the column has one of these texts.
pub(crate) fn is_one_of<C: Expression<SqlType = Text>>(
    column: C,
    words: impl IntoIterator<Item = &'static str>,
) -> Is<C, FixedTexts> {
    Is::new(column, FixedTexts { one: "= ", many: "IN (", list: words.into_iter().collect() })
}

/// Returns the condition that the column has none of these texts.
pub(crate) fn is_none_of<C: Expression<SqlType = Text>>(
    column: C,
    words: impl IntoIterator<Item = &'static str>,
) -> Is<C, FixedTexts> {
    Is::new(column, FixedTexts { one: "<> ", many: "NOT IN (", list: words.into_iter().collect() })
}

impl Expression for FixedTexts {
    type SqlType = Text;
}

impl<T> AppearsOnTable<T> for FixedTexts {}

impl<T> SelectableExpression<T> for FixedTexts {}

impl<G> ValidGrouping<G> for FixedTexts {
    type IsAggregate = is_aggregate::Never;
}

/// The comparison has no static id, so diesel caches prepared statements under their text.
impl QueryId for FixedTexts {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<DB: Backend> QueryFragment<DB> for FixedTexts {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let many = self.list.len() > 1;
        out.push_sql(if many { self.many } else { self.one });
        for (place, word) in self.list.iter().enumerate() {
            out.push_sql(if place == 0 { "'" } else { ", '" });
            out.push_sql(word);
            out.push_sql("'");
        }
        if many {
            out.push_sql(")");
        }
        Ok(())
    }
}

/// Returns the texts of a query for PostgreSQL and for SQLite.
#[cfg(test)]
pub(crate) fn texts<R>(query: &impl Select<R>) -> (String, String) {
    let text = |shown: String| shown.split(" -- binds").next().unwrap_or_default().to_owned();
    (text(diesel::debug_query::<Pg, _>(query).to_string()), text(diesel::debug_query::<Sqlite, _>(query).to_string()))
}
