//! The money that entered and left an account's balance on each of the last 30 days. Transfers between the account's
//! own buckets are not part of the sums.
//!
//! Entries never change, so the sums of old entries are kept in memory, grouped by hours. A read continues after the
//! last counted entry. Each read of the store is limited, so the first sums of a large account need several reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cais_domain::ids::{AccountId, EntryId};
use cais_domain::money::Money;
use cais_ports::{EntrySums, QueryError};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use uuid::{Builder, Uuid};

use crate::days::sao_paulo;
use crate::ports::Ports;

/// The number of days, today included.
pub const DAYS: i64 = 30;
/// The largest number of entries in one read. Such a read takes a few milliseconds.
const MAX_ENTRIES_PER_READ: u32 = 10_000;
/// The largest number of steps of [`DailyTotals::catch_up`]. Together they count at most 50 million entries.
const MAX_STEPS: u32 = 5_000;
/// Entries that are younger than this are not kept in memory. They are read again each time, because a node whose clock
/// is behind may still store an entry with a smaller id.
const SETTLED_AFTER: SignedDuration = SignedDuration::from_mins(2);
/// The largest number of accounts with sums in memory. Each account has at most 720 hours. When the limit is reached,
/// the sums of all accounts are removed from memory and computed again.
const MAX_ACCOUNTS: usize = 2_000;
/// Seconds of an hour.
const HOUR_S: i64 = 3_600;

/// The sums of all accounts in memory. Clones share the sums.
#[derive(Debug, Clone, Default)]
pub struct DailyTotals(Arc<Mutex<HashMap<AccountId, Counted>>>);

/// The sums of an account, up to the last counted entry.
#[derive(Debug, Clone)]
struct Counted {
    /// The id of the last counted entry, or the smallest id of the first day.
    after: EntryId,
    /// The credits and debits in centavos. The key is the number of whole hours since 1970, in UTC.
    hours: BTreeMap<i64, (i64, i64)>,
    is_catching_up: bool,
}

/// The sums of one day in São Paulo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTotal {
    /// The day.
    pub day: Date,
    /// The sum of the credits.
    pub incoming: Money,
    /// The sum of the debits, as a positive amount.
    pub outgoing: Money,
}

/// The sums of the last 30 days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// The days in ascending order. The last day is today.
    pub days: Vec<DayTotal>,
    /// `false` if entries may be missing in the sums. [`DailyTotals::catch_up`] counts them.
    pub is_complete: bool,
}

impl DailyTotals {
    /// Returns the sums of the account. Makes at most two limited reads of the store.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn read(&self, ports: &Ports, account: AccountId) -> Result<Totals, QueryError> {
        let now = ports.clock.now();
        let (mut counted, more) = self.step(ports, account).await?;
        if more {
            return Ok(Totals { days: days(now, &counted), is_complete: false });
        }
        let rest =
            ports.queries.sum_entries(account, counted.after, EntryId::new(Uuid::max()), MAX_ENTRIES_PER_READ).await?;
        let is_complete = rest.entries < MAX_ENTRIES_PER_READ;
        counted.add(&rest);
        Ok(Totals { days: days(now, &counted), is_complete })
    }

    /// Counts all entries that are not counted yet, for later calls of [`Self::read`]. Returns at once if another task
    /// counts them.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn catch_up(&self, ports: &Ports, account: AccountId) -> Result<(), QueryError> {
        let Some(_mark) = CatchingUp::enter(self, account) else { return Ok(()) };
        for _ in 0..MAX_STEPS {
            if !self.step(ports, account).await?.1 {
                break;
            }
        }
        Ok(())
    }

    /// Counts the next entries that are older than `SETTLED_AFTER`, at most `MAX_ENTRIES_PER_READ`. Returns the sums,
    /// and `true` if further entries of this age may be left.
    async fn step(&self, ports: &Ports, account: AccountId) -> Result<(Counted, bool), QueryError> {
        let now = ports.clock.now();
        let mut counted = self.begin(account, now);
        let from = counted.after;
        let settled = first_id(now.saturating_sub(SETTLED_AFTER).unwrap_or(Timestamp::MIN));
        let sums = ports.queries.sum_entries(account, from, settled, MAX_ENTRIES_PER_READ).await?;
        counted.add(&sums);
        let mut all = self.lock();
        // The result is stored only if no concurrent step has stored the same entries first.
        if let Some(stored) = all.get_mut(&account).filter(|stored| stored.after == from) {
            stored.after = counted.after;
            stored.hours.clone_from(&counted.hours);
        }
        Ok((counted, sums.entries >= MAX_ENTRIES_PER_READ))
    }

    /// Returns the account's sums from memory, empty at first. Sums of hours before the first of the 30 days are
    /// removed.
    fn begin(&self, account: AccountId, now: Timestamp) -> Counted {
        let first = beginning(now);
        let new = || Counted { after: first_id(first), hours: BTreeMap::new(), is_catching_up: false };
        let mut all = self.lock();
        if all.len() >= MAX_ACCOUNTS && !all.contains_key(&account) {
            all.clear();
        }
        let counted = all.entry(account).or_insert_with(new);
        counted.hours.retain(|hour, _| hour.saturating_mul(HOUR_S) >= first.as_second());
        counted.after = counted.after.max(first_id(first));
        counted.clone()
    }

    /// Sets whether a task is counting the entries of the account. Returns the previous value.
    fn set_catching_up(&self, account: AccountId, now: bool) -> bool {
        self.lock().get_mut(&account).is_some_and(|counted| std::mem::replace(&mut counted.is_catching_up, now))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, Counted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mark that a task counts the entries of an account. The mark is removed when the task ends, even by a panic.
struct CatchingUp<'t> {
    totals: &'t DailyTotals,
    account: AccountId,
}

