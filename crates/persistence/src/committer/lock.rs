//! The locks of a batch: every balance and counter that it needs, in key order, and then what only these locks keep as it is.
//!
//! Whoever changes the blocks of an account holds its `available`, `pending` and `blocked`; whoever credits it holds the one that it
//! credits. So a batch that holds its balances, and asks only then who lacks what, sees every block that came before it, and every
//! block that comes after it sees its credits. Nearly always nobody lacks anything. Where somebody does, the batch begins anew and
//! locks all three from the start, so that locks are always taken in order.

use std::collections::BTreeSet;

use cais_domain::block::{BlockChange, BlockEnd};
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_ports::ChangeSet;

use super::books::Books;
use super::observe::{self, Row};
use super::ops::Op;
use super::trial::credited_by;
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
pub(super) fn books(engine: &dyn Engine, session: &mut dyn Session, changes: &[&ChangeSet]) -> Result<Books, Fault> {
    let mut needs = Needs::of(changes);
    let mut openings: u32 = 0;
    for _ in 0..ROUNDS {
        session.run(engine.begin())?;
        let missing = match needs.lock(engine, session)? {
            Locked::All(books) => return Ok(books),
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

/// The balances and counters that a change set may lock.
pub(super) fn rows(change: &ChangeSet) -> impl Iterator<Item = Row> {
    let needs = Needs::of(&[change]);
    let of_blocks = needs.blocking.iter().chain(&needs.credited).flat_map(|account| parts(*account));
    let accounts: BTreeSet<LedgerAccount> = needs.moving.iter().copied().cloned().chain(of_blocks).collect();
    let balances = accounts.iter().map(observe::row_of_balance);
    balances
        .chain(needs.counted.iter().map(|account| observe::row_of_counter(*account)))
        .collect::<Vec<_>>()
        .into_iter()
}

/// What a batch has to lock.
struct Needs<'a> {
    /// Between these it moves money.
    moving: BTreeSet<&'a LedgerAccount>,
    /// These have events.
    counted: BTreeSet<AccountId>,
    /// These are credited.
    credited: BTreeSet<AccountId>,
    /// Blocks of these change, or may: all of their balances are needed.
    blocking: BTreeSet<AccountId>,
}

/// What came of trying.
enum Locked {
    /// All is locked.
    All(Books),
    /// There are no rows for some; this opens them.
    Missing(Vec<Op<'static>>),
    /// These are credited and lack something for their infractions.
    Lacking(BTreeSet<AccountId>),
}

impl<'a> Needs<'a> {
    fn of(changes: &[&'a ChangeSet]) -> Self {
        let transfers = changes.iter().flat_map(|change| &change.transfers);
        let blocks = changes.iter().flat_map(|change| &change.blocks);
        let moving = transfers.flat_map(|transfer| [&transfer.from, &transfer.to]);
        Self {
            moving: moving.chain(blocks.clone().filter_map(returned_to)).collect(),
            counted: changes.iter().flat_map(|change| &change.events).map(|event| event.account).collect(),
            credited: changes.iter().flat_map(|change| credited_by(change)).collect(),
            blocking: blocks.map(BlockChange::account).collect(),
        }
    }

    fn lock(&self, engine: &dyn Engine, session: &mut dyn Session) -> Result<Locked, Fault> {
        let of_blocks: Vec<LedgerAccount> = self.blocking.iter().flat_map(|account| parts(*account)).collect();
        let accounts: BTreeSet<&LedgerAccount> = self.moving.iter().copied().chain(&of_blocks).collect();
        let balances = observe::balances(engine, session, accounts.iter().copied())?;
        let sequences = observe::counters(engine, session, self.counted.iter().copied())?;
        let unopened = accounts.iter().filter(|account| !balances.contains_key(*account));
        let uncounted = self.counted.iter().filter(|account| !sequences.contains_key(account));
        let mut openings = vec![
            Op::free(&ledger::OPEN, unopened.map(|account| ledger::opened(account)).collect()),
            Op::free(&event::OPEN_COUNTER, uncounted.map(|account| event::opened(*account)).collect()),
        ];
        openings.retain(|op| !op.rows.is_empty());
        if !openings.is_empty() {
            return Ok(Locked::Missing(openings));
        }
        let lacking = observe::short_blocks(engine, session, self.credited.difference(&self.blocking).copied())?;
        if !lacking.is_empty() {
            return Ok(Locked::Lacking(lacking));
        }
        Ok(Locked::All(Books {
            balances: balances.into_iter().map(|(account, balance)| (account.clone(), balance)).collect(),
            sequences: sequences.into_iter().collect(),
            blocks: observe::blocks(engine, session, self.blocking.iter().copied())?,
            endpoints: observe::endpoints(engine, session, self.counted.iter().copied())?,
        }))
    }
}

/// The ledger account that a block that ends goes back to, where it leaves its account.
fn returned_to(change: &BlockChange) -> Option<&LedgerAccount> {
    match change {
        BlockChange::End { to: BlockEnd::Returned(settlement), .. } => Some(settlement),
        BlockChange::End { to: BlockEnd::Released, .. } | BlockChange::Hold { .. } => None,
    }
}

/// What a block takes from, and where it puts it.
fn parts(account: AccountId) -> [LedgerAccount; 3] {
    [Bucket::Available, Bucket::Pending, Bucket::Blocked].map(|bucket| LedgerAccount::Merchant(account, bucket))
}
