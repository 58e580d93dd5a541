//! The report of a reconciliation: the differences, and the rows and lists that could not be read.

use std::collections::HashSet;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::UnreadableRow;

use crate::crypto::exposure::Exposure;

/// The largest number of differences and unreadable rows in a report.
pub const MAX_DIFFERENCES: usize = 10_000;

/// The kind of a difference between the ledger and an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// A Pix for a stored charge was not credited.
    PaymentMissed,
    /// A Pix has no stored charge, or was credited to another charge.
    PaymentUnknown,
    /// A Pix was credited with another amount.
    PaymentAmount,
    /// The acquirer does not have a credited Pix.
    PaymentNotListed,
    /// A sent Pix belongs to no stored payout, or to a payout at another acquirer.
    PayoutUnknown,
    /// A payout was sent with another amount.
    PayoutAmount,
    /// The payout's outcome differs.
    PayoutOutcome,
    /// The acquirer does not have a payout that this service requested.
    PayoutNotListed,
    /// A sent Pix was returned, and the return was not credited. The acquirer does not name the payout.
    PayoutReturnUnknown,
    /// A Pix was returned without a refund of this service.
    RefundUnknown,
    /// The refund's outcome differs.
    RefundOutcome,
    /// A refund was made with another amount.
    RefundAmount,
    /// Because of infractions, the acquirer returned another amount of a Pix than this service.
    InfractionReturned,
    /// Coins for a stored deposit are neither credited nor waiting for an operator.
    DepositMissed,
    /// A payment contains the id of a deposit of this service, but no such deposit is stored.
    DepositUnknown,
    /// The processor shows fewer coins than were credited, or returned the coins.
    DepositAmount,
    /// The processor does not have a credited payment.
    DepositNotListed,
    /// A withdrawal at the processor is not stored.
    WithdrawalUnknown,
    /// The processor has a second withdrawal with the same identifier.
    WithdrawalRepeated,
    /// The coins or the address of a withdrawal differ.
    WithdrawalAmount,
    /// The withdrawal's outcome differs.
    WithdrawalOutcome,
    /// The processor does not have a withdrawal that this service requested.
    WithdrawalNotListed,
}

impl DifferenceKind {
    /// Returns the text of the kind in reports.
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
            Self::PayoutReturnUnknown => "payout_return_unknown",
            Self::RefundUnknown => "refund_unknown",
            Self::RefundOutcome => "refund_outcome",
            Self::RefundAmount => "refund_amount",
            Self::InfractionReturned => "infraction_returned",
            Self::DepositMissed => "deposit_missed",
            Self::DepositUnknown => "deposit_unknown",
            Self::DepositAmount => "deposit_amount",
            Self::DepositNotListed => "deposit_not_listed",
            Self::WithdrawalUnknown => "withdrawal_unknown",
            Self::WithdrawalRepeated => "withdrawal_repeated",
            Self::WithdrawalAmount => "withdrawal_amount",
            Self::WithdrawalOutcome => "withdrawal_outcome",
            Self::WithdrawalNotListed => "withdrawal_not_listed",
        }
    }
}

/// A difference between the ledger and an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The kind.
    pub kind: DifferenceKind,
    /// The acquirer or crypto processor.
    pub acquirer: AcquirerName,
    /// The public id of the charge, payout, refund, crypto deposit or crypto withdrawal, if one exists.
    pub resource: Option<String>,
    /// The acquirer's identifier: an end-to-end id, an instruction id, the id of a return, or the processor's id of a
    /// payment or withdrawal.
    pub upstream_id: String,
    /// The local amount or status, if any.
    pub ours: Option<String>,
    /// The acquirer's amount or status, if any.
    pub theirs: Option<String>,
    /// `true` if both sides agree now.
    pub repaired: bool,
}

