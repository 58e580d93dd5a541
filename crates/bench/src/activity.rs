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
/// The number of ids that the store uses per transfer: one for the transfer, and one for each side. If the store used
/// another number, charges and payouts of the timeline would be mixed less evenly.
const IDS_OF_TRANSFER: u64 = 3;
/// The largest number of ids that ten rows use. If the rows use fewer ids, the activity ends a little before the present;
/// no id lies after the present.
const IDS_OF_TEN_ROWS: u64 = 14 * IDS_OF_TRANSFER;
/// 2026-01-01T00:00:00Z, the instant of the first id of a default [`Calendar`].
const FIRST_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;
const DESCRIPTION: &str = "two coffees and a cake";
/// The account's share in another account's charge, in percent.
const SHARE: &str = "10";

/// The ids of a store that is being filled, in ascending order and equal intervals. A charge gets an id close to the ids
/// of its entries, so the timeline is mixed as in real use.
#[derive(Debug)]
pub struct Calendar {
    first_ms: u64,
    interval_ms: u64,
    /// The number of the next id.
    next: AtomicU64,
}

impl Default for Calendar {
    fn default() -> Self {
        Self { first_ms: FIRST_MS, interval_ms: 1, next: AtomicU64::new(0) }
    }
}

impl Calendar {
    /// Creates the ids of an activity that began `days` days ago and ends now. `rows` is the number of rows that it will have.
    ///
    /// # Errors
    /// If the clock shows a time before 1970.
    #[expect(clippy::disallowed_methods, reason = "the activity is that of the last days before the measurement")]
    pub fn of_last_days(days: u64, rows: usize) -> Result<Self> {
        let now_ms = u64::try_from(jiff::Timestamp::now().as_millisecond())?;
        let period_ms = days.saturating_mul(DAY_MS);
        let ids = count(rows).saturating_mul(IDS_OF_TEN_ROWS) / 10;
        let interval_ms = period_ms.checked_div(ids).context("no rows")?;
        Ok(Self { first_ms: now_ms.saturating_sub(period_ms), interval_ms, next: AtomicU64::new(0) })
    }

    fn now(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Returns an id with the instant of the id `number`. `part` distinguishes ids of the same instant.
    fn uuid(&self, number: u64, part: u64) -> Uuid {
        let mut rest = [0; 10];
        for (slot, byte) in rest.iter_mut().skip(2).zip(part.to_be_bytes()) {
            *slot = byte;
        }
        let at_ms = self.first_ms.saturating_add(number.saturating_mul(self.interval_ms));
        Builder::from_unix_timestamp_millis(at_ms, &rest).into_uuid()
    }
}

impl IdGenerator for Calendar {
    fn next_uuid(&self) -> Uuid {
        self.uuid(self.next.fetch_add(1, Ordering::Relaxed), 0)
    }
}

/// Adds rows to the account. Each row is one line of the account's statement and one transaction of its timeline. The
/// store must use the ids of `calendar`, and must be idle otherwise.
///
/// Returns the pagination key of the middle of the timeline: half of the rows are older, and half are newer.
///
/// # Errors
/// If a commit is refused.
pub async fn fill(store: &Persistence, calendar: &Calendar, account: AccountId, rows: usize) -> Result<Uuid> {
    let partner = fresh();
    let mut middle = None;
    for first in (0..rows).step_by(AT_ONCE) {
        if first >= rows / 2 {
            middle.get_or_insert_with(|| calendar.uuid(calendar.now(), 0));
        }
        let (now, writes, transfers) = (calendar.now(), Vec::new(), Vec::new());
        let mut batch = Rows { calendar, account, partner, now, writes, transfers };
        batch.add(first..rows.min(first.saturating_add(AT_ONCE)))?;
        store.commit(ChangeSet { writes: batch.writes, transfers: batch.transfers, ..ChangeSet::new(start()) }).await?;
    }
    middle.context("too few rows")
}

/// Rows written in one commit.
struct Rows<'c> {
    calendar: &'c Calendar,
    account: AccountId,
    partner: AccountId,
    now: u64,
    writes: Vec<Write>,
    transfers: Vec<Transfer>,
}

impl Rows<'_> {
    /// Adds rows: of ten, six are charges, three are payouts and one is a share. No row has a fee, because a fee would add
    /// a line to the statement.
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

    /// Returns the id of the next row, close to the ids of its entries.
    fn id<K: IdKind>(&self, number: usize) -> Id<K> {
        Id::new(self.calendar.uuid(self.now(), count(number).saturating_add(1)))
    }

    /// Returns the number of the id that the store uses next, after the transfers of this commit so far.
    fn now(&self) -> u64 {
        self.now.saturating_add(count(self.transfers.len()).saturating_mul(IDS_OF_TRANSFER))
    }
}

fn description() -> Result<Text> {
    Ok(Text::parse(DESCRIPTION, DESCRIPTION.len(), LineBreaks::Refused)?)
}
