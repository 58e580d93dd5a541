//! Received money that stays in `pending` until the release delay of the account is over.

use jiff::{SignedDuration, Timestamp};

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::Money;

/// The part of a Pix that its receiver cannot use yet. A Pix has at most one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The owner of the money.
    pub account: AccountId,
    /// The Pix.
    pub end_to_end_id: EndToEndId,
    /// The charge of the Pix.
    pub charge: ChargeId,
    /// The amount that waits.
    pub amount: Money,
    /// The instant from which the receiver can use the money.
    pub due_at: Timestamp,
    /// The instant of the release. `None` while the money waits.
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

    /// Returns the release and its transfer. Returns `None` if the release is not due yet or was made before.
    ///
    /// The moved amount is lower if infractions seized money from `pending`: see [`Transfer::is_net_of_seized`].
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
