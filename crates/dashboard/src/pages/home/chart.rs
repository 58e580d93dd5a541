//! The chart of the last 30 days as an image with fixed coordinates. The browser scales the image.

use cais_domain::money::Money;
use cais_use_cases::daily_totals::DayTotal;

use crate::format::{self, brl};
use crate::texts::Language;

/// The width of a day, in the units of the image's coordinates.
const DAY: i64 = 20;
/// The part of [`DAY`] that stays empty between the bars of two days.
const GAP: i64 = 4;
/// The greatest height of a bar. Bars of incoming money rise from the middle, bars of outgoing money hang below it.
const HEIGHT: i64 = 90;

/// The space between the longest bar and the edge of the image.
const MARGIN: i64 = 6;
/// The distance from the top of the image to the line between the bars of incoming and of outgoing money.
const MIDDLE: i64 = HEIGHT + MARGIN;

/// The bars of the chart, and the size of the image.
pub(super) struct Chart {
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) middle: i64,
    pub(super) bars: Vec<Bar>,
}

/// The two bars of one day. `incoming` and `outgoing` are their heights. `top` is the upper end of the incoming bar.
pub(super) struct Bar {
    pub(super) x: i64,
    pub(super) width: i64,
    pub(super) top: i64,
    pub(super) incoming: i64,
    pub(super) outgoing: i64,
}

/// A row of the table that shows the values of the chart as text.
pub(super) struct Row {
    pub(super) day: String,
    pub(super) incoming: String,
    pub(super) outgoing: String,
}

impl Chart {
    /// Returns the chart of the days.
    pub(super) fn of(days: &[DayTotal]) -> Self {
        let greatest = days.iter().flat_map(|day| [day.incoming, day.outgoing]).max().unwrap_or(Money::ZERO);
        let bar = |(place, day): (i64, &DayTotal)| {
            let [incoming, outgoing] = [day.incoming, day.outgoing].map(|amount| scaled(amount, greatest));
            let x = place.saturating_mul(DAY);
            Bar { x, width: DAY.saturating_sub(GAP), top: MIDDLE.saturating_sub(incoming), incoming, outgoing }
        };
        let bars: Vec<Bar> = (0..).zip(days).map(bar).collect();
        let width = i64::try_from(bars.len()).unwrap_or(i64::MAX).saturating_mul(DAY);
        Self { width, height: MIDDLE.saturating_mul(2), middle: MIDDLE, bars }
    }
}

/// Returns the rows of the table, the newest first.
pub(super) fn rows(days: &[DayTotal], language: Language) -> Vec<Row> {
    let row = |day: &DayTotal| Row {
        day: format::day(day.day, language),
        incoming: brl(day.incoming, language),
        outgoing: brl(day.outgoing, language),
    };
    days.iter().rev().map(row).collect()
}

/// Returns the height of an amount. An amount above zero has at least the height 1, so that it is visible.
fn scaled(amount: Money, greatest: Money) -> i64 {
    let height = i128::from(amount.centavos()).saturating_mul(i128::from(HEIGHT));
    let height = height.checked_div(i128::from(greatest.centavos())).unwrap_or(0);
    let height = i64::try_from(height).unwrap_or(HEIGHT);
    if amount.centavos() > 0 { height.clamp(1, HEIGHT) } else { 0 }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn day(incoming: i64, outgoing: i64) -> DayTotal {
        let [incoming, outgoing] = [incoming, outgoing].map(Money::from_centavos);
        DayTotal { day: date(2026, 1, 31), incoming, outgoing }
    }

    #[test]
    fn bars_are_scaled_to_the_greatest_amount() {
        let chart = Chart::of(&[day(1_000, 0), day(1, 500), day(i64::MAX, i64::MAX)]);
        let heights: Vec<(i64, i64)> = chart.bars.iter().map(|bar| (bar.incoming, bar.outgoing)).collect();
        assert_eq!(heights, [(1, 0), (1, 1), (90, 90)]);
        let chart = Chart::of(&[day(1_000, 0), day(1, 500)]);
        let heights: Vec<(i64, i64, i64)> =
            chart.bars.iter().map(|bar| (bar.top, bar.incoming, bar.outgoing)).collect();
        assert_eq!(heights, [(6, 90, 0), (95, 1, 45)]);
        assert!(Chart::of(&[day(0, 0)]).bars.iter().all(|bar| bar.incoming == 0 && bar.outgoing == 0));
    }

    #[test]
    fn table_has_the_days_of_the_language() {
        let shown = rows(&[day(1_000, 50)], Language::Portuguese);
        assert!(
            shown.iter().all(|row| row.day == "31/01/2026" && row.incoming == "R$ 10,00" && row.outgoing == "R$ 0,50")
        );
    }
}
