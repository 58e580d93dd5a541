//! What the store holds of the keys that a batch touches, read and locked in key order.

use std::collections::HashMap;

use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::LedgerAccount;
use cais_domain::money::Money;
use cais_ports::ReservationKey;

use super::judge::{Observed, Touched};
use super::record::RecordKey;
use crate::engine::{Engine, Keys, Lookup, find};
use crate::error::Fault;
use crate::rows::claim::{self, claim_columns};
use crate::rows::ledger::Balance;
use crate::sql::Session;

static CLAIMS: Lookup = Lookup::new(claim_columns!(), "idempotency_claims AS c", "c", &["account_id", "key"]);
static WITHIN: Lookup = Lookup::new(
    "t.account_id, t.space, t.value, t.owner",
    "account_reservations AS t",
    "t",
    &["account_id", "space", "value"],
);
static EVERYWHERE: Lookup =
    Lookup::new("t.account_id, t.space, t.value, t.owner", "global_reservations AS t", "t", &["space", "value"]);
static ACCOUNTS: Lookup = Lookup::new("t.id, t.id, t.version", "accounts AS t", "t", &["id"]);
static KEYS: Lookup = Lookup::new("t.prefix, t.prefix, t.version", "api_keys AS t", "t", &["prefix"]);
static CHARGES: Lookup = Lookup::new("t.account_id, t.id, t.version", "charges AS t", "t", &["account_id", "id"]);
static NOTICES: Lookup = Lookup::new("t.id, t.id, t.version", "notices AS t", "t", &["id"]);
static RELEASES: Lookup =
    Lookup::new("t.account_id, t.end_to_end_id, t.version", "releases AS t", "t", &["account_id", "end_to_end_id"]);
static PAYOUTS: Lookup = Lookup::new("t.account_id, t.id, t.version", "payouts AS t", "t", &["account_id", "id"]);
static REFUNDS: Lookup = Lookup::new("t.account_id, t.id, t.version", "refunds AS t", "t", &["account_id", "id"]);
static BALANCES: Lookup = Lookup::new(
    "t.holder, t.bucket, t.amount, t.entries, t.last_entry_id",
    "balances AS t",
    "t",
    &["holder", "bucket"],
);
static COUNTERS: Lookup =
    Lookup::new("t.account_id, t.account_id, t.last_sequence", "event_counters AS t", "t", &["account_id"]);

/// Locks the balances of these ledger accounts; those that have none yet are missing.
pub(super) fn balances<'a>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = &'a LedgerAccount>,
) -> Result<HashMap<&'a LedgerAccount, Balance>, Fault> {
    let named: HashMap<(String, String), &LedgerAccount> =
        accounts.into_iter().map(|account| ((account.holder(), account.bucket()), account)).collect();
    let mut keys: Keys = named.keys().map(|(holder, bucket)| vec![holder.clone(), bucket.clone()]).collect();
    keys.sort_unstable();
    let rows = find(engine, session, &BALANCES, &keys, true, |session, query| session.balances(query))?;
    rows.into_iter()
        .map(|(holder, bucket, amount, entries, last)| {
            let last = last
                .map(|last| EntryId::parse(&last))
                .transpose()
                .map_err(|error| Fault::Corrupt(format!("balances: {error}")))?;
            let key = (holder, bucket);
            let account = named
                .get(&key)
                .ok_or_else(|| Fault::Corrupt(format!("balances: nobody asked for {}/{}", key.0, key.1)))?;
            Ok((*account, Balance { amount: Money::from_centavos(amount), entries, last }))
        })
        .collect()
}

/// Locks the event counters of these accounts; those that have none yet are missing.
pub(super) fn counters(
    engine: &dyn Engine,
    session: &mut dyn Session,
    accounts: impl IntoIterator<Item = AccountId>,
) -> Result<HashMap<AccountId, i64>, Fault> {
    let keys: Keys = accounts.into_iter().map(|account| vec![account.to_string()]).collect();
    let rows = find(engine, session, &COUNTERS, &keys, true, |session, query| session.marks(query))?;
    rows.into_iter()
        .map(|(account, _, last)| {
            let account =
                AccountId::parse(&account).map_err(|error| Fault::Corrupt(format!("event_counters: {error}")))?;
            Ok((account, last))
        })
        .collect()
}

