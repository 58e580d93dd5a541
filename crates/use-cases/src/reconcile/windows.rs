//! Splits a span of time into windows, so that only a limited number of local records is in memory at one time.

use jiff::{SignedDuration, Timestamp};

/// The longest window, used while there are few records.
pub(super) const WIDEST: SignedDuration = SignedDuration::from_hours(24);
/// The shortest window, used while there are many records.
const NARROWEST: SignedDuration = SignedDuration::from_secs(1);

/// The largest number of local records in one window. A window with more records is made shorter.
pub(super) const MOST_RECORDS: usize = 10_000;
/// The largest number of pages of one list in one run: a million rows with 100 rows per page.
pub(super) const MAX_PAGES: u32 = 10_000;
/// The largest number of records of one window that are looked up because the list does not contain them.
pub(super) const MAX_LOOK_UPS: usize = 1_000;

/// The windows of a span. The oldest comes first.
#[derive(Debug)]
pub(super) struct Windows {
    from: Timestamp,
    until: Timestamp,
    width: SignedDuration,
}

impl Windows {
    pub(super) const fn new(from: Timestamp, until: Timestamp) -> Self {
        Self { from, until, width: WIDEST }
    }

    /// Returns the next window, with an inclusive start and an exclusive end. Returns `None` at the end of the span.
    pub(super) fn current(&self) -> Option<(Timestamp, Timestamp)> {
        (self.from < self.until).then(|| (self.from, self.end()))
    }

    /// Halves the window. Returns `false` if the window cannot become shorter.
    pub(super) fn narrow(&mut self) -> bool {
        let half = SignedDuration::from_millis_i128(self.end().duration_since(self.from).as_millis() / 2);
        let narrower = half >= NARROWEST;
        if narrower {
            self.width = half;
        }
        narrower
    }

    /// Advances to the next window, which may be longer than the current one.
    pub(super) fn advance(&mut self) {
        self.from = self.end();
        self.width = self.width.saturating_mul(2).min(WIDEST);
    }

    fn end(&self) -> Timestamp {
        self.from.saturating_add(self.width).unwrap_or(self.until).min(self.until)
    }
}

/// The number of pages of one list that may still be read.
#[derive(Debug)]
pub(super) struct Pages {
    left: u32,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Self { left: MAX_PAGES }
    }

    /// Returns the page after `page`, if the acquirer gives one. Fails if the page number does not grow, or the limit
    /// is reached.
    pub(super) fn turn(&mut self, page: u32, next: Option<u32>) -> Result<Option<u32>, String> {
        self.left = self.left.saturating_sub(1);
        match next {
            None => Ok(None),
            Some(next) if next <= page => Err(format!("page {page} names page {next} as the next page")),
            Some(_) if self.left == 0 => Err(format!("the list has more than {MAX_PAGES} pages")),
            Some(next) => Ok(Some(next)),
        }
    }
}
