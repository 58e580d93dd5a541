//! Rows of the ledger: balances and the entries that they are the sum of.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{EntryId, TransferId};
use cais_domain::ledger::{LedgerAccount, Transfer};
use cais_domain::money::Money;
use jiff::Timestamp;

use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

/// A ledger account as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Balance {
    /// The sum of its entries.
    pub(crate) amount: Money,
    /// How many.
    pub(crate) entries: i64,
    /// The last of them.
    pub(crate) last: Option<EntryId>,
}

/// One side of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) id: EntryId,
    pub(crate) transfer_id: TransferId,
    pub(crate) account: &'a LedgerAccount,
    pub(crate) amount: Money,
    pub(crate) balance_after: Money,
    pub(crate) transfer: &'a Transfer,
    pub(crate) at: Timestamp,
}

/// New entries.
pub(crate) static INSERT_ENTRY: Spec = Spec::insert(
    "entries",
    &[
        ("holder", Kind::Text),
        ("id", Kind::Text),
        ("bucket", Kind::Text),
        ("amount", Kind::Int),
        ("balance_after", Kind::Int),
        ("kind", Kind::Text),
        ("resource_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("transfer_id", Kind::Text),
        ("created_at", Kind::Int),
    ],
);

/// Ledger accounts that had no entry yet.
pub(crate) static OPEN: Spec = Spec::insert_unless_there(
    "balances",
    &[("holder", Kind::Text), ("bucket", Kind::Text), ("amount", Kind::Int), ("entries", Kind::Int)],
);

/// Balances after a batch.
pub(crate) static UPDATE: Spec = Spec::update(
    "balances",
    &[("amount", Kind::Int), ("entries", Kind::Int), ("last_entry_id", Kind::Text)],
    &[("holder", Kind::Text), ("bucket", Kind::Text)],
);

/// The row of an entry.
pub(crate) fn inserted<'a>(entry: &Entry<'a>) -> Vec<Value<'a>> {
    vec![
        entry.account.holder().into(),
        entry.id.into(),
        entry.account.bucket().into(),
        entry.amount.into(),
        entry.balance_after.into(),
        entry.transfer.kind.as_str().into(),
        entry.transfer.resource.as_deref().into(),
        entry.transfer.end_to_end_id.as_ref().map(EndToEndId::as_str).into(),
        entry.transfer_id.into(),
        entry.at.into(),
    ]
}

/// The row of a ledger account that is opened.
pub(crate) fn opened(account: &LedgerAccount) -> Vec<Value<'static>> {
    vec![account.holder().into(), account.bucket().into(), 0_i64.into(), 0_i64.into()]
}

/// The row of a balance that moved.
pub(crate) fn moved(account: &LedgerAccount, balance: &Balance) -> Vec<Value<'static>> {
    vec![
        balance.amount.into(),
        balance.entries.into(),
        balance.last.into(),
        account.holder().into(),
        account.bucket().into(),
    ]
}