/// Reads and locks everything that a batch touches.
pub(super) fn observe<'a>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &Touched<'a>,
) -> Result<Observed<'a>, Fault> {
    let mut observed = Observed::default();
    owners(engine, session, touched, &mut observed)?;
    let keys = sorted(touched.claims.iter().map(|name| vec![name.account.to_string(), name.key.as_str().to_owned()]));
    for row in find(engine, session, &CLAIMS, &keys, true, |session, query| session.claims(query))? {
        let claim = claim::read(row)?;
        if let Some(name) = touched.claims.get(&claim.name) {
            observed.claims.insert(name, claim);
        }
    }
    versions(engine, session, touched, &mut observed)?;
    Ok(observed)
}

fn owners<'a>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &Touched<'a>,
    observed: &mut Observed<'a>,
) -> Result<(), Fault> {
    let mut within: HashMap<Vec<String>, &'a ReservationKey> = HashMap::new();
    let mut everywhere: HashMap<Vec<String>, &'a ReservationKey> = HashMap::new();
    for key in &touched.reservations {
        let (space, value) = (key.space().to_owned(), key.value().to_owned());
        match key.within() {
            Some(account) => within.insert(vec![account.to_string(), space, value], key),
            None => everywhere.insert(vec![space, value], key),
        };
    }
    let load = |session: &mut dyn Session, query: &crate::sql::Query<'_>| session.quads(query);
    for (account, space, value, owner) in find(engine, session, &WITHIN, &sorted(within.keys().cloned()), true, load)? {
        observed.owners.extend(within.get(&vec![account, space, value]).map(|key| (*key, owner)));
    }
    for (_, space, value, owner) in find(engine, session, &EVERYWHERE, &sorted(everywhere.keys().cloned()), true, load)?
    {
        observed.owners.extend(everywhere.get(&vec![space, value]).map(|key| (*key, owner)));
    }
    Ok(())
}

/// Records under the two texts that their rows come back with.
type Named<'a> = HashMap<(String, String), RecordKey<'a>>;

fn versions<'a>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    touched: &Touched<'a>,
    observed: &mut Observed<'a>,
) -> Result<(), Fault> {
    let lookups: [&Lookup; 7] = [&ACCOUNTS, &KEYS, &CHARGES, &NOTICES, &RELEASES, &PAYOUTS, &REFUNDS];
    let mut named: [(&Lookup, Named<'a>); 7] = lookups.map(|lookup| (lookup, Named::new()));
    let [(_, accounts), (_, keys), (_, charges), (_, notices), (_, releases), (_, payouts), (_, refunds)] = &mut named;
    for record in &touched.records {
        match record {
            RecordKey::Account(account) => accounts.insert((account.to_string(), account.to_string()), *record),
            RecordKey::Key(prefix) => keys.insert((prefix.to_string(), prefix.to_string()), *record),
            RecordKey::Charge(account, charge) => charges.insert((account.to_string(), charge.to_string()), *record),
            RecordKey::Notice(notice) => notices.insert((notice.to_string(), notice.to_string()), *record),
            RecordKey::Release(account, pix) => releases.insert((account.to_string(), pix.to_string()), *record),
            RecordKey::Payout(account, payout) => payouts.insert((account.to_string(), payout.to_string()), *record),
            RecordKey::Refund(account, refund) => refunds.insert((account.to_string(), refund.to_string()), *record),
        };
    }
    for (lookup, named) in named {
        let single = lookup.keys.len() == 1;
        let key = |(first, second): &(String, String)| {
            if single { vec![first.clone()] } else { vec![first.clone(), second.clone()] }
        };
        let keys = sorted(named.keys().map(key));
        for (first, second, version) in
            find(engine, session, lookup, &keys, true, |session, query| session.marks(query))?
        {
            observed.versions.extend(named.get(&(first, second)).map(|record| (*record, version)));
        }
    }
    Ok(())
}

fn sorted(keys: impl Iterator<Item = Vec<String>>) -> Keys {
    let mut keys: Keys = keys.collect();
    keys.sort_unstable();
    keys
}
