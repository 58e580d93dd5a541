//! The records of an account after long use: paid charges, payouts and split shares in mixed order, many per commit.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms, Credit};
use cais_domain::ids::{AccountId, Id, IdKind};
use cais_domain::ledger::Transfer;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStep, PayoutTerms};
use cais_domain::split::Split;
use cais_domain::text::{LineBreaks, Text};
use cais_persistence::Persistence;
use cais_ports::{ChangeSet, IdGenerator, Store as _, Write};
use cais_testkit::builders::{
    a_payment, a_recipient, a_split, an_end_to_end_id, fresh, in_status, main_acquirer, payout_terms, start, terms,
};
use uuid::{Builder, Uuid};

use crate::numbers::count;

/// Rows per change set.
const AT_ONCE: usize = 500;
/// The ids that the store uses per transfer: its own, and one for each side. Another number would mix the rows less
/// well, which readers of a timeline notice.
const IDS_OF_TRANSFER: u64 = 3;
/// 2026-01-01T00:00:00Z, the instant of the first identifier.
const FIRST_MS: u64 = 1_767_225_600_000;
const DESCRIPTION: &str = "two coffees and a cake";
/// The account's share in another account's charge.
const SHARE: &str = "10";

/// The ids of a store being filled, in ascending milliseconds. A charge gets an id close to its entries, so the
/// timeline is mixed as in real use.
#[derive(Debug, Default)]
pub struct Calendar {
    next: AtomicU64,
}

impl Calendar {
    fn now(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

impl IdGenerator for Calendar {
    fn next_uuid(&self) -> Uuid {
        uuid(self.next.fetch_add(1, Ordering::Relaxed), 0)
    }
}

/// Returns the id of a millisecond; `number` distinguishes ids of the same one.
fn uuid(at_ms: u64, number: u64) -> Uuid {
    let mut rest = [0; 10];
    for (slot, byte) in rest.iter_mut().skip(2).zip(number.to_be_bytes()) {
        *slot = byte;
    }
    Builder::from_unix_timestamp_millis(FIRST_MS.saturating_add(at_ms), &rest).into_uuid()
}

/// Adds rows to the account. Each is one line of its statement and one transaction of its timeline. The store must use
/// the ids of `calendar`, and must be idle otherwise.
///
/// Returns a key in the middle, with half of the rows after it.
///
/// # Errors
/// If a commit is refused.
pub async fn fill(store: &Persistence, calendar: &Calendar, account: AccountId, rows: usize) -> Result<Uuid> {
    let partner = fresh();
    let mut middle = None;
    for first in (0..rows).step_by(AT_ONCE) {
        if first >= rows / 2 {
            middle.get_or_insert_with(|| uuid(calendar.now(), 0));
        }
        let mut batch = Rows { account, partner, now: calendar.now(), writes: Vec::new(), transfers: Vec::new() };
        batch.add(first..rows.min(first.saturating_add(AT_ONCE)))?;
        store.commit(ChangeSet { writes: batch.writes, transfers: batch.transfers, ..ChangeSet::new(start()) }).await?;
    }
    middle.context("too few rows")
}

/// Rows written in one commit.
struct Rows {
    account: AccountId,
    partner: AccountId,
    now: u64,
    writes: Vec<Write>,
    transfers: Vec<Transfer>,
}

impl Rows {
    /// Adds rows: of ten, six are charges, three payouts and one is a share. None has a fee, which would add a line.
    fn add(&mut self, numbers: Range<usize>) -> Result<()> {
        for number in numbers {
            match number % 10 {
                2 | 5 | 8 => self.add_payout(number)?,
                4 => self.add_charge(number, self.partner, a_split(&[(self.account, SHARE)]))?,
                _ => self.add_charge(number, self.account, Split::NONE)?,
            }
        }
        Ok(())
    }

    fn add_charge(&mut self, number: usize, account: AccountId, split: Split) -> Result<()> {
        let terms = ChargeTerms { fee: Money::ZERO, description: Some(description()?), split, ..terms() };
        let charge = Charge::open(self.id(number), account, terms, main_acquirer(), start());
        let payment = a_payment(charge.terms.amount.centavos());
        let Credit { charge, payment, transfers, .. } =
            in_status(charge, ChargeStatus::Pending).credit(payment, 0, start())?;
        self.writes.extend([Write::insert(charge.context("the charge was not paid")?), Write::insert(payment)]);
        self.transfers.extend(transfers);
        Ok(())
    }

    fn add_payout(&mut self, number: usize) -> Result<()> {
        let terms = PayoutTerms { fee: Money::ZERO, description: Some(description()?), ..payout_terms() };
        let payout = Payout::open(self.id(number), self.account, terms, main_acquirer(), start());
        let held = payout.hold();
        let step = payout.complete(an_end_to_end_id(), a_recipient(), start())?;
        let PayoutStep::Taken { payout, transfers, .. } = step else { bail!("the payout was completed before") };
        self.writes.push(Write::insert(payout));
        self.transfers.extend(held.into_iter().chain(transfers));
        Ok(())
    }

    /// Returns the id of the next row, close to those of its entries.
    fn id<K: IdKind>(&self, number: usize) -> Id<K> {
        Id::new(uuid(self.now(), count(number).saturating_add(1)))
    }

    /// Returns the next id of the store, after the transfers so far.
    fn now(&self) -> u64 {
        self.now.saturating_add(count(self.transfers.len()).saturating_mul(IDS_OF_TRANSFER))
    }
}

fn description() -> Result<Text> {
    Ok(Text::parse(DESCRIPTION, DESCRIPTION.len(), LineBreaks::Refused)?)
}
