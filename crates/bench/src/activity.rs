//! What an account has done after a long time: paid charges, payouts and shares in another account's charges, mixed, many at once.

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
use cais_ports::{ChangeSet, Ids, Store as _, Write};
use cais_testkit::builders::{
    a_payment, a_recipient, a_split, an_end_to_end_id, fresh, in_status, main_acquirer, payout_terms, start, terms,
};
use uuid::{Builder, Uuid};

use crate::numbers::count;

/// Rows of one change set.
const AT_ONCE: usize = 500;
/// How many ids the store gives to a transfer: its own, and one to each side. With another number the rows would be mixed less well,
/// which whoever reads a timeline notices.
const IDS_OF_TRANSFER: u64 = 3;
/// 2026-01-01T00:00:00Z, the instant in the first identifier.
const FIRST_MS: u64 = 1_767_225_600_000;
const DESCRIPTION: &str = "two coffees and a cake";
/// What the account gets of another one's charge.
const SHARE: &str = "10";

/// The ids of a store that is filled, one millisecond after the other, and which of them come next: so the charge of a row gets an id
/// beside those of its entries, and a timeline is as mixed as one that grew.
#[derive(Debug, Default)]
pub struct Calendar {
    next: AtomicU64,
}

impl Calendar {
    fn now(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

impl Ids for Calendar {
    fn next_uuid(&self) -> Uuid {
        uuid(self.next.fetch_add(1, Ordering::Relaxed), 0)
    }
}

/// The id of that millisecond; ids of one are told apart by `number`.
fn uuid(at_ms: u64, number: u64) -> Uuid {
    let mut rest = [0; 10];
    for (slot, byte) in rest.iter_mut().skip(2).zip(number.to_be_bytes()) {
        *slot = byte;
    }
    Builder::from_unix_timestamp_millis(FIRST_MS.saturating_add(at_ms), &rest).into_uuid()
}

/// Gives the account so many rows: each is one line of its statement and one transaction of its timeline. The store must take its
/// ids from `calendar`, and do nothing else meanwhile.
///
/// Returns a key in the middle, after which half of the rows follow.
///
/// # Errors
/// When a commit is refused.
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

/// Rows that are written together.
struct Rows {
    account: AccountId,
    partner: AccountId,
    now: u64,
    writes: Vec<Write>,
    transfers: Vec<Transfer>,
}

impl Rows {
    /// Of ten rows six are charges, three are payouts and one is a share. None has a fee, which would be a line of its own.
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
        self.writes.extend([
            Write::InsertCharge(Box::new(charge.context("it was not paid")?)),
            Write::InsertPayment(Box::new(payment)),
        ]);
        self.transfers.extend(transfers);
        Ok(())
    }

    fn add_payout(&mut self, number: usize) -> Result<()> {
        let terms = PayoutTerms { fee: Money::ZERO, description: Some(description()?), ..payout_terms() };
        let payout = Payout::open(self.id(number), self.account, terms, main_acquirer(), start());
        let held = payout.hold();
        let step = payout.complete(an_end_to_end_id(), a_recipient(), start())?;
        let PayoutStep::Taken { payout, transfers, .. } = step else { bail!("it was completed before") };
        self.writes.push(Write::InsertPayout(Box::new(payout)));
        self.transfers.extend(held.into_iter().chain(transfers));
        Ok(())
    }

    /// The id of the next row, beside those of its entries.
    fn id<K: IdKind>(&self, number: usize) -> Id<K> {
        Id::new(uuid(self.now(), count(number).saturating_add(1)))
    }

    /// Which id the store gives next, after the transfers so far.
    fn now(&self) -> u64 {
        self.now.saturating_add(count(self.transfers.len()).saturating_mul(IDS_OF_TRANSFER))
    }
}

fn description() -> Result<Text> {
    Ok(Text::parse(DESCRIPTION, DESCRIPTION.len(), LineBreaks::Refused)?)
}
