//! Received money that waits in `pending` until its account's release delay is over.

use jiff::{SignedDuration, Timestamp};

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::Money;

/// What one Pix brought that its receiver may not use yet. There is at most one for each Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Whose money it is.
    pub account: AccountId,
    /// The Pix that brought it.
    pub end_to_end_id: EndToEndId,
    /// The charge that it was for.
    pub charge: ChargeId,
    /// How much of it waits.
    pub amount: Money,
    /// From when on it may be used.
    pub due_at: Timestamp,
    /// When it was released.
    pub released_at: Option<Timestamp>,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

impl Release {
    /// Money that waits `delay_s` seconds from `at` on; `None` when there is nothing to wait for.
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

    /// The release and the movement that makes it true; `None` before its time, or when it was made before.
    ///
    /// What an infraction took from `pending` meanwhile is left out of the movement: see [`Transfer::is_net_of_seized`].
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
