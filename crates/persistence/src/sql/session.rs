//! Connections to both engines behind one trait, so that the code that uses them is written once.

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};

use super::Query;
use super::fragment::Statement;

/// A borrowed connection of one of the engines.
pub(crate) enum Connection<'c> {
    /// A connection to PostgreSQL.
    Postgres(&'c mut PgConnection),
    /// A connection to a SQLite file.
    Sqlite(&'c mut SqliteConnection),
}

impl Connection<'_> {
    /// Runs statements without values and without rows.
    pub(crate) fn run(self, sql: &str) -> QueryResult<()> {
        match self {
            Self::Postgres(connection) => connection.batch_execute(sql),
            Self::Sqlite(connection) => connection.batch_execute(sql),
        }
    }

    /// Runs one statement. Returns how many rows it changed.
    pub(crate) fn execute(self, query: &Query<'_>) -> QueryResult<usize> {
        let statement = Statement::<()>::new(query);
        match self {
            Self::Postgres(connection) => statement.execute(connection),
            Self::Sqlite(connection) => statement.execute(connection),
        }
    }
}

/// A connection to an engine. An implementation adds the work around a statement: the SQLite writer waits for its turn, and a PostgreSQL
/// connection renews its plans.
pub(crate) trait Session: Send {
    /// Returns the connection of the engine.
    fn connection(&mut self) -> Connection<'_>;

    /// Runs statements without values and without rows.
    fn run(&mut self, sql: &str) -> QueryResult<()> {
        self.connection().run(sql)
    }

    /// Runs one statement. Returns how many rows it changed.
    fn execute(&mut self, query: &Query<'_>) -> QueryResult<usize> {
        self.connection().execute(query)
    }
}

impl dyn Session + '_ {
    /// Returns the rows of a query.
    pub(crate) fn load<R: Loaded>(&mut self, query: &Query<'_>) -> QueryResult<Vec<R>> {
        R::load(self.connection(), query)
    }
}

impl Session for PgConnection {
    fn connection(&mut self) -> Connection<'_> {
        Connection::Postgres(self)
    }
}

impl Session for SqliteConnection {
    fn connection(&mut self) -> Connection<'_> {
        Connection::Sqlite(self)
    }
}

/// A Rust type into which a row of a query is read.
pub(crate) trait Loaded: Sized {
    /// Returns the rows of a query.
    fn load(connection: Connection<'_>, query: &Query<'_>) -> QueryResult<Vec<Self>>;
}

/// Implements [`Loaded`] for the row types on the right. The SQL types of their columns stand on the left.
macro_rules! loaded {
    ($($columns:ty => $row:ty),+ $(,)?) => {
        $(impl $crate::sql::Loaded for $row {
            fn load(
                connection: $crate::sql::Connection<'_>,
                query: &$crate::sql::Query<'_>,
            ) -> diesel::QueryResult<Vec<Self>> {
                let statement = $crate::sql::Statement::<$columns>::new(query);
                match connection {
                    $crate::sql::Connection::Postgres(connection) => {
                        diesel::RunQueryDsl::load(statement, connection)
                    }
                    $crate::sql::Connection::Sqlite(connection) => {
                        diesel::RunQueryDsl::load(statement, connection)
                    }
                }
            }
        })+
    };
}
pub(crate) use loaded;

loaded! {
    Text => String,
    (BigInt, BigInt) => (i64, i64),
    (BigInt, BigInt, BigInt, BigInt) => (i64, i64, i64, i64),
    (Text, Text, BigInt) => NumberRow,
    (Text, BigInt, BigInt) => (String, i64, i64),
    (BigInt, BigInt, BigInt, BigInt, Text) => (i64, i64, i64, i64, String),
    (Text, Text, Text, Text, BigInt, BigInt, BigInt) => (String, String, String, String, i64, i64, i64),
    (Text, Text, Text, Text) => (String, String, String, String),
    (Text, Text, BigInt, BigInt, Nullable<Text>, BigInt) => BalanceRow,
}

/// Two texts and a number.
pub(crate) type NumberRow = (String, String, i64);

/// A stored balance: holder, bucket, amount, number of entries, id of the last entry, seized amount.
pub(crate) type BalanceRow = (String, String, i64, i64, Option<String>, i64);
