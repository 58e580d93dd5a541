//! What can be asked of a connection: the same on both engines, so that everything above is written once.

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};

use super::Query;
use super::fragment::Statement;
use crate::postgres::Planned;
use crate::rows::account::{AccountColumns, AccountRow};
use crate::rows::audit::{AuditColumns, StoredAudit};
use crate::rows::block::{BlockColumns, BlockRow};
use crate::rows::charge::{ChargeColumns, ChargeRow};
use crate::rows::claim::{ClaimColumns, ClaimRow};
use crate::rows::delivery::{ClaimedColumns, ClaimedRow, DeliveryColumns, DeliveryRow, LaneColumns, LaneRow};
use crate::rows::endpoint::{EndpointColumns, EndpointRow};
use crate::rows::event::{EventColumns, EventRow};
use crate::rows::infraction::{InfractionColumns, InfractionRow};
use crate::rows::key::{KeyColumns, KeyRow};
use crate::rows::notice::{NoticeColumns, NoticeRow};
use crate::rows::payment::{PaymentColumns, PaymentRow};
use crate::rows::payout::{PayoutColumns, PayoutRow};
use crate::rows::refund::{RefundColumns, RefundRow};
use crate::rows::release::{ReleaseColumns, ReleaseRow};
use crate::rows::statement::{LineColumns, LineRow};
use crate::sqlite::Writer;

