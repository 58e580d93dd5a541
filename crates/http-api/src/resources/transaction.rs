//! The body of a row of the timeline: the common fields of charges, payouts and split credits.

use cais_domain::allocate::{AllocationError, allocate};
use cais_domain::charge::{Charge, Origin as By};
use cais_domain::money::{Money, MoneyError};
use cais_domain::payout::Payout;
use cais_domain::rate::Percentage;
use cais_domain::timeline::{Direction, TransactionStatus as Status};
use cais_ports::{SplitCredit, Transaction};
use cais_use_cases::timeline::{Cursor, public_id};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::csv::{Line, Row};
use super::values::{Amount, Instant, Page, closed_list};

/// The payment method of every row. Crypto deposits and withdrawals are not in the timeline, only in the statement.
const METHOD: &str = "pix";

/// The reason why a row cannot be shown. The store lists no such rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unshowable {
    /// The resource is not visible yet.
    #[error("{0} is not visible")]
    Hidden(String),
    /// An amount is out of range.
    #[error(transparent)]
    Money(#[from] MoneyError),
    /// The net value cannot be divided among the recipients of the split.
    #[error(transparent)]
    Split(#[from] AllocationError),
}

closed_list! {
    /// The direction of the money.
    TransactionType Direction::ALL.map(Direction::as_str)
}

closed_list! {
    /// The status of a row of the timeline.
    TransactionStatus Status::ALL.map(Status::as_str)
}

closed_list! {
    /// The method of payment.
    Method [METHOD]
}

closed_list! {
    /// The way in which a charge or payout was requested: `api`, or `manual` for the dashboard.
    Origin [By::Api, By::Manual].map(By::as_str)
}

/// A row of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Transaction)]
pub struct TransactionRow {
    /// The row's position in the list.
    #[serde(skip)]
    pub cursor: Cursor,
    /// Public id, `txn_in_…` or `txn_out_…`.
    pub id: String,
    /// The direction of the money.
    #[schema(value_type = TransactionType)]
    pub r#type: &'static str,
    /// The id of the charge or payout; null for a share in another account's charge.
    #[schema(required)]
    pub resource_id: Option<String>,
    /// BRL, two decimals.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee.
    #[schema(inline)]
    pub fee: Amount,
    /// For `cash_in`, the amount for the account: `amount` less the fee and the shares of other accounts. For `cash_out`, the amount sent.
    #[schema(inline)]
    pub net_amount: Amount,
    /// For `cash_in`, equal to `amount`. For `cash_out`, the amount debited, including the fee.
    #[schema(inline)]
    pub gross_amount: Amount,
    /// The status.
    #[schema(value_type = TransactionStatus)]
    pub status: &'static str,
    /// The method of payment.
    #[schema(value_type = Method)]
    pub method: &'static str,
    /// The way in which the charge or payout was requested; `api` for a share in another account's charge.
    #[schema(value_type = Origin)]
    pub origin: &'static str,
    /// Time at which the charge or payout was created, or the share was credited.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// A page of the timeline.
pub type TransactionPage = Page<TransactionRow>;

impl TransactionRow {
    /// Returns the row of `transaction`.
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
        let terms = &charge.terms;
        let status = Status::of_charge(charge.state.status());
        let row = Self::new((Direction::CashIn, charge.id.uuid()), terms.amount, charge.created_at);
        Ok(Self {
            resource_id: Some(charge.id.to_string()),
            fee: Amount(terms.fee),
            net_amount: Amount(credited(charge)?),
            status: status.ok_or_else(|| Unshowable::Hidden(charge.id.to_string()))?.as_str(),
            origin: terms.origin.as_str(),
            ..row
        })
    }

    fn of_payout(payout: &Payout) -> Result<Self, Unshowable> {
        let terms = &payout.terms;
        let status = Status::of_payout(payout.state.status());
        let row = Self::new((Direction::CashOut, payout.id.uuid()), terms.amount, payout.created_at);
        Ok(Self {
            resource_id: Some(payout.id.to_string()),
            fee: Amount(terms.fee),
            gross_amount: Amount(terms.gross()?),
            status: status.ok_or_else(|| Unshowable::Hidden(payout.id.to_string()))?.as_str(),
            origin: terms.origin.as_str(),
            ..row
        })
    }

    /// Returns the row of a credit from a split. The charge belongs to another account, so the row does not name it.
    #[must_use]
    pub fn of_split_credit(credit: &SplitCredit) -> Self {
        Self::new((Direction::CashIn, credit.id.uuid()), credit.amount, credit.created_at)
    }

    /// Returns a row with the fee 0, the status `completed` and no resource. `net_amount` and `gross_amount` equal `amount`. The caller
    /// replaces each field that differs.
    fn new(cursor: Cursor, amount: Money, created_at: Timestamp) -> Self {
        let amount = Amount(amount);
        Self {
            cursor,
            id: public_id(cursor),
            r#type: cursor.0.as_str(),
            resource_id: None,
            amount,
            fee: Amount(Money::ZERO),
            net_amount: amount,
            gross_amount: amount,
            status: Status::Completed.as_str(),
            method: METHOD,
            origin: By::Api.as_str(),
            created_at: Instant(created_at),
        }
    }
}

/// Returns the creator's credit: the amount less the fee and the shares of others. The payment fixes the
/// shares. Before the payment, the shares are computed from the amount less the fee.
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

    fn write(&self, line: &mut Line<'_>) {
        let Self { cursor: _, id, r#type, resource_id, amount, fee, net_amount, gross_amount, .. } = self;
        let Self { status, method, origin, created_at, .. } = self;
        for plain in [Some(id.as_str()), Some(r#type), resource_id.as_deref()] {
            line.plain(plain);
        }
        for amount in [amount, fee, net_amount, gross_amount] {
            line.amount(*amount);
        }
        for plain in [status, method, origin] {
            line.plain(Some(plain));
        }
        line.instant(*created_at);
    }
}
