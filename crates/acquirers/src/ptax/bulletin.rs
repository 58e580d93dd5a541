//! Reads the closing rates of a period: `{"value":[{"cotacaoCompra":…,"cotacaoVenda":…,"dataHoraCotacao":"…"}]}`.

use cais_domain::crypto::Rate;
use cais_ports::UsdRate;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::{Defect, Reply, text};

#[derive(Deserialize)]
struct Bulletins<'a> {
    #[serde(borrow)]
    value: Option<Vec<Bulletin<'a>>>,
}

#[derive(Deserialize)]
struct Bulletin<'a> {
    #[serde(borrow, rename = "cotacaoCompra")]
    buy: Option<&'a RawValue>,
    #[serde(borrow, rename = "cotacaoVenda")]
    sell: Option<&'a RawValue>,
    #[serde(borrow, rename = "dataHoraCotacao")]
    at: Option<&'a RawValue>,
}

/// Returns the latest rate in an answer, whose rows may be in any order; `None` for a period without business days.
pub(super) fn last(reply: &Reply, zone: &TimeZone) -> Result<Option<UsdRate>, Defect> {
    let unreadable = || Defect::Unreadable("the answer is not the JSON of rates".to_owned());
    if !reply.is_json {
        return Err(unreadable());
    }
    let found: Bulletins<'_> = serde_json::from_slice(&reply.body).map_err(|_| unreadable())?;
    let rows = found.value.ok_or_else(|| Defect::mismatch("value", "is missing"))?;
    // An unreadable row fails the read: it may be the last rate, and an older rate must not be returned as the last.
    let rates: Vec<UsdRate> = rows.iter().map(|row| read(row, zone)).collect::<Result<_, _>>()?;
    Ok(rates.into_iter().max_by_key(|rate| rate.published_at))
}

fn read(row: &Bulletin<'_>, zone: &TimeZone) -> Result<UsdRate, Defect> {
    let rate = |value: Option<&RawValue>, field: &str| {
        let text = value.and_then(text).ok_or_else(|| Defect::mismatch(field, "is missing"))?;
        Rate::parse(&text).map_err(|error| Defect::mismatch(field, &error.to_string()))
    };
    let (buy, sell) = (rate(row.buy, "cotacaoCompra")?, rate(row.sell, "cotacaoVenda")?);
    if buy > sell {
        return Err(Defect::mismatch("cotacaoCompra", "is above cotacaoVenda"));
    }
    let published_at = row.at.and_then(text).and_then(|text| instant(&text, zone));
    let published_at = published_at.ok_or_else(|| Defect::mismatch("dataHoraCotacao", "is not an instant"))?;
    Ok(UsdRate { buy, sell, published_at })
}

/// Parses the local time `2026-09-01 13:06:03.857125`, with any number of decimals.
fn instant(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let local: DateTime = text.parse().ok()?;
    let at = zone.to_ambiguous_timestamp(local).compatible().ok()?;
    Timestamp::from_microsecond(at.as_microsecond()).ok()
}
