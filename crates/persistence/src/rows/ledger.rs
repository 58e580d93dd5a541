//! Rows of the ledger: balances and their entries.

use cais_commit_rules::{Balance, Entry};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ledger::{Bucket, LedgerAccount};

use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

diesel::table! {
    balances (holder, bucket) {
        holder -> Text,
        bucket -> Text,
        amount -> BigInt,
    }
}

/// Inserts new entries.
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

/// Inserts balances of ledger accounts that have no entry yet.
pub(crate) static OPEN: Spec = Spec::insert_unless_there(
    "balances",
    &[("holder", Kind::Text), ("bucket", Kind::Text), ("amount", Kind::Int), ("entries", Kind::Int)],
);

/// Updates balances after a batch.
pub(crate) static UPDATE: Spec = Spec::update(
    "balances",
    &[("amount", Kind::Int), ("entries", Kind::Int), ("last_entry_id", Kind::Text)],
    &[("holder", Kind::Text), ("bucket", Kind::Text)],
);

/// Updates the balances of `pending` buckets after a batch, with their seized amounts.
pub(crate) static UPDATE_PENDING: Spec = Spec::update(
    "balances",
    &[("amount", Kind::Int), ("entries", Kind::Int), ("last_entry_id", Kind::Text), ("seized", Kind::Int)],
    &[("holder", Kind::Text), ("bucket", Kind::Text)],
);

/// Returns the values of an entry.
pub(crate) fn inserted<'a>(entry: &'a Entry<'_>) -> Vec<Value<'a>> {
    vec![
        entry.account().holder().into(),
        entry.id.into(),
        entry.account().bucket().into(),
        entry.amount.into(),
        entry.balance_after.into(),
        entry.transfer.kind.as_str().into(),
        entry.transfer.resource.as_deref().into(),
        entry.transfer.end_to_end_id.as_ref().map(EndToEndId::as_str).into(),
        entry.transfer_id.into(),
        entry.at.into(),
    ]
}

/// Returns the values of a new ledger account.
pub(crate) fn opened(account: &LedgerAccount) -> Vec<Value<'static>> {
    vec![account.holder().into(), account.bucket().into(), 0_i64.into(), 0_i64.into()]
}

/// Returns whether `account` is the `pending` bucket of a merchant, the only ledger account with a seized amount.
pub(crate) const fn is_pending(account: &LedgerAccount) -> bool {
    matches!(account, LedgerAccount::Merchant(_, Bucket::Pending))
}

/// Returns the values of a changed balance, for [`UPDATE_PENDING`] or [`UPDATE`].
pub(crate) fn moved(account: &LedgerAccount, balance: &Balance) -> Vec<Value<'static>> {
    let mut row = vec![balance.amount.into(), balance.entries.into(), balance.last.into()];
    if is_pending(account) {
        row.push(balance.seized_from_pending.into());
    }
    row.extend([account.holder().into(), account.bucket().into()]);
    row
}
