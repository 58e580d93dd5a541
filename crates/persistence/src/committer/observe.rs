//! Reads and locks the stored rows of the keys that a batch touches, in key order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cais_commit_rules::{Balance, Blocks, Endpoints, KeySnapshot};
use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::LedgerAccount;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_ports::{IdempotencyRef, RecordKey, ReservationKey, alerts};

use super::touched::TouchedKeys;
use crate::engine::{Engine, KEY_SEPARATOR, Keys, Lookup, find};
use crate::error::Fault;
use crate::rows::block::BlockRow;
use crate::rows::endpoint::EndpointRow;
use crate::rows::idempotency::IdempotencyRow;
use crate::rows::{Record as _, block, idempotency, table_of};
use crate::sql::table::{Row as _, names};
use crate::sql::{BalanceRow, NumberRow, Session};

static IDEMPOTENCY_RECORDS: Lookup =
    Lookup::of(|| names::<IdempotencyRow<'_>>("c"), "idempotency_records AS c", "c", &["account_id", "key"]);
static WITHIN: Lookup = Lookup::new(
    "t.account_id, t.space, t.value, t.owner",
    "account_reservations AS t",
    "t",
    &["account_id", "space", "value"],
);
static EVERYWHERE: Lookup =
    Lookup::new("t.account_id, t.space, t.value, t.owner", "global_reservations AS t", "t", &["space", "value"]);
static BALANCES: Lookup = Lookup::new(
    "t.holder, t.bucket, t.amount, t.entries, t.last_entry_id, t.seized",
    "balances AS t",
    "t",
    &["holder", "bucket"],
);
static COUNTERS: Lookup =
    Lookup::new("t.account_id, t.account_id, t.last_sequence", "event_counters AS t", "t", &["account_id"]);
static BLOCKS: Lookup = Lookup::of(|| names::<BlockRow<'_>>("b"), "blocks AS b", "b", &["account_id"]);
static UNDER_FUNDED_BLOCKS: Lookup = Lookup::new(
    "b.account_id, b.infraction_id, b.held",
    "(SELECT account_id, infraction_id, held FROM blocks WHERE held < max_amount) AS b",
    "b",
    &["account_id"],
);
/// The condition `state <> 'deleted'` is that of the partial index of visible endpoints, and makes the index usable.
static ENDPOINTS: Lookup = Lookup::of(
    || names::<EndpointRow<'_>>("w"),
    "(SELECT * FROM webhook_endpoints WHERE state <> 'deleted' AND state <> 'disabled') AS w",
    "w",
    &["account_id"],
);

/// The lookups of rows other than records, for the test of their query plans. The lookups of under-funded blocks and of endpoints use
/// partial indexes and have their own test.
#[cfg(test)]
pub(crate) static LOOKUPS: [&Lookup; 6] = [&IDEMPOTENCY_RECORDS, &WITHIN, &EVERYWHERE, &BALANCES, &COUNTERS, &BLOCKS];

/// Locks the balances of these ledger accounts. Balances without a row are absent from the result.
pub(super) fn balances<'a>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = &'a LedgerAccount>,
) -> Result<BTreeMap<LedgerAccount, Balance>, Fault> {
    let named: HashMap<(String, String), &LedgerAccount> =
        accounts.into_iter().map(|account| ((account.holder(), account.bucket()), account)).collect();
    let mut keys: Keys = named.keys().map(|(holder, bucket)| vec![holder.clone(), bucket.clone()]).collect();
    keys.sort_unstable();
    let rows: Vec<BalanceRow> = find(engine, session, &BALANCES, &keys, true)?;
    rows.into_iter()
        .map(|(holder, bucket, amount, entries, last, seized)| {
            let last = last
                .map(|last| EntryId::parse(&last))
                .transpose()
                .map_err(|error| Fault::Corrupt(format!("balances: {error}")))?;
            let key = (holder, bucket);
            let account =
                named.get(&key).ok_or_else(|| Fault::Corrupt(format!("unrequested balance: {}/{}", key.0, key.1)))?;
            let (amount, seized_from_pending) = (Money::from_centavos(amount), Money::from_centavos(seized));
            Ok(((*account).clone(), Balance { amount, entries, last, seized_from_pending }))
        })
        .collect()
}

/// Locks the event counters of these accounts. Counters without a row are absent from the result.
pub(super) fn counters(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = AccountId>,
) -> Result<BTreeMap<AccountId, i64>, Fault> {
    let rows: Vec<NumberRow> = find(engine, session, &COUNTERS, &named(accounts), true)?;
    rows.into_iter()
        .map(|(account, _, last)| {
            let account =
                AccountId::parse(&account).map_err(|error| Fault::Corrupt(format!("event_counters: {error}")))?;
            Ok((account, last))
        })
        .collect()
}

/// Returns which of these accounts have under-funded blocks.
pub(super) fn under_funded_blocks(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = AccountId>,
) -> Result<BTreeSet<AccountId>, Fault> {
    let rows: Vec<NumberRow> = find(engine, session, &UNDER_FUNDED_BLOCKS, &named(accounts), false)?;
    let parse =
        |account: String| AccountId::parse(&account).map_err(|error| Fault::Corrupt(format!("blocks: {error}")));
    rows.into_iter().map(|(account, ..)| parse(account)).collect()
}

/// Returns all blocks of these accounts.
pub(super) fn blocks(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = AccountId>,
) -> Result<BTreeMap<AccountId, Blocks>, Fault> {
    let mut blocks: BTreeMap<AccountId, Blocks> = BTreeMap::new();
    for row in find(engine, session, &BLOCKS, &named(accounts), false)? {
        let block = block::read(row)?;
        blocks.entry(block.account).or_default().insert(block.infraction, block);
    }
    Ok(blocks)
}

/// Returns the active and inactive endpoints of these accounts. An account without any endpoint has an empty map.
pub(super) fn endpoints(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = AccountId>,
) -> Result<Endpoints, Fault> {
    let mut endpoints: Endpoints = accounts.into_iter().map(|account| (account, BTreeMap::new())).collect();
    let keys = named(endpoints.keys().copied());
    for row in find::<EndpointRow<'_>>(engine, session, &ENDPOINTS, &keys, false)? {
        let name = row.name();
        match Endpoint::read(row) {
            Ok(endpoint) => {
                endpoints.entry(endpoint.account).or_default().insert(endpoint.id, endpoint);
            }
            // The batch continues: a payment must not wait for the repair of an endpoint. The event is stored and can be sent again.
            Err(fault) => {
                tracing::error!(alert = alerts::RECORD_UNREADABLE, row = name, %fault, "webhook endpoint cannot be read; no events are delivered to the endpoint");
            }
        }
    }
    Ok(endpoints)
}