/// A ledger account as it is stored: holder, bucket, amount, entries, last entry, what was taken of it.
pub(crate) type BalanceRow = (String, String, i64, i64, Option<String>, i64);

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
    /// Rows of webhook endpoints.
    fn endpoints(&mut self, query: &Query<'_>) -> QueryResult<Vec<EndpointRow>>;
    /// Rows of events.
    fn events(&mut self, query: &Query<'_>) -> QueryResult<Vec<EventRow>>;
    /// Rows of infractions.
    fn infractions(&mut self, query: &Query<'_>) -> QueryResult<Vec<InfractionRow>>;
    /// Rows of the audit log.
    fn audits(&mut self, query: &Query<'_>) -> QueryResult<Vec<StoredAudit>>;
    /// Rows of blocks.
    fn blocks(&mut self, query: &Query<'_>) -> QueryResult<Vec<BlockRow>>;
    /// Rows of deliveries, each with one of its attempts.
    fn deliveries(&mut self, query: &Query<'_>) -> QueryResult<Vec<DeliveryRow>>;
    /// Rows of deliveries that were claimed.
    fn claimed(&mut self, query: &Query<'_>) -> QueryResult<Vec<ClaimedRow>>;
    /// Rows of lanes with something due.
    fn lanes(&mut self, query: &Query<'_>) -> QueryResult<Vec<LaneRow>>;
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

/// What a session is made of: a connection, and what has to happen around whatever writes on it.
pub(crate) trait Connected {
    /// The connection of the engine.
    type Connection;

    /// It.
    fn connection(&mut self) -> &mut Self::Connection;

    /// Does what may write; `text` is it where it may begin or end a transaction.
    fn around<T>(
        &mut self,
        _text: &str,
        write: impl FnOnce(&mut Self::Connection) -> QueryResult<T>,
    ) -> QueryResult<T> {
        write(self.connection())
    }
}

impl Connected for PgConnection {
    type Connection = Self;

    fn connection(&mut self) -> &mut Self {
        self
    }
}

impl Connected for SqliteConnection {
    type Connection = Self;

    fn connection(&mut self) -> &mut Self {
        self
    }
}

macro_rules! session {
    ($session:ty) => {
        impl Session for $session {
            fn run(&mut self, sql: &str) -> QueryResult<()> {
                self.around(sql, |connection| connection.batch_execute(sql))
            }
            fn execute(&mut self, query: &Query<'_>) -> QueryResult<usize> {
                self.around("", |connection| Statement::<()>::new(query).execute(connection))
            }
            fn charges(&mut self, query: &Query<'_>) -> QueryResult<Vec<ChargeRow>> {
                Statement::<ChargeColumns>::new(query).load(self.connection())
            }
            fn claims(&mut self, query: &Query<'_>) -> QueryResult<Vec<ClaimRow>> {
                Statement::<ClaimColumns>::new(query).load(self.connection())
            }
            fn accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<AccountRow>> {
                Statement::<AccountColumns>::new(query).load(self.connection())
            }
            fn keys(&mut self, query: &Query<'_>) -> QueryResult<Vec<KeyRow>> {
                Statement::<KeyColumns>::new(query).load(self.connection())
            }
            fn keys_with_accounts(&mut self, query: &Query<'_>) -> QueryResult<Vec<(KeyRow, AccountRow)>> {
                Statement::<(KeyColumns, AccountColumns)>::new(query).load(self.connection())
            }
            fn notices(&mut self, query: &Query<'_>) -> QueryResult<Vec<NoticeRow>> {
                Statement::<NoticeColumns>::new(query).load(self.connection())
            }
            fn payouts(&mut self, query: &Query<'_>) -> QueryResult<Vec<PayoutRow>> {
                Statement::<PayoutColumns>::new(query).load(self.connection())
            }
            fn refunds(&mut self, query: &Query<'_>) -> QueryResult<Vec<RefundRow>> {
                Statement::<RefundColumns>::new(query).load(self.connection())
            }
            fn releases(&mut self, query: &Query<'_>) -> QueryResult<Vec<ReleaseRow>> {
                Statement::<ReleaseColumns>::new(query).load(self.connection())
            }
            fn payments(&mut self, query: &Query<'_>) -> QueryResult<Vec<PaymentRow>> {
                Statement::<PaymentColumns>::new(query).load(self.connection())
            }
            fn endpoints(&mut self, query: &Query<'_>) -> QueryResult<Vec<EndpointRow>> {
                Statement::<EndpointColumns>::new(query).load(self.connection())
            }
            fn events(&mut self, query: &Query<'_>) -> QueryResult<Vec<EventRow>> {
                Statement::<EventColumns>::new(query).load(self.connection())
            }
            fn infractions(&mut self, query: &Query<'_>) -> QueryResult<Vec<InfractionRow>> {
                Statement::<InfractionColumns>::new(query).load(self.connection())
            }
            fn audits(&mut self, query: &Query<'_>) -> QueryResult<Vec<StoredAudit>> {
                Statement::<AuditColumns>::new(query).load(self.connection())
            }
            fn blocks(&mut self, query: &Query<'_>) -> QueryResult<Vec<BlockRow>> {
                Statement::<BlockColumns>::new(query).load(self.connection())
            }
            fn deliveries(&mut self, query: &Query<'_>) -> QueryResult<Vec<DeliveryRow>> {
                Statement::<DeliveryColumns>::new(query).load(self.connection())
            }
            fn claimed(&mut self, query: &Query<'_>) -> QueryResult<Vec<ClaimedRow>> {
                Statement::<ClaimedColumns>::new(query).load(self.connection())
            }
            fn lanes(&mut self, query: &Query<'_>) -> QueryResult<Vec<LaneRow>> {
                Statement::<LaneColumns>::new(query).load(self.connection())
            }
            fn lines(&mut self, query: &Query<'_>) -> QueryResult<Vec<LineRow>> {
                Statement::<LineColumns>::new(query).load(self.connection())
            }
            fn balances(&mut self, query: &Query<'_>) -> QueryResult<Vec<BalanceRow>> {
                Statement::<(Text, Text, BigInt, BigInt, Nullable<Text>, BigInt)>::new(query).load(self.connection())
            }
            fn texts(&mut self, query: &Query<'_>) -> QueryResult<Vec<String>> {
                Statement::<Text>::new(query).load(self.connection())
            }
            fn marks(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, i64)>> {
                Statement::<(Text, Text, BigInt)>::new(query).load(self.connection())
            }
            fn quads(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, String, String, String)>> {
                Statement::<(Text, Text, Text, Text)>::new(query).load(self.connection())
            }
            fn differences(&mut self, query: &Query<'_>) -> QueryResult<Vec<(String, i64, i64)>> {
                Statement::<(Text, BigInt, BigInt)>::new(query).load(self.connection())
            }
            fn pairs(&mut self, query: &Query<'_>) -> QueryResult<Vec<(i64, i64)>> {
                Statement::<(BigInt, BigInt)>::new(query).load(self.connection())
            }
        }
    };
}

session!(PgConnection);
session!(Planned);
session!(SqliteConnection);
session!(Writer);
