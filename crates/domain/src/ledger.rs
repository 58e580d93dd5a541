//! Double entry: accounts of the ledger and the transfers between them, whose sum is always zero.

use std::fmt;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::ids::AccountId;
use crate::money::Money;

/// How many rows one system account is spread over, so that payments of different accounts do not queue for one row.
pub const SYSTEM_SHARDS: u8 = 16;

/// The parts of a merchant's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bucket {
    /// May be used now.
    Available,
    /// Received, waits for its release.
    Pending,
    /// Held because of an infraction or a review.
    Blocked,
    /// Left `available` and has not arrived yet: payouts, refunds and withdrawals in flight.
    InTransit,
}

impl Bucket {
    /// Every bucket.
    pub const ALL: [Self; 4] = [Self::Available, Self::Pending, Self::Blocked, Self::InTransit];

    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Blocked => "blocked",
            Self::InTransit => "in_transit",
        }
    }

    /// The bucket of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bucket| bucket.as_str() == word)
    }
}

/// An account of the house, whose balance may be negative.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SystemAccount {
    /// What an acquirer holds for us: it is debited when a Pix arrives.
    Settlement(AcquirerName),
    /// What the service earned.
    Fees,
}

/// Where a transfer takes from or gives to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LedgerAccount {
    /// A part of a merchant's money.
    Merchant(AccountId, Bucket),
    /// One of the [`SYSTEM_SHARDS`] rows of a system account.
    System(SystemAccount, u8),
}

impl LedgerAccount {
    /// The row of a system account that goes with a merchant: always the same, so one payment touches one row.
    #[must_use]
    pub fn system(account: SystemAccount, beside: AccountId) -> Self {
        Self::System(account, Self::shard(beside))
    }

    /// Which of the [`SYSTEM_SHARDS`] rows of each system account goes with a merchant, from 0.
    #[must_use]
    pub fn shard(beside: AccountId) -> u8 {
        let [.., last] = *beside.uuid().as_bytes();
        last % SYSTEM_SHARDS
    }

    /// The first half of the name in the store: whose row it is.
    #[must_use]
    pub fn holder(&self) -> String {
        match self {
            Self::Merchant(account, _) => account.to_string(),
            Self::System(SystemAccount::Settlement(acquirer), _) => {
                format!("settlement:{acquirer}")
            }
            Self::System(SystemAccount::Fees, _) => "fees".to_owned(),
        }
    }

    /// The second half of the name in the store: the bucket, or the shard in two digits.
    #[must_use]
    pub fn bucket(&self) -> String {
        match self {
            Self::Merchant(_, bucket) => bucket.as_str().to_owned(),
            Self::System(_, shard) => format!("{shard:02}"),
        }
    }
}

impl fmt::Display for LedgerAccount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.holder(), self.bucket())
    }
}

/// Whether a transfer may leave the debited balance below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdraft {
    /// The transfer is refused unless the balance covers the amount that moves.
    Forbidden,
    /// The balance may fall below zero: the account is a system account, or the money is known to be there.
    Allowed,
}

/// Why money moved, as the statement names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A payment that paid its charge, less fee.
    Charge,
    /// Money beyond a charge: a surplus, a second payment, one below the amount or one that came too late.
    ExtraPayment,
    /// The service's fee; positive where it is given back with a payout that failed.
    Fee,
    /// A share in another account's charge.
    Split,
    /// Received money that waited in `pending` may be used now.
    Release,
    /// A payout on its way out.
    Payout,
    /// A payout that failed: its amount is given back.
    PayoutFailed,
    /// A completed payout that came back.
    PayoutReversed,
    /// A refund on its way to its payer.
    Refund,
    /// A refund that failed: its amount is given back.
    RefundFailed,
    /// Money that is blocked because a payer disputes a Pix.
    Infraction,
    /// An infraction that was won or cancelled, or concerns less than it did: its money may be used again, or waits for its release.
    InfractionReleased,
    /// An infraction that was lost: its money went back to the payer.
    InfractionReturned,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Charge,
        Self::ExtraPayment,
        Self::Fee,
        Self::Split,
        Self::Release,
        Self::Payout,
        Self::PayoutFailed,
        Self::PayoutReversed,
        Self::Refund,
        Self::RefundFailed,
        Self::Infraction,
        Self::InfractionReleased,
        Self::InfractionReturned,
    ];

    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::ExtraPayment => "extra_payment",
            Self::Fee => "fee",
            Self::Split => "split",
            Self::Release => "release",
            Self::Payout => "payout",
            Self::PayoutFailed => "payout_failed",
            Self::PayoutReversed => "payout_reversed",
            Self::Refund => "refund",
            Self::RefundFailed => "refund_failed",
            Self::Infraction => "infraction",
            Self::InfractionReleased => "infraction_released",
            Self::InfractionReturned => "infraction_returned",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// One movement: `amount` leaves `from` and arrives at `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The account that is debited.
    pub from: LedgerAccount,
    /// The account that is credited.
    pub to: LedgerAccount,
    /// How much; always positive.
    pub amount: Money,
    /// Whether the balance of `from` may fall below zero.
    pub overdraft: Overdraft,
    /// Why.
    pub kind: EntryKind,
    /// The public id of the charge, payout, … that caused it; `None` for a split credit, whose charge is another's.
    pub resource: Option<String>,
    /// The Pix that moved it, where there is one.
    pub end_to_end_id: Option<EndToEndId>,
}

impl Transfer {
    /// Returns whether the transfer moves less by what infractions seized from `pending` before its release. The money that is released
    /// first is the money that was seized.
    #[must_use]
    pub const fn is_net_of_seized(&self) -> bool {
        matches!((&self.from, self.kind), (LedgerAccount::Merchant(_, Bucket::Pending), EntryKind::Release))
    }
}
