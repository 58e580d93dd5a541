//! An entry of the timeline on the wire: what charges, payouts and split credits have in common.

use std::fmt::Display;

use cais_domain::allocate::{AllocationError, allocate};
use cais_domain::charge::{Charge, Origin};
use cais_domain::ids::{CashInId, CashOutId};
use cais_domain::money::{Money, MoneyError};
use cais_domain::payout::Payout;
use cais_domain::rate::Percentage;
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{SplitCredit, Transaction};
use jiff::Timestamp;
use uuid::Uuid;

use super::row::{Row, Sink};

/// How money moves; crypto is in the statement only.
const METHOD: &str = "pix";

/// Why an entry cannot be shown; none of them happens to what the store lists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unshowable {
    /// Nobody may know of it yet.
    #[error("{0} is not visible")]
    Hidden(String),
    /// Its amounts leave the range of money.
    #[error(transparent)]
    Money(#[from] MoneyError),
    /// Its net value cannot be divided.
    #[error(transparent)]
    Split(#[from] AllocationError),
}

/// An entry of the timeline with everything that is shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRow {
    /// Which way the money goes.
    pub direction: Direction,
    /// What the timeline is ordered by; with the direction it makes the id.
    pub key: Uuid,
    resource: Option<String>,
    amount: Money,
    fee: Money,
    net: Money,
    gross: Money,
    status: TransactionStatus,
    origin: Origin,
    created_at: Timestamp,
}

/// The public id of the entry of that key.
#[must_use]
pub fn public_id(direction: Direction, key: Uuid) -> String {
    match direction {
        Direction::CashIn => CashInId::new(key).to_string(),
        Direction::CashOut => CashOutId::new(key).to_string(),
    }
}

impl TransactionRow {
    /// What is shown of `transaction`.
    ///
    /// # Errors
    /// [`Unshowable`].
    pub fn of(transaction: &Transaction) -> Result<Self, Unshowable> {
        match transaction {
            Transaction::Charge(charge) => Self::of_charge(charge),
            Transaction::Payout(payout) => Self::of_payout(payout),
            Transaction::SplitCredit(credit) => Ok(Self::of_split_credit(credit)),
        }
    }

    fn of_charge(charge: &Charge) -> Result<Self, Unshowable> {
        let status = TransactionStatus::of_charge(charge.state.status());
        let terms = &charge.terms;
        Ok(Self {
            direction: Direction::CashIn,
            key: charge.id.uuid(),
            resource: Some(charge.id.to_string()),
            amount: terms.amount,
            fee: terms.fee,
            net: credited(charge)?,
            gross: terms.amount,
            status: status.ok_or_else(|| Unshowable::Hidden(charge.id.to_string()))?,
            origin: terms.origin,
            created_at: charge.created_at,
        })
    }

    fn of_payout(payout: &Payout) -> Result<Self, Unshowable> {
        let status = TransactionStatus::of_payout(payout.state.status());
        let terms = &payout.terms;
        Ok(Self {
            direction: Direction::CashOut,
            key: payout.id.uuid(),
            resource: Some(payout.id.to_string()),
            amount: terms.amount,
            fee: terms.fee,
            net: terms.amount,
            gross: terms.gross()?,
            status: status.ok_or_else(|| Unshowable::Hidden(payout.id.to_string()))?,
            origin: terms.origin,
            created_at: payout.created_at,
        })
    }

    /// Returns the row of a credit from a split.
    #[must_use]
    pub fn of_split_credit(credit: &SplitCredit) -> Self {
        Self {
            direction: Direction::CashIn,
            key: credit.id.uuid(),
            // The charge is another account's.
            resource: None,
            amount: credit.amount,
            fee: Money::ZERO,
            net: credit.amount,
            gross: credit.amount,
            status: TransactionStatus::Completed,
            origin: Origin::Api,
            created_at: credit.created_at,
        }
    }
}

/// What the creator is credited: after the fee, and after the parts of those who share. The parts are fixed when the charge
/// is paid; before that they are those that a payment of the amount would give.
fn credited(charge: &Charge) -> Result<Money, Unshowable> {
    let net = charge.terms.amount.checked_sub(charge.terms.fee)?;
    if let Some(settlement) = charge.state.settlement() {
        return Ok(net.checked_sub(Money::sum(settlement.parts.iter().copied())?)?);
    }
    let shares: Vec<Percentage> = charge.terms.split.shares().iter().map(|share| share.percentage.clone()).collect();
    Ok(allocate(net, &shares)?.remainder)
}

impl Row for TransactionRow {
    const NAMES: &'static [&'static str] = &[
        "id",
        "type",
        "resource_id",
        "amount",
        "fee",
        "net_amount",
        "gross_amount",
        "status",
        "method",
        "origin",
        "created_at",
    ];

    fn write(&self, sink: &mut dyn Sink) {
        sink.plain("id", Some(&public_id(self.direction, self.key)));
        sink.plain("type", Some(&self.direction.as_str()));
        sink.plain("resource_id", self.resource.as_ref().map(|id| -> &dyn Display { id }));
        sink.money("amount", self.amount);
        sink.money("fee", self.fee);
        sink.money("net_amount", self.net);
        sink.money("gross_amount", self.gross);
        sink.plain("status", Some(&self.status.as_str()));
        sink.plain("method", Some(&METHOD));
        sink.plain("origin", Some(&self.origin.as_str()));
        sink.instant("created_at", self.created_at);
    }
}
