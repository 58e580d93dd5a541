//! Splits a span of time into windows, so that memory holds a bounded number of local records.

use jiff::{SignedDuration, Timestamp};

/// The longest window, for quiet times.
pub(super) const WIDEST: SignedDuration = SignedDuration::from_hours(24);
/// The shortest window, for busy times.
const NARROWEST: SignedDuration = SignedDuration::from_secs(1);

/// The largest number of local records in one window. A window with more is divided.
pub(super) const MOST_RECORDS: usize = 10_000;
/// The largest number of pages of one list in one run: a million rows at a hundred per page.
pub(super) const MAX_PAGES: u32 = 10_000;
/// The largest number of single reads for unlisted rows of one window.
pub(super) const MAX_LOOKS: usize = 1_000;

/// The windows of a span, oldest first.
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

    /// Returns the next window as an inclusive start and an exclusive end. `None`: the span is complete.
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

    /// Advances to the next window, which may be longer again.
    pub(super) fn advance(&mut self) {
        self.from = self.end();
        self.width = self.width.saturating_mul(2).min(WIDEST);
    }

    fn end(&self) -> Timestamp {
        self.from.saturating_add(self.width).unwrap_or(self.until).min(self.until)
    }
}

/// The remaining pages of one list.
#[derive(Debug)]
pub(super) struct Pages {
    left: u32,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Self { left: MAX_PAGES }
    }

    /// Returns the page after `page`, if the acquirer names one. Fails if the pages do not advance or exceed their limit.
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