/// The result of a reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The number of received Pix in the acquirers' lists.
    pub received: u64,
    /// The number of sent Pix in the acquirers' lists.
    pub sent: u64,
    /// The number of returns of received Pix.
    pub refunds: u64,
    /// The number of payments at the crypto processor. Payments of other systems on the same account are counted too.
    pub deposits: u64,
    /// The number of withdrawals at the crypto processor. Withdrawals of other systems are counted too.
    pub withdrawals: u64,
    /// The coins at the crypto processor, compared with the ledger. `None` if there is no processor, or its balances
    /// cannot be read.
    pub exposure: Option<Exposure>,
    /// The first [`MAX_DIFFERENCES`] differences.
    pub differences: Vec<Difference>,
    /// `true` if there are more differences or unreadable rows than the report contains.
    pub more: bool,
    /// The rows of acquirers' lists that cannot be read. Together with the differences they are at most
    /// [`MAX_DIFFERENCES`]. All other rows are compared.
    pub unreadable: Vec<(AcquirerName, UnreadableRow)>,
    /// The acquirers whose lists could not be read to their end, with the reasons.
    pub unread: Vec<(AcquirerName, String)>,
}

impl Report {
    /// Returns the number of findings that a person must review: unrepaired differences and unreadable rows.
    #[must_use]
    pub fn open(&self) -> usize {
        self.differences.iter().filter(|difference| !difference.repaired).count().saturating_add(self.unreadable.len())
    }
}

/// The progress of a reconciliation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The acquirer or crypto processor whose list is being read.
    pub acquirer: AcquirerName,
    /// The list: `received`, `sent`, `crypto payments` or `crypto withdrawals`.
    pub list: &'static str,
    /// The number of compared rows.
    pub done: u64,
}

/// A report that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Findings {
    report: Report,
    /// The differences that are already in the report. Acquirers can list a row twice, at the ends of windows and
    /// pages.
    known: HashSet<(DifferenceKind, AcquirerName, String)>,
}

/// The result of one comparison.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The differences.
    pub differences: Vec<Difference>,
    /// The number of compared returns.
    pub refunds: u64,
    /// The reason why a record could not be read at the acquirer. `None` if all were read.
    pub unread: Option<String>,
}

impl From<Option<Difference>> for Finding {
    fn from(difference: Option<Difference>) -> Self {
        Self { differences: difference.into_iter().collect(), ..Self::default() }
    }
}

impl Findings {
    pub(super) const fn count_received(&mut self, rows: u64) {
        self.report.received = self.report.received.saturating_add(rows);
    }

    pub(super) const fn count_sent(&mut self, rows: u64) {
        self.report.sent = self.report.sent.saturating_add(rows);
    }

    pub(super) const fn count_deposits(&mut self, rows: u64) {
        self.report.deposits = self.report.deposits.saturating_add(rows);
    }

    pub(super) const fn count_withdrawals(&mut self, rows: u64) {
        self.report.withdrawals = self.report.withdrawals.saturating_add(rows);
    }

    pub(super) fn set_exposure(&mut self, exposure: Exposure) {
        self.report.exposure = Some(exposure);
    }

    pub(super) fn add(&mut self, acquirer: &AcquirerName, finding: Finding) {
        self.report.refunds = self.report.refunds.saturating_add(finding.refunds);
        if let Some(reason) = finding.unread {
            self.cannot_read(acquirer, reason);
        }
        for difference in finding.differences {
            self.note(Some(difference));
        }
    }

    /// Adds a difference, unless the report already contains it.
    pub(super) fn note(&mut self, difference: Option<Difference>) {
        let Some(difference) = difference else { return };
        let name = (difference.kind, difference.acquirer.clone(), difference.upstream_id.clone());
        if self.known.contains(&name) || self.is_full() {
            return;
        }
        self.known.insert(name);
        self.report.differences.push(difference);
    }

    /// Adds the unreadable rows of an acquirer's list.
    pub(super) fn unreadable(&mut self, acquirer: &AcquirerName, rows: Vec<UnreadableRow>) {
        for row in rows {
            let entry = (acquirer.clone(), row);
            if !self.is_full() && !self.report.unreadable.contains(&entry) {
                self.report.unreadable.push(entry);
            }
        }
    }

    /// Returns whether the report is full. If it is full, sets `more`.
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

    /// Returns whether no row was compared and no finding is open.
    pub(super) fn is_empty(&self) -> bool {
        let Report { received, sent, deposits, withdrawals, .. } = &self.report;
        [received, sent, deposits, withdrawals].iter().all(|rows| **rows == 0) && self.report.open() == 0
    }

    pub(super) fn into_report(self) -> Report {
        self.report
    }
}

/// Converts a number of rows to the type of the report.
pub(super) fn wide(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
