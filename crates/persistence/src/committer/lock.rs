//! Locks all balances and counters of a batch in key order, and then reads the rows that only these locks protect.
//!
//! A transaction that changes the blocks of an account locks the balances `available`, `pending` and `blocked` of the account. A
//! transaction that credits the account locks the balance that it credits. A block is under-funded if it holds less than its limit. A batch
//! reads such blocks only after it has locked its balances. So the batch reads every block added before, and a transaction that adds a
//! block afterwards reads the credits of the batch. Under-funded blocks are rare. If the batch finds one, it begins again and locks all
//! three balances from the start. So locks are always taken in key order.

use std::collections::BTreeSet;

use cais_commit_rules::{LedgerNeeds, LedgerSnapshot};
use cais_domain::ids::AccountId;
use cais_domain::ledger::LedgerAccount;
use cais_ports::ChangeSet;

use super::observe::{self, Row};
use super::ops::Op;
use crate::engine::Engine;
use crate::error::Fault;
use crate::rows::{event, ledger};
use crate::sql::Session;

/// The largest number of times that a batch inserts missing rows. A batch inserts at most once for transfers and events, and once for
/// under-funded blocks; the other two inserts are a reserve.
const MAX_INSERTS: u32 = 4;
/// The largest number of times that a batch begins its transaction before the attempt fails.
const MAX_TRANSACTIONS: u32 = 12;

/// Begins the transaction and locks the rows of the batch.
///
/// Missing rows are inserted in a separate transaction first, so that all locks are taken in order.
pub(super) fn ledger(
    engine: &dyn Engine,
    session: &mut dyn Session,
    changes: &[&ChangeSet],
) -> Result<LedgerSnapshot, Fault> {
    let mut needs = LedgerNeeds::of(changes);
    let mut inserts: u32 = 0;
    for _ in 0..MAX_TRANSACTIONS {
        session.run(engine.begin())?;
        let missing = match lock(&needs, engine, session)? {
            Locked::All(ledger) => return Ok(ledger),
            Locked::Missing(ops) => Some(ops),
            Locked::UnderFunded(accounts) => {
                needs.blocking.extend(accounts);
                None
            }
        };
        session.run("ROLLBACK")?;
        if let Some(ops) = missing {
            inserts = inserts.saturating_add(1);
            if inserts > MAX_INSERTS {
                return Err(Fault::Corrupt("balances or counters are missing although they were inserted".into()));
            }
            engine.apply(session, &ops)?;
        }
    }
    Err(Fault::Again("new infractions of the accounts appeared during each attempt".into()))
}

/// Returns the rows of balances and counters that a change set may lock.
pub(super) fn rows(change: &ChangeSet) -> Vec<Row> {
    let needs = LedgerNeeds::of(&[change]);
    let counters = needs.counted.iter().map(|account| observe::row_of_counter(*account));
    needs.every_balance().iter().map(observe::row_of_balance).chain(counters).collect()
}

/// The result of one attempt to lock.
enum Locked {
    /// Everything is locked.
    All(LedgerSnapshot),
    /// Some rows are missing; these statements insert them.
    Missing(Vec<Op<'static>>),
    /// These accounts are credited and have under-funded blocks.
    UnderFunded(BTreeSet<AccountId>),
}

fn lock(needs: &LedgerNeeds<'_>, engine: &dyn Engine, session: &mut dyn Session) -> Result<Locked, Fault> {
    let of_blocks: Vec<LedgerAccount> = needs.blocking.iter().flat_map(|one| LedgerNeeds::parts(*one)).collect();
    let accounts: BTreeSet<&LedgerAccount> = needs.moving.iter().copied().chain(&of_blocks).collect();
    let balances = observe::balances(engine, session, accounts.iter().copied())?;
    let sequences = observe::counters(engine, session, needs.counted.iter().copied())?;
    let unopened = accounts.iter().filter(|account| !balances.contains_key(*account));
    let uncounted = needs.counted.iter().filter(|account| !sequences.contains_key(account));
    let mut inserts = vec![
        Op::free(&ledger::OPEN, unopened.map(|account| ledger::opened(account)).collect()),
        Op::free(&event::OPEN_COUNTER, uncounted.map(|account| event::opened(*account)).collect()),
    ];
    inserts.retain(|op| !op.rows.is_empty());
    if !inserts.is_empty() {
        return Ok(Locked::Missing(inserts));
    }
    let under_funded =
        observe::under_funded_blocks(engine, session, needs.credited.difference(&needs.blocking).copied())?;
    if !under_funded.is_empty() {
        return Ok(Locked::UnderFunded(under_funded));
    }
    Ok(Locked::All(LedgerSnapshot {
        balances,
        sequences,
        blocks: observe::blocks(engine, session, needs.blocking.iter().copied())?,
        endpoints: observe::endpoints(engine, session, needs.counted.iter().copied())?,
    }))
}