/// Returns the keys of rows that are found by their account.
fn named(accounts: impl IntoIterator<Item = AccountId>) -> Keys {
    accounts.into_iter().map(|account| vec![account.to_string()]).collect()
}

/// Reads and locks every key that a batch touches.
pub(super) fn keys(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &TouchedKeys<'_>,
) -> Result<KeySnapshot, Fault> {
    let owners = owners(engine, session, touched)?;
    let keys = sorted(touched.idempotency_records.iter().map(|name| row_of_idempotency_record(name).1));
    let records = find(engine, session, &IDEMPOTENCY_RECORDS, &keys, true)?;
    let records =
        records.into_iter().map(idempotency::read).map(|read| read.map(|record| (record.name.clone(), record)));
    let idempotency_records = records.collect::<Result<_, Fault>>()?;
    Ok(KeySnapshot { idempotency_records, owners, versions: versions(engine, session, touched)? })
}

fn owners(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &TouchedKeys<'_>,
) -> Result<HashMap<ReservationKey, String>, Fault> {
    let mut owners = HashMap::new();
    for (lookup, named) in by_table(touched.reservations.iter().map(|key| (row_of_value(key), *key))) {
        let keys = sorted(named.keys().cloned());
        let rows: Vec<(String, String, String, String)> = find(engine, session, lookup, &keys, true)?;
        for (account, space, value, owner) in rows {
            let row = if lookup.keys.len() == 2 { vec![space, value] } else { vec![account, space, value] };
            owners.extend(named.get(&row).map(|key| ((*key).clone(), owner)));
        }
    }
    Ok(owners)
}

