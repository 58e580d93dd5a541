//! Rates, ratios and spreads of reports.

use std::time::Duration;

/// Converts a count to a real number, exact up to 2^53.
#[must_use]
pub fn real(count: u64) -> f64 {
    let high = u32::try_from(count >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high).mul_add(4_294_967_296.0, f64::from(low))
}

/// Converts a length to a count.
#[must_use]
pub fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns events per second; 0 without elapsed time.
#[must_use]
pub fn per_second(events: u64, elapsed: Duration) -> f64 {
    ratio(real(events), elapsed.as_secs_f64())
}

/// Returns `value` divided by `unit`. Returns 0 if `unit` is not positive.
#[must_use]
pub fn ratio(value: f64, unit: f64) -> f64 {
    if unit > 0.0 { value / unit } else { 0.0 }
}

/// Returns the digits of a whole number with a comma before each group of three.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len().saturating_sub(index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The results of several rounds of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    /// The number of rounds.
    pub number: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The lowest result.
    pub low: f64,
    /// The highest result.
    pub high: f64,
}

impl Rounds {
    /// Summarizes rounds. Without rounds, all fields are zero.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let sum: f64 = values.iter().sum();
        Self {
            number: values.len(),
            mean: ratio(sum, real(count(values.len()))),
            low: values.iter().copied().reduce(f64::min).unwrap_or_default(),
            high: values.iter().copied().reduce(f64::max).unwrap_or_default(),
        }
    }
}

/// Returns the median; of two middle values, the higher one. Returns 0 without values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_convert_exactly() {
        for (whole, expected) in
            [(0, 0.0), (7, 7.0), (4_294_967_296, 4_294_967_296.0), (5_000_000_001, 5_000_000_001.0)]
        {
            assert_eq!(real(whole).to_bits(), f64::to_bits(expected), "{whole}");
        }
    }

    #[test]
    fn rounds_keep_mean_and_extremes() {
        let rounds = Rounds::of(&[1.0, 2.0, 6.0]);
        assert_eq!(format!("{rounds:?}"), "Rounds { number: 3, mean: 3.0, low: 1.0, high: 6.0 }");
        assert_eq!(format!("{:?}", Rounds::of(&[])), "Rounds { number: 0, mean: 0.0, low: 0.0, high: 0.0 }");
    }

    #[test]
    fn division_by_zero_gives_zero() {
        assert_eq!(per_second(5, Duration::ZERO).to_bits(), 0.0_f64.to_bits());
        assert_eq!(median(Vec::new()).to_bits(), 0.0_f64.to_bits());
        assert_eq!(median(vec![3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
    }
}
