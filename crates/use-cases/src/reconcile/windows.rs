//! Cutting a span of time into windows, so that never more than a bounded number of our records is held at once.

use jiff::{SignedDuration, Timestamp};

/// How long a window is where little happens.
pub(super) const WIDEST: SignedDuration = SignedDuration::from_hours(24);
/// How short it may become where much happens.
const NARROWEST: SignedDuration = SignedDuration::from_secs(1);

/// How many of our records one window may hold; one of more is cut.
pub(super) const MOST_RECORDS: usize = 10_000;
/// How many pages of one list are read in one run: with a hundred rows each, a million.
pub(super) const MAX_PAGES: u32 = 10_000;
/// How many things of one window that are not listed are looked up one by one.
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

    /// The window that is next: from an instant on, and before another. `None` after the last.
    pub(super) fn current(&self) -> Option<(Timestamp, Timestamp)> {
        (self.from < self.until).then(|| (self.from, self.end()))
    }

    /// Makes it shorter; `false` when it cannot become shorter.
    pub(super) fn narrow(&mut self) -> bool {
        let half = SignedDuration::from_millis_i128(self.end().duration_since(self.from).as_millis() / 2);
        let narrower = half >= NARROWEST;
        if narrower {
            self.width = half;
        }
        narrower
    }

    /// Goes on to the next, which may be longer again.
    pub(super) fn advance(&mut self) {
        self.from = self.end();
        self.width = self.width.saturating_mul(2).min(WIDEST);
    }

    fn end(&self) -> Timestamp {
        self.from.saturating_add(self.width).unwrap_or(self.until).min(self.until)
    }
}

/// The pages of one list that may still be read.
#[derive(Debug)]
pub(super) struct Pages {
    left: u32,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Self { left: MAX_PAGES }
    }

    /// The page after `page`, where the acquirer names one and the list does not go on for ever.
    pub(super) fn turn(&mut self, page: u32, next: Option<u32>) -> Result<Option<u32>, String> {
        self.left = self.left.saturating_sub(1);
        match next {
            None => Ok(None),
            Some(next) if next <= page => Err(format!("after page {page} it names page {next}")),
            Some(_) if self.left == 0 => Err(format!("it has more than {MAX_PAGES} pages")),
            Some(next) => Ok(Some(next)),
        }
    }
}
