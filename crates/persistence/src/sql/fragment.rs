//! A [`Query`] as a fragment of diesel, for each engine.

use std::marker::PhantomData;

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query as DieselQuery, QueryFragment, QueryId};
use diesel::query_dsl::RunQueryDsl;
use diesel::result::Error;
use diesel::serialize::ToSql;
use diesel::sql_types::{Array, BigInt, Binary, HasSqlType, Nullable, Text};
use diesel::sqlite::Sqlite;

use super::{Bind, Query, Value};

/// A query whose rows have the columns `S`.
pub(crate) struct Statement<'q, S> {
    query: &'q Query<'q>,
    columns: PhantomData<S>,
}

impl<'q, S> Statement<'q, S> {
    pub(crate) const fn new(query: &'q Query<'q>) -> Self {
        Self { query, columns: PhantomData }
    }
}

/// The fragment has no static id, so diesel caches prepared statements under their text.
impl<S> QueryId for Statement<'_, S> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<S> DieselQuery for Statement<'_, S> {
    type SqlType = S;
}

impl<S, C> RunQueryDsl<C> for Statement<'_, S> {}

impl<S> QueryFragment<Pg> for Statement<'_, S> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        walk(self.query, out, |bind, out| match bind {
            Bind::One(value) => one(value, out),
            Bind::Texts(column) => out.push_bind_param::<Array<Nullable<Text>>, _>(column),
            Bind::Ints(column) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(column),
            Bind::Blobs(column) => out.push_bind_param::<Array<Nullable<Binary>>, _>(column),
        })
    }
}

impl<S> QueryFragment<Sqlite> for Statement<'_, S> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        walk(self.query, out, |bind, out| match bind {
            Bind::One(value) => one(value, out),
            Bind::Texts(_) | Bind::Ints(_) | Bind::Blobs(_) => {
                Err(Error::QueryBuilderError("SQLite accepts no arrays as values".into()))
            }
        })
    }
}

/// Writes the text up to each `?`, then its value.
fn walk<'b, DB: Backend>(
    query: &'b Query<'b>,
    mut out: AstPass<'_, 'b, DB>,
    push: impl Fn(&'b Bind<'b>, &mut AstPass<'_, 'b, DB>) -> QueryResult<()>,
) -> QueryResult<()> {
    if query.once {
        out.unsafe_to_cache_prepared();
    }
    let mut pieces = query.text.split('?');
    out.push_sql(pieces.next().unwrap_or_default());
    let mut binds = query.binds.iter();
    for piece in pieces {
        let bind =
            binds.next().ok_or_else(|| Error::QueryBuilderError("the statement has fewer values than `?`".into()))?;
        push(bind, &mut out)?;
        out.push_sql(piece);
    }
    match binds.next() {
        None => Ok(()),
        Some(_) => Err(Error::QueryBuilderError("the statement has more values than `?`".into())),
    }
}

fn one<'b, DB>(value: &'b Value<'b>, out: &mut AstPass<'_, 'b, DB>) -> QueryResult<()>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt> + HasSqlType<Binary>,
    str: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
    [u8]: ToSql<Binary, DB>,
    Option<i64>: ToSql<Nullable<BigInt>, DB>,
{
    match value {
        Value::Text(text) => out.push_bind_param::<Text, str>(text.as_ref()),
        Value::Int(number) => out.push_bind_param::<BigInt, i64>(number),
        Value::Bytes(bytes) => out.push_bind_param::<Binary, [u8]>(bytes),
        Value::Null => out.push_bind_param::<Nullable<BigInt>, Option<i64>>(&None),
    }
}
