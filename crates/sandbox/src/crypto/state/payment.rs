//! A payment (cash-in): its terms, the coins that arrived, and its status.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{crypto::amount::Amount, wire};

/// The status of a payment, in lower case on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    /// The payment waits for its deposit.
    Waiting,
    /// A deposit was seen on the chain.
    Confirming,
    /// The deposit has enough confirmations.
    Confirmed,
    /// The money is on its way to the account's balance.
    Sending,
    /// Less than `pay_amount` arrived. The money is in the balance.
    PartiallyPaid,
    /// The money is in the balance.
    Finished,
    /// An error occurred. The money is not in the balance.
    Failed,
    /// The money was sent back to the payer.
    Refunded,
    /// No deposit arrived before the expiry.
    Expired,
}

impl PaymentStatus {
    /// Returns whether a deposit was seen and its outcome is still open.
    #[must_use]
    pub const fn is_in_progress(self) -> bool {
        matches!(self, Self::Confirming | Self::Confirmed | Self::Sending)
    }
}

/// The terms of a payment. After the creation only `pay_amount` can change, when a new rate is computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PaymentTerms {
    /// `price_amount`.
    pub price_amount: Amount,
    /// `price_currency`, in lower case.
    pub price_currency: Box<str>,
    /// `pay_amount`.
    pub pay_amount: Amount,
    /// `pay_currency`, in lower case.
    pub pay_currency: Box<str>,
    /// The coin of the account's balance that is credited.
    pub outcome_currency: Box<str>,
    /// `order_id`.
    pub order_id: Option<Box<str>>,
    /// `order_description`.
    pub order_description: Option<Box<str>>,
    /// `ipn_callback_url`.
    pub ipn_callback_url: Option<Box<str>>,
    /// `is_fixed_rate`.
    pub is_fixed_rate: bool,
    /// `is_fee_paid_by_user`.
    pub is_fee_paid_by_user: bool,
}

/// A payment. One deposit belongs to the payment itself; every other deposit to its address becomes a child payment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payment {
    /// `payment_id`.
    pub id: u64,
    /// `purchase_id`.
    pub purchase_id: u64,
    /// Of a child payment: the id of the payment whose address received the deposit.
    pub parent: Option<u64>,
    /// The ids of the child payments, the oldest first.
    pub children: Vec<u64>,
    /// The terms.
    pub terms: PaymentTerms,
    /// `pay_address`.
    pub pay_address: Box<str>,
    /// The status.
    pub status: PaymentStatus,
    /// `actually_paid`, in `pay_currency`.
    pub actually_paid: Amount,
    /// The amount credited to the balance, and the processor's fee; `None` while nothing is credited.
    pub outcome: Option<(Amount, Amount)>,
    /// `payin_hash`: the deposit's transaction on the chain.
    pub payin_hash: Option<Box<str>>,
    /// `created_at`.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// `updated_at`.
    #[serde(with = "wire::micros")]
    pub updated_at: Timestamp,
    /// `expiration_estimate_date`: the instant until which the rate is valid.
    #[serde(with = "wire::micros")]
    pub estimate_until: Timestamp,
    /// `valid_until`: the instant at which the payment expires without a deposit.
    #[serde(with = "wire::micros")]
    pub valid_until: Timestamp,
    /// The instant at which the clock makes the deposit final; `None` before the deposit, and if only the tester moves it.
    #[serde(with = "wire::optional_micros")]
    pub settles_at: Option<Timestamp>,
    /// The final status of the deposit, in the journal as `doom`; `None` if the amounts determine it.
    #[serde(rename = "doom")]
    pub forced_status: Option<PaymentStatus>,
}

impl Payment {
    /// Returns the instant when the clock alone changes the status; `None` in a status that only the tester can change.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            PaymentStatus::Waiting => Some(self.valid_until),
            PaymentStatus::Confirming | PaymentStatus::Confirmed | PaymentStatus::Sending => self.settles_at,
            PaymentStatus::PartiallyPaid
            | PaymentStatus::Finished
            | PaymentStatus::Failed
            | PaymentStatus::Refunded
            | PaymentStatus::Expired => None,
        }
    }

    /// Returns the status to which the clock alone moves the payment next; the same status if it is final.
    #[must_use]
    pub fn next_status(&self) -> PaymentStatus {
        match self.status {
            PaymentStatus::Waiting => PaymentStatus::Expired,
            PaymentStatus::Confirming => PaymentStatus::Confirmed,
            PaymentStatus::Confirmed => PaymentStatus::Sending,
            PaymentStatus::Sending => self.final_status(),
            last @ (PaymentStatus::PartiallyPaid
            | PaymentStatus::Finished
            | PaymentStatus::Failed
            | PaymentStatus::Refunded
            | PaymentStatus::Expired) => last,
        }
    }

    /// Returns the final status: `forced_status` if it is set, otherwise the status that the amounts determine.
    #[must_use]
    pub fn final_status(&self) -> PaymentStatus {
        let by_amount = if self.actually_paid < self.terms.pay_amount {
            PaymentStatus::PartiallyPaid
        } else {
            PaymentStatus::Finished
        };
        self.forced_status.unwrap_or(by_amount)
    }
}
