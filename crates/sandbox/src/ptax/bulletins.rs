//! PTAX bulletins: the Central Bank's rates of the dollar in BRL. One bulletin is published per business day, at about 13:08 in São Paulo.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{PoisonError, RwLock},
};

use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, DateTime, Weekday},
    tz::{Offset, TimeZone},
};

use crate::crypto::Amount;

/// The selling rate, in BRL per USD, until the tester sets one.
const SELL: &str = "5.4321";

/// The default difference between the selling and the buying rate, in BRL per USD.
const SPREAD: &str = "0.0006";

/// The largest number of days in the period of a request, about 41 years. Later days of the period are ignored.
const MAX_DAYS: usize = 15_000;

/// The number of days, today included, in which [`Ptax::set_rate`] searches for the last published bulletin.
const SEARCH_DAYS: usize = 400;

/// The number of days before today in which [`Ptax::newest`] searches for a bulletin.
const RECENT_DAYS: i64 = 30;

/// A published bulletin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bulletin {
    /// `cotacaoCompra`.
    pub buy: String,
    /// `cotacaoVenda`.
    pub sell: String,
    /// `dataHoraCotacao`, in the time of São Paulo.
    pub published_at: DateTime,
}

/// The calendar and the rates, set by the tester. A restart resets them to the defaults.
#[derive(Debug, Default)]
struct Calendar {
    /// The buying and the selling rate, by the first day on which they apply.
    rates: BTreeMap<Date, (String, String)>,
    /// The last day with a bulletin; `None` for no last day. A day in the past makes the published rates stale.
    published_until: Option<Date>,
    /// Business days (Monday to Friday) without a bulletin.
    holidays: BTreeSet<Date>,
}

/// The source of bulletins.
#[derive(Debug, Default)]
pub struct Ptax(RwLock<Calendar>);

impl Ptax {
    /// Returns the bulletins of the inclusive period that were published by `now`, the oldest first.
    #[must_use]
    pub fn published(&self, from: Date, to: Date, now: Timestamp) -> Vec<Bulletin> {
        let calendar = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let now = local(now);
        let days = std::iter::successors(Some(from), |day| day.tomorrow().ok()).take_while(|day| *day <= to);
        days.take(MAX_DAYS).filter(|day| calendar.is_published(*day, now)).map(|day| calendar.bulletin(day)).collect()
    }

    /// Sets the rates from the day `from` on, and removes the rates of later days. The default of `from` is the day of the last published
    /// bulletin. The default of `buy` is 0.0006 below `sell`.
    pub fn set_rate(&self, buy: Option<String>, sell: &Amount, from: Option<Date>, now: Timestamp) {
        let mut calendar = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let now = local(now);
        let back = std::iter::successors(Some(now.date()), |day| day.yesterday().ok()).take(SEARCH_DAYS);
        let last = back.into_iter().find(|day| calendar.is_published(*day, now)).unwrap_or(now.date());
        let from = from.unwrap_or(last);
        let spread = Amount::constant(SPREAD);
        let buy = buy.unwrap_or_else(|| if *sell > spread { (sell - &spread).to_string() } else { sell.to_string() });
        calendar.rates.split_off(&from);
        calendar.rates.insert(from, (buy, sell.to_string()));
    }

    /// Sets the last day with a bulletin; `None` for no last day.
    pub fn set_published_until(&self, day: Option<Date>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).published_until = day;
    }

    /// Returns the newest bulletin that was published in the last 30 days.
    #[must_use]
    pub fn newest(&self, now: Timestamp) -> Option<Bulletin> {
        let today = local(now).date();
        self.published(today.saturating_sub(RECENT_DAYS.days()), today, now).pop()
    }

    /// Sets the last day with a bulletin to `days` days before today. With zero, there is no last day.
    pub fn set_age(&self, days: u16, now: Timestamp) {
        let last = local(now).date().saturating_sub(i64::from(days).days());
        self.set_published_until((days > 0).then_some(last));
    }

    /// Sets the business days without a bulletin.
    pub fn set_holidays(&self, days: BTreeSet<Date>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).holidays = days;
    }
}

impl Calendar {
    fn is_published(&self, day: Date, now: DateTime) -> bool {
        let is_business_day = !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        is_business_day
            && !self.holidays.contains(&day)
            && self.published_until.is_none_or(|last| day <= last)
            && published_at(day) <= now
    }

    fn bulletin(&self, day: Date) -> Bulletin {
        let set = self.rates.range(..=day).next_back().map(|(_, rates)| rates.clone());
        let opening = || {
            let sell = Amount::constant(SELL);
            ((&sell - &Amount::constant(SPREAD)).to_string(), sell.to_string())
        };
        let (buy, sell) = set.unwrap_or_else(opening);
        Bulletin { buy, sell, published_at: published_at(day) }
    }
}

/// Returns the instant of a day's bulletin: 13:08, with seconds and milliseconds that depend on the day of the month.
fn published_at(day: Date) -> DateTime {
    day.at(13, 8, day.day(), i32::from(day.day()).saturating_mul(17_000_000))
}

/// Returns the date and time in São Paulo.
fn local(now: Timestamp) -> DateTime {
    let zone = TimeZone::get("America/Sao_Paulo").unwrap_or_else(|_| Offset::constant(-3).to_time_zone());
    zone.to_datetime(now)
}