impl<'t> CatchingUp<'t> {
    /// Sets the mark. Returns `None` if another task has the mark.
    fn enter(totals: &'t DailyTotals, account: AccountId) -> Option<Self> {
        if totals.set_catching_up(account, true) { None } else { Some(Self { totals, account }) }
    }
}

impl Drop for CatchingUp<'_> {
    fn drop(&mut self) {
        self.totals.set_catching_up(self.account, false);
    }
}

impl Counted {
    fn add(&mut self, sums: &EntrySums) {
        for sum in &sums.hours {
            let (incoming, outgoing) = self.hours.entry(sum.hour).or_default();
            *incoming = incoming.saturating_add(sum.incoming.centavos());
            *outgoing = outgoing.saturating_add(sum.outgoing.centavos());
        }
        self.after = sums.last.unwrap_or(self.after);
    }
}

/// Returns the first of the 30 days.
fn first_day(now: Timestamp) -> Date {
    let today = now.to_zoned(sao_paulo()).date();
    today.saturating_sub(DAYS.saturating_sub(1).days())
}

/// Returns the beginning of the first of the 30 days.
fn beginning(now: Timestamp) -> Timestamp {
    first_day(now).to_zoned(sao_paulo()).map_or(Timestamp::MIN, |start| start.timestamp())
}

/// Returns the smallest id that an entry of this instant can have. The time in an id can be up to one minute earlier
/// than the time of its entry.
fn first_id(at: Timestamp) -> EntryId {
    let at = at.saturating_sub(SignedDuration::from_mins(1)).unwrap_or(Timestamp::MIN);
    let at_ms = u64::try_from(at.as_millisecond()).unwrap_or_default();
    EntryId::new(Builder::from_unix_timestamp_millis(at_ms, &[0; 10]).into_uuid())
}

/// Returns the sums of all 30 days, including days without entries.
fn days(now: Timestamp, counted: &Counted) -> Vec<DayTotal> {
    let (zone, first) = (sao_paulo(), first_day(now));
    let mut sums: BTreeMap<Date, (i64, i64)> = BTreeMap::new();
    for (hour, (incoming, outgoing)) in &counted.hours {
        let Ok(at) = Timestamp::from_second(hour.saturating_mul(HOUR_S)) else { continue };
        let sum = sums.entry(at.to_zoned(zone.clone()).date()).or_default();
        sum.0 = sum.0.saturating_add(*incoming);
        sum.1 = sum.1.saturating_add(*outgoing);
    }
    let total = |ahead: i64| {
        let day = first.saturating_add(ahead.days());
        let (incoming, outgoing) = sums.get(&day).copied().unwrap_or_default();
        DayTotal { day, incoming: Money::from_centavos(incoming), outgoing: Money::from_centavos(outgoing) }
    };
    (0..DAYS).map(total).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn panic_removes_the_mark_of_its_task() {
        let (totals, account) = (DailyTotals::default(), AccountId::new(Uuid::nil()));
        totals.begin(account, Timestamp::UNIX_EPOCH);
        let task = || {
            let _mark = CatchingUp::enter(&totals, account);
            // The mark is set, so this assertion panics.
            assert!(CatchingUp::enter(&totals, account).is_some(), "another task has the mark");
        };
        assert!(catch_unwind(AssertUnwindSafe(task)).is_err());
        assert!(CatchingUp::enter(&totals, account).is_some());
    }
}
