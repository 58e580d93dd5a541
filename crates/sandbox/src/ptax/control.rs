//! The tester's control of the PTAX service.

use std::collections::BTreeSet;

use actix_web::{HttpResponse, http::StatusCode, web};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use crate::{
    control::{Control, ControlError, http::read},
    crypto::Amount,
    pix::{Shared, json as answer, problem::Problem},
};

impl Control {
    /// Sets the selling rate of the dollar in BRL from the day `from` on, by default from the day of the last published
    /// bulletin. The buying rate is 0.0006 lower.
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] if `sell` is not a number above zero.
    pub fn set_ptax_rate(&self, sell: &str, from: Option<Date>) -> Result<(), ControlError> {
        let sell = Amount::parse(sell).filter(Amount::is_positive).ok_or(ControlError::OutOfRange { field: "sell" })?;
        self.psp.ptax.set_rate(None, &sell, from, self.psp.clock.now());
        Ok(())
    }

    /// Returns the newest selling rate that was published in the last 30 days, with its day.
    #[must_use]
    pub fn newest_ptax_rate(&self) -> Option<(String, Date)> {
        let newest = self.psp.ptax.newest(self.psp.clock.now())?;
        Some((newest.sell, newest.published_at.date()))
    }

    /// Makes the rates stale: the last `days` days, today included, and all later days have no bulletin. With zero, every
    /// business day has its bulletin again.
    pub fn set_ptax_age(&self, days: u16) {
        self.psp.ptax.set_age(days, self.psp.clock.now());
    }
}

/// `PUT /sandbox/ptax` `{sell?, buy?, date?, published_until?, holidays?}`: sets rates from `date` on, the last day with a bulletin, and
/// all holidays. Absent fields change nothing. `published_until: null` means that there is no last day. The response is 200.
///
/// # Errors
/// 400 for unknown fields, for an invalid rate or date, and for `buy` or `date` without `sell`.
pub async fn put(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let mut body: Map<String, Value> = read(payload).await?;
    let refuse = |field| Problem::from(ControlError::OutOfRange { field });
    let date = |value: &Value, field| value.as_str().and_then(|text| text.parse::<Date>().ok()).ok_or(refuse(field));
    let rate = |value: &Value, field| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Amount::parse(&text).filter(Amount::is_positive).ok_or(refuse(field))
    };
    let sell = body.remove("sell").map(|value| rate(&value, "sell")).transpose()?;
    let buy = body.remove("buy").map(|value| rate(&value, "buy")).transpose()?;
    let from = body.remove("date").map(|value| date(&value, "date")).transpose()?;
    let until = match body.remove("published_until") {
        None => None,
        Some(Value::Null) => Some(None),
        Some(value) => Some(Some(date(&value, "published_until")?)),
    };
    let holidays = match body.remove("holidays") {
        None => None,
        Some(Value::Array(days)) => {
            Some(days.iter().map(|day| date(day, "holidays")).collect::<Result<BTreeSet<_>, _>>()?)
        }
        Some(_) => return Err(refuse("holidays")),
    };
    if !body.is_empty() || (sell.is_none() && (buy.is_some() || from.is_some())) {
        return Err(refuse("body"));
    }
    if let Some(sell) = sell {
        psp.ptax.set_rate(buy.map(|buy| buy.to_string()), &sell, from, psp.clock.now());
    }
    if let Some(until) = until {
        psp.ptax.set_published_until(until);
    }
    if let Some(holidays) = holidays {
        psp.ptax.set_holidays(holidays);
    }
    answer(StatusCode::OK, &json!({}))
}
