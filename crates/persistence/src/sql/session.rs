//! What can be asked of a connection: the same on both engines, so that everything above is written once.

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};

use super::Query;
use super::fragment::Statement;
use crate::rows::account::{AccountColumns, AccountRow};
use crate::rows::charge::{ChargeColumns, ChargeRow};
use crate::rows::claim::{ClaimColumns, ClaimRow};
use crate::rows::key::{KeyColumns, KeyRow};
use crate::rows::notice::{NoticeColumns, NoticeRow};
use crate::rows::payment::{PaymentColumns, PaymentRow};
use crate::rows::payout::{PayoutColumns, PayoutRow};
use crate::rows::refund::{RefundColumns, RefundRow};
use crate::rows::release::{ReleaseColumns, ReleaseRow};
use crate::rows::statement::{LineColumns, LineRow};

/// A ledger account as it is stored: holder, bucket, amount, entries, last entry.
pub(crate) type BalanceRow = (String, String, i64, i64, Option<String>);

/// A connection to either engine.
pub(crate) trait Session: Send {
    /// Runs statements that take no values and answer nothing.
    fn run(&mut self, sql: &str) -> QueryResult<()>;
    /// Runs one statement; how many rows it changed.
    fn execute(&mut self, query: &Query<'_>) -> QueryResult<usize>;
    /// Rows of charges.
    fn charges(&mut self, query: &Query<'_>) -> QueryResult<Vec<ChargeRow>>;
    /// Rows of claims.
    fn claims(&mut self, query: &Query<'_>) -> QueryResult<Vec<ClaimRow>>;
    /// Rows of accounts.
    fn accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<AccountRow>>;
    /// Rows of API keys.
    fn keys(&mut self, query: &Query<'_>) -> QueryResult<Vec<KeyRow>>;
    /// Rows of API keys, each with its account.
    fn keys_with_accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<(KeyRow, AccountRow)>>;
    /// Rows of notices.
    fn notices(&mut self, query: &Query<'_>) -> QueryResult<Vec<NoticeRow>>;
    /// Rows of payouts.
    fn payouts(&mut self, query: &Query<'_>) -> QueryResult<Vec<PayoutRow>>;
    /// Rows of refunds.
    fn refunds(&mut self, query: &Query<'_>) -> QueryResult<Vec<RefundRow>>;
    /// Rows of releases.
    fn releases(&mut self, query: &Query<'_>) -> QueryResult<Vec<ReleaseRow>>;
    /// Rows of payments.
    fn payments(&mut self, query: &Query<'_>) -> QueryResult<Vec<PaymentRow>>;
    /// Lines of a statement.
    fn lines(&mut self, query: &Query<'_>) -> QueryResult<Vec<LineRow>>;
    /// Rows of balances.
    fn balances(&mut self, query: &Query<'_>) -> QueryResult<Vec<BalanceRow>>;
    /// One text.
    fn texts(&mut self, query: &Query<'_>) -> QueryResult<Vec<String>>;
    /// Two texts and a number.
    fn marks(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, i64)>>;
    /// Four texts.
    fn quads(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, String, String)>>;
    /// A text and two numbers.
    fn differences(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, i64, i64)>>;
    /// Two numbers.
    fn pairs(&mut self, query: &Query<'_>) -> QueryResult<Vec<(i64, i64)>>;
}

macro_rules! session {
    ($connection:ty) => {
        impl Session for $connection {
            fn run(&mut self, sql: &str) -> QueryResult<()> {
                self.batch_execute(sql)
            }
            fn execute(&mut self, query: &Query<'_>) -> QueryResult<usize> {
                Statement::<()>::new(query).execute(self)
            }
            fn charges(&mut self, query: &Query<'_>) -> QueryResult<Vec<ChargeRow>> {
                Statement::<ChargeColumns>::new(query).load(self)
            }
            fn claims(&mut self, query: &Query<'_>) -> QueryResult<Vec<ClaimRow>> {
                Statement::<ClaimColumns>::new(query).load(self)
            }
            fn accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<AccountRow>> {
                Statement::<AccountColumns>::new(query).load(self)
            }
            fn keys(&mut self, query: &Query<'_>) -> QueryResult<Vec<KeyRow>> {
                Statement::<KeyColumns>::new(query).load(self)
            }
            fn keys_with_accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<(KeyRow, AccountRow)>> {
                Statement::<(KeyColumns, AccountColumns)>::new(query).load(self)
            }
            fn notices(&mut self, query: &Query<'_>) -> QueryResult<Vec<NoticeRow>> {
                Statement::<NoticeColumns>::new(query).load(self)
            }
            fn payouts(&mut self, query: &Query<'_>) -> QueryResult<Vec<PayoutRow>> {
                Statement::<PayoutColumns>::new(query).load(self)
            }
            fn refunds(&mut self, query: &Query<'_>) -> QueryResult<Vec<RefundRow>> {
                Statement::<RefundColumns>::new(query).load(self)
            }
            fn releases(&mut self, query: &Query<'_>) -> QueryResult<Vec<ReleaseRow>> {
                Statement::<ReleaseColumns>::new(query).load(self)
            }
            fn payments(&mut self, query: &Query<'_>) -> QueryResult<Vec<PaymentRow>> {
                Statement::<PaymentColumns>::new(query).load(self)
            }
            fn lines(&mut self, query: &Query<'_>) -> QueryResult<Vec<LineRow>> {
                Statement::<LineColumns>::new(query).load(self)
            }
            fn balances(&mut self, query: &Query<'_>) -> QueryResult<Vec<BalanceRow>> {
                Statement::<(Text, Text, BigInt, BigInt, Nullable<Text>)>::new(query).load(self)
            }
            fn texts(&mut self, query: &Query<'_>) -> QueryResult<Vec<String>> {
                Statement::<Text>::new(query).load(self)
            }
            fn marks(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, i64)>> {
                Statement::<(Text, Text, BigInt)>::new(query).load(self)
            }
            fn quads(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, String, String)>> {
                Statement::<(Text, Text, Text, Text)>::new(query).load(self)
            }
            fn differences(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, i64, i64)>> {
                Statement::<(Text, BigInt, BigInt)>::new(query).load(self)
            }
            fn pairs(&mut self, query: &Query<'_>) -> QueryResult<Vec<(i64, i64)>> {
                Statement::<(BigInt, BigInt)>::new(query).load(self)
            }
        }
    };
}

session!(PgConnection);
session!(SqliteConnection);