fn versions(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &TouchedKeys<'_>,
) -> Result<HashMap<RecordKey, i64>, Fault> {
    let mut versions = HashMap::new();
    for (lookup, named) in by_table(touched.records.iter().filter_map(|record| Some((row_of_record(record)?, record))))
    {
        let keys = sorted(named.keys().cloned());
        let rows: Vec<NumberRow> = find(engine, session, lookup, &keys, true)?;
        for (key, _, version) in rows {
            let row: Vec<_> = key.split(KEY_SEPARATOR).map(str::to_owned).collect();
            versions.extend(named.get(&row).map(|record| ((*record).clone(), version)));
        }
    }
    Ok(versions)
}

/// The lookup and the key of a row.
pub(super) type Row = (&'static Lookup, Vec<String>);

/// Returns the row of an idempotency record.
pub(super) fn row_of_idempotency_record(name: &IdempotencyRef) -> Row {
    (&IDEMPOTENCY_RECORDS, vec![name.account.to_string(), name.key.as_str().to_owned()])
}

/// Returns the row of a unique value.
pub(super) fn row_of_value(key: &ReservationKey) -> Row {
    let (space, value) = (key.space().to_owned(), key.value().to_owned());
    match key.within() {
        Some(account) => (&WITHIN, vec![account.to_string(), space, value]),
        None => (&EVERYWHERE, vec![space, value]),
    }
}

/// Returns the row of a record; `None` for a record that never changes. Such a record is not locked, because the unique key of its table
/// refuses a second insert.
pub(super) fn row_of_record(record: &RecordKey) -> Option<Row> {
    let changes = table_of(record).changes.as_ref()?;
    Some((&changes.versions, record.texts()))
}

/// Returns the row of a balance.
pub(super) fn row_of_balance(account: &LedgerAccount) -> Row {
    (&BALANCES, vec![account.holder(), account.bucket()])
}

/// Returns the row of an event counter.
pub(super) fn row_of_counter(account: AccountId) -> Row {
    (&COUNTERS, vec![account.to_string()])
}

/// Groups rows, each with an attached value, by table, in the order of the tables' names.
fn by_table<T>(
    rows: impl Iterator<Item = (Row, T)>,
) -> impl Iterator<Item = (&'static Lookup, HashMap<Vec<String>, T>)> {
    let mut tables: BTreeMap<&str, (&Lookup, HashMap<Vec<String>, T>)> = BTreeMap::new();
    for ((lookup, key), what) in rows {
        tables.entry(lookup.table()).or_insert_with(|| (lookup, HashMap::new())).1.insert(key, what);
    }
    tables.into_values()
}

fn sorted(keys: impl Iterator<Item = Vec<String>>) -> Keys {
    let mut keys: Keys = keys.collect();
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests {
    use super::{ENDPOINTS, UNDER_FUNDED_BLOCKS};
    use crate::reader::plans::Planner;

    #[test]
    fn payment_lookups_are_found_by_account() {
        let mut planner = Planner::new();
        for lookup in [&UNDER_FUNDED_BLOCKS, &ENDPOINTS] {
            let steps = planner.plan(lookup.single());
            assert!(matches!(steps.as_slice(), [step] if step.contains("(account_id=?)")), "{steps:?}");
        }
    }
}
