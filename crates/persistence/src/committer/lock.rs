//! The locks of a batch: every balance and counter that it needs, in key order, and then what only these locks keep as it is.
//!
//! Whoever changes the blocks of an account holds its `available`, `pending` and `blocked`; whoever credits it holds the one that it
//! credits. So a batch that holds its balances, and asks only then who lacks what, sees every block that came before it, and every
//! block that comes after it sees its credits. Nearly always nobody lacks anything. Where somebody does, the batch begins anew and
//! locks all three from the start, so that locks are always taken in order.

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

/// How often missing balances are opened before a batch counts as refused: once for its transfers and once for its infractions, unless
/// somebody removes rows.
const OPENINGS: u32 = 4;
/// How often a batch begins anew before it is left to another attempt.
const ROUNDS: u32 = 12;

/// Begins the transaction and locks what the batch needs.
///
/// Rows that are missing are opened in a transaction of their own before: so all locks are taken in order.
pub(super) fn ledger(
    engine: &dyn Engine,
    session: &mut dyn Session,
    changes: &[&ChangeSet],
) -> Result<LedgerSnapshot, Fault> {
    let mut needs = LedgerNeeds::of(changes);
    let mut openings: u32 = 0;
    for _ in 0..ROUNDS {
        session.run(engine.begin())?;
        let missing = match lock(&needs, engine, session)? {
            Locked::All(ledger) => return Ok(ledger),
            Locked::Missing(ops) => Some(ops),
            Locked::Lacking(accounts) => {
                needs.blocking.extend(accounts);
                None
            }
        };
        session.run("ROLLBACK")?;
        if let Some(ops) = missing {
            openings = openings.saturating_add(1);
            if openings > OPENINGS {
                return Err(Fault::Corrupt("balances that were opened are not there".into()));
            }
            engine.apply(session, &ops)?;
        }
    }
    Err(Fault::Again("infractions of its accounts came one after the other".into()))
}

/// Returns the rows of balances and counters that a change set may lock.
pub(super) fn rows(change: &ChangeSet) -> Vec<Row> {
    let needs = LedgerNeeds::of(&[change]);
    let counters = needs.counted.iter().map(|account| observe::row_of_counter(*account));
    needs.every_balance().iter().map(observe::row_of_balance).chain(counters).collect()
}

/// What came of trying.
enum Locked {
    /// All is locked.
    All(LedgerSnapshot),
    /// There are no rows for some; this opens them.
    Missing(Vec<Op<'static>>),
    /// These are credited and lack something for their infractions.
    Lacking(BTreeSet<AccountId>),
}

fn lock(needs: &LedgerNeeds<'_>, engine: &dyn Engine, session: &mut dyn Session) -> Result<Locked, Fault> {
    let of_blocks: Vec<LedgerAccount> = needs.blocking.iter().flat_map(|one| LedgerNeeds::parts(*one)).collect();
    let accounts: BTreeSet<&LedgerAccount> = needs.moving.iter().copied().chain(&of_blocks).collect();
    let balances = observe::balances(engine, session, accounts.iter().copied())?;
    let sequences = observe::counters(engine, session, needs.counted.iter().copied())?;
    let unopened = accounts.iter().filter(|account| !balances.contains_key(*account));
    let uncounted = needs.counted.iter().filter(|account| !sequences.contains_key(account));
    let mut openings = vec![
        Op::free(&ledger::OPEN, unopened.map(|account| ledger::opened(account)).collect()),
        Op::free(&event::OPEN_COUNTER, uncounted.map(|account| event::opened(*account)).collect()),
    ];
    openings.retain(|op| !op.rows.is_empty());
    if !openings.is_empty() {
        return Ok(Locked::Missing(openings));
    }
    let lacking = observe::short_blocks(engine, session, needs.credited.difference(&needs.blocking).copied())?;
    if !lacking.is_empty() {
        return Ok(Locked::Lacking(lacking));
    }
    Ok(Locked::All(LedgerSnapshot {
        balances,
        sequences,
        blocks: observe::blocks(engine, session, needs.blocking.iter().copied())?,
        endpoints: observe::endpoints(engine, session, needs.counted.iter().copied())?,
    }))
}
