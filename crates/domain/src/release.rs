//! Received money that stays in `pending` until the release delay of the account is over.

use jiff::{SignedDuration, Timestamp};

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::Money;

/// The release of a Pix: the part of the Pix that was credited to `pending`, and the instant at which this part can
/// move to `available`. A Pix has at most one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The account of the charge.
    pub account: AccountId,
    /// The Pix.
    pub end_to_end_id: EndToEndId,
    /// The charge to which the Pix was credited.
    pub charge: ChargeId,
    /// The amount that was credited to `pending`.
    pub amount: Money,
    /// The instant from which the release can be made.
    pub due_at: Timestamp,
    /// The instant at which the release was made. `None` while the money waits.
    pub released_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Release {
    /// Creates a release that is due `delay_s` seconds after `at`. Returns `None` if there is no delay or no money.
    pub(crate) fn after(
        account: AccountId,
        charge: ChargeId,
        end_to_end_id: &EndToEndId,
        (amount, delay_s): (Money, u32),
        at: Timestamp,
    ) -> Option<Self> {
        let due_at = at.saturating_add(SignedDuration::from_secs(i64::from(delay_s))).unwrap_or(Timestamp::MAX);
        let release = Self {
            account,
            end_to_end_id: end_to_end_id.clone(),
            charge,
            amount,
            due_at,
            released_at: None,
            version: 0,
        };
        (delay_s > 0 && amount.is_positive()).then_some(release)
    }

    /// Makes the release. Returns the changed record, and the transfer from `pending` to `available`. Returns `None` if
    /// the release is not due yet, or was made before.
    ///
    /// If infractions seized money from `pending`, the store moves less than the amount of the transfer: see
    /// [`Transfer::is_net_of_seized`].
    #[must_use]
    pub fn release(self, at: Timestamp) -> Option<(Self, Transfer)> {
        if self.released_at.is_some() || at < self.due_at {
            return None;
        }
        let transfer = Transfer {
            from: LedgerAccount::Merchant(self.account, Bucket::Pending),
            to: LedgerAccount::Merchant(self.account, Bucket::Available),
            amount: self.amount,
            overdraft: Overdraft::Forbidden,
            kind: EntryKind::Release,
            resource: Some(self.charge.to_string()),
            end_to_end_id: Some(self.end_to_end_id.clone()),
        };
        Some((Self { released_at: Some(at), ..self }, transfer))
    }
}
