//! The double-entry ledger: its accounts and the transfers between them. The sum of all balances is always zero.

use std::fmt;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::ids::AccountId;
use crate::money::Money;

/// The number of rows of a system account. The merchants are spread over the rows, so fewer payments wait for the same
/// row.
pub const SYSTEM_SHARDS: u8 = 16;

named! {
    /// The parts of a merchant's money.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Bucket {
        /// Usable now.
        Available = "available",
        /// Received, but not released yet.
        Pending = "pending",
        /// Held for an infraction.
        Blocked = "blocked",
        /// Held for payouts, refunds and crypto withdrawals in flight.
        InTransit = "in_transit",
    }
}

/// An account of the service itself. The balance may be negative.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SystemAccount {
    /// The money that an acquirer holds for us, as a negative balance. An incoming Pix debits this system account.
    Settlement(AcquirerName),
    /// The service's revenue.
    Fees,
    /// The value in BRL of the coins at a crypto processor, as a negative balance. A deposit debits this system
    /// account.
    Crypto(AcquirerName),
}

/// An account of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LedgerAccount {
    /// A part of a merchant's money.
    Merchant(AccountId, Bucket),
    /// A row of a system account. The number of the row is below [`SYSTEM_SHARDS`].
    System(SystemAccount, u8),
}

impl LedgerAccount {
    /// Returns a merchant's row of a system account. A merchant always uses the same row, so one payment changes one
    /// row.
    #[must_use]
    pub fn system(account: SystemAccount, merchant: AccountId) -> Self {
        Self::System(account, Self::shard(merchant))
    }

    /// Returns the number of a merchant's row, the same in every system account. The number is below [`SYSTEM_SHARDS`].
    #[must_use]
    pub fn shard(merchant: AccountId) -> u8 {
        let [.., last] = *merchant.uuid().as_bytes();
        last % SYSTEM_SHARDS
    }

    /// Returns the merchant's account id, or the name of the system account. In the store, this text is the first half
    /// of the ledger account's name.
    #[must_use]
    pub fn holder(&self) -> String {
        match self {
            Self::Merchant(account, _) => account.to_string(),
            Self::System(SystemAccount::Settlement(acquirer), _) => {
                format!("settlement:{acquirer}")
            }
            Self::System(SystemAccount::Fees, _) => "fees".to_owned(),
            Self::System(SystemAccount::Crypto(processor), _) => format!("crypto:{processor}"),
        }
    }

    /// Returns the bucket, or the row in two digits. In the store, this text is the second half of the ledger account's
    /// name.
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

/// The rule for a transfer that would make the debited balance negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdraft {
    /// The transfer is refused if the balance does not cover the moved amount.
    Forbidden,
    /// The balance may become negative. The transfers of this crate use this rule only to debit system accounts.
    Allowed,
}

named! {
    /// The reason of a transfer. The merchant's statement shows the reason of each entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EntryKind {
        /// The creator's part of a payment that settled its charge, after the fee and the split.
        Charge = "charge",
        /// Money that does not settle a charge: a surplus, a second payment, an underpayment or a late payment.
        ExtraPayment = "extra_payment",
        /// The service's fee, or the return of the fee after a failed payout or crypto withdrawal.
        Fee = "fee",
        /// A share in another account's charge.
        Split = "split",
        /// The release of received money from `pending`.
        Release = "release",
        /// The amount of a payout: its hold, and its completion.
        Payout = "payout",
        /// The returned amount of a failed payout.
        PayoutFailed = "payout_failed",
        /// The returned amount of a completed payout.
        PayoutReversed = "payout_reversed",
        /// The amount of a refund: its hold, and its completion.
        Refund = "refund",
        /// The returned amount of a failed refund.
        RefundFailed = "refund_failed",
        /// Money blocked for an infraction.
        Infraction = "infraction",
        /// Money that an infraction no longer blocks, because its limit was reduced, or because the infraction was won
        /// or cancelled.
        InfractionReleased = "infraction_released",
        /// Money returned to the payer for a lost infraction.
        InfractionReturned = "infraction_returned",
        /// The BRL value of the coins that arrived for a deposit, minus the fee.
        CryptoDeposit = "crypto_deposit",
        /// The amount of a crypto withdrawal: its hold, and its completion.
        CryptoWithdrawal = "crypto_withdrawal",
        /// The returned amount of a failed crypto withdrawal.
        CryptoWithdrawalFailed = "crypto_withdrawal_failed",
    }
}

/// A movement of `amount` from `from` to `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The account that is debited.
    pub from: LedgerAccount,
    /// The account that is credited.
    pub to: LedgerAccount,
    /// The amount, which is always positive.
    pub amount: Money,
    /// The rule for the balance of `from`.
    pub overdraft: Overdraft,
    /// The reason of the transfer.
    pub kind: EntryKind,
    /// The public id of the charge, payout or other resource that caused the transfer. `None` for a split credit,
    /// because its charge belongs to another account.
    pub resource: Option<String>,
    /// The Pix that caused the transfer, if any.
    pub end_to_end_id: Option<EndToEndId>,
}

impl Transfer {
    /// Returns whether the transfer is a release. The seized part of `pending` is subtracted from the amount of the
    /// next release, because this part has left `pending` already.
    #[must_use]
    pub const fn is_net_of_seized(&self) -> bool {
        matches!((&self.from, self.kind), (LedgerAccount::Merchant(_, Bucket::Pending), EntryKind::Release))
    }
}
