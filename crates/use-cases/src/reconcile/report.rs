//! What a reconciliation found: the differences, each by what it is about, and what could not be read.

use std::collections::HashSet;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::UnreadableRow;

/// How many differences a report holds.
pub const MAX_DIFFERENCES: usize = 10_000;

/// In what the ledger and an acquirer differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// A Pix for a charge of ours was not credited.
    PaymentMissed,
    /// A Pix that names no charge of ours, or one that it was not credited to.
    PaymentUnknown,
    /// A Pix was credited with another amount.
    PaymentAmount,
    /// The acquirer does not know a Pix that was credited.
    PaymentNotListed,
    /// A Pix was sent that is no payout of ours, or one of another acquirer.
    PayoutUnknown,
    /// A payout was sent with another amount.
    PayoutAmount,
    /// A payout ended otherwise.
    PayoutOutcome,
    /// The acquirer does not know a payout that it was asked to send.
    PayoutNotListed,
    /// A Pix was returned, and nobody here asked for it.
    RefundUnknown,
    /// A refund ended otherwise.
    RefundOutcome,
    /// A refund was made with another amount.
    RefundAmount,
    /// Infractions took another amount of a Pix at the acquirer than here.
    InfractionReturned,
}

impl DifferenceKind {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentMissed => "payment_missed",
            Self::PaymentUnknown => "payment_unknown",
            Self::PaymentAmount => "payment_amount",
            Self::PaymentNotListed => "payment_not_listed",
            Self::PayoutUnknown => "payout_unknown",
            Self::PayoutAmount => "payout_amount",
            Self::PayoutOutcome => "payout_outcome",
            Self::PayoutNotListed => "payout_not_listed",
            Self::RefundUnknown => "refund_unknown",
            Self::RefundOutcome => "refund_outcome",
            Self::RefundAmount => "refund_amount",
            Self::InfractionReturned => "infraction_returned",
        }
    }
}

/// One difference between the ledger and an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub kind: DifferenceKind,
    /// With whom.
    pub acquirer: AcquirerName,
    /// The public id of the charge, payout or refund; `None` when there is none.
    pub resource: Option<String>,
    /// The acquirer's name of it: an end-to-end id, an idEnvio, or the id of a return.
    pub upstream_id: String,
    /// What stands here: an amount or a status; `None` when there is nothing.
    pub ours: Option<String>,
    /// What stands there.
    pub theirs: Option<String>,
    /// Whether they agree now.
    pub repaired: bool,
}

/// What was compared, and what came out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many received Pix the acquirers listed.
    pub received: u64,
    /// How many sent Pix.
    pub sent: u64,
    /// How many returns of received Pix.
    pub refunds: u64,
    /// The first [`MAX_DIFFERENCES`] differences.
    pub differences: Vec<Difference>,
    /// Whether there are more.
    pub more: bool,
    /// Rows of acquirers' lists that cannot be read, at most [`MAX_DIFFERENCES`] with the differences; the others are compared.
    pub unreadable: Vec<(AcquirerName, UnreadableRow)>,
    /// Whose lists could not be read to their end, and why.
    pub unread: Vec<(AcquirerName, String)>,
}

impl Report {
    /// How many findings a person must look at: differences that are not repaired, and unreadable rows.
    #[must_use]
    pub fn open(&self) -> usize {
        self.differences.iter().filter(|difference| !difference.repaired).count().saturating_add(self.unreadable.len())
    }
}

/// How far a reconciliation has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Whose list is being read.
    pub acquirer: AcquirerName,
    /// Which: `received` or `sent`.
    pub list: &'static str,
    /// How many of its rows were compared.
    pub done: u64,
}

/// A report that is being written.
#[derive(Debug, Default)]
pub(super) struct Findings {
    report: Report,
    /// What it holds already: acquirers list a row twice at the edges of windows and pages.
    known: HashSet<(DifferenceKind, AcquirerName, String)>,
}

/// What came out of comparing one thing.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The differences.
    pub differences: Vec<Difference>,
    /// How many returns it has.
    pub refunds: u64,
    /// Why something of it could not be read.
    pub unread: Option<String>,
}

impl From<Option<Difference>> for Finding {
    fn from(difference: Option<Difference>) -> Self {
        Self { differences: difference.into_iter().collect(), ..Self::default() }
    }
}

impl Findings {
    pub(super) fn count_received(&mut self, rows: usize) {
        self.report.received = self.report.received.saturating_add(wide(rows));
    }

    pub(super) fn count_sent(&mut self, rows: usize) {
        self.report.sent = self.report.sent.saturating_add(wide(rows));
    }

    pub(super) fn add(&mut self, acquirer: &AcquirerName, finding: Finding) {
        self.report.refunds = self.report.refunds.saturating_add(finding.refunds);
        if let Some(reason) = finding.unread {
            self.cannot_read(acquirer, reason);
        }
        for difference in finding.differences {
            self.note(difference);
        }
    }

    fn note(&mut self, difference: Difference) {
        let name = (difference.kind, difference.acquirer.clone(), difference.upstream_id.clone());
        if self.known.contains(&name) || self.is_full() {
            return;
        }
        self.known.insert(name);
        self.report.differences.push(difference);
    }

    /// Notes rows of an acquirer's list that cannot be read.
    pub(super) fn unreadable(&mut self, acquirer: &AcquirerName, rows: Vec<UnreadableRow>) {
        for row in rows {
            let entry = (acquirer.clone(), row);
            if !self.is_full() && !self.report.unreadable.contains(&entry) {
                self.report.unreadable.push(entry);
            }
        }
    }

    /// Whether the report holds all that it may; if so, the report says that there is more.
    fn is_full(&mut self) -> bool {
        let full = self.report.differences.len().saturating_add(self.report.unreadable.len()) >= MAX_DIFFERENCES;
        self.report.more |= full;
        full
    }

    pub(super) fn cannot_read(&mut self, acquirer: &AcquirerName, reason: String) {
        let entry = (acquirer.clone(), reason);
        if !self.report.unread.contains(&entry) {
            self.report.unread.push(entry);
        }
    }

    /// Whether nothing was compared.
    pub(super) fn is_empty(&self) -> bool {
        self.report.received == 0 && self.report.sent == 0 && self.report.open() == 0
    }

    pub(super) fn into_report(self) -> Report {
        self.report
    }
}

/// A number of rows, as reports count.
pub(super) fn wide(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
