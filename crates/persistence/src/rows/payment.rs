//! Rows of credited payments.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::payment::{CreditedPayment, Payment, PaymentRole};

use super::{Record, acquirer, id, instant, parse_enum, parsed};
use crate::error::Fault;
use crate::sql::loaded;
use crate::sql::table::{Row, names, table};

const TABLE: &str = "payments";

table! {
    /// The row of a payment.
    PaymentRow of payments
    key { account_id: Text, end_to_end_id: Text }
    fixed {
        charge_id: Text, amount: BigInt, paid_at: BigInt, acquirer: Text, role: Text, credited_at: BigInt,
    }
}

/// Returns the columns of the table `payments` with the alias `p`, and the column for `refunded_beyond`. The latter is the sum that was
/// refunded of the part beyond the charge's amount. Refunds in flight count too. Such refunds are few, and have their own index.
pub(crate) fn columns() -> String {
    names::<PaymentRow<'_>>("p")
        + ", (SELECT CAST(coalesce(sum(r.amount - r.of_charge), 0) AS BIGINT) FROM refunds AS r WHERE r.account_id = p.account_id \
           AND r.end_to_end_id = p.end_to_end_id AND r.of_charge < r.amount AND r.status IN ('pending', 'processing', 'completed'))"
}

/// The read row of a payment, and the amount refunded beyond the charge's amount.
pub(crate) type ReadPayment = (PaymentRow<'static>, i64);

loaded! { (<PaymentRow<'static> as Row<'static>>::Sql, diesel::sql_types::BigInt) => ReadPayment }

impl Record for CreditedPayment {
    type Row<'a> = PaymentRow<'a>;

    fn row(&self, _version: i64) -> PaymentRow<'_> {
        let payment = &self.payment;
        PaymentRow {
            account_id: self.account.to_string().into(),
            end_to_end_id: payment.end_to_end_id.as_str().into(),
            charge_id: self.charge.to_string().into(),
            amount: payment.amount.centavos(),
            paid_at: payment.paid_at.as_microsecond(),
            acquirer: payment.acquirer.as_str().into(),
            role: self.role.as_str().into(),
            credited_at: self.credited_at.as_microsecond(),
        }
    }

    /// Reads the payment without its refunds; [`read`] adds the refunded amount.
    fn read(row: PaymentRow<'_>) -> Result<Self, Fault> {
        let payment = Payment {
            end_to_end_id: parsed(TABLE, EndToEndId::parse(&row.end_to_end_id))?,
            amount: Money::from_centavos(row.amount),
            paid_at: instant(TABLE, row.paid_at)?,
            acquirer: acquirer(TABLE, &row.acquirer)?,
        };
        Ok(Self {
            payment,
            account: id(TABLE, &row.account_id)?,
            charge: id(TABLE, &row.charge_id)?,
            role: parse_enum(TABLE, &row.role, PaymentRole::parse)?,
            credited_at: instant(TABLE, row.credited_at)?,
            refunded_beyond: Money::ZERO,
        })
    }
}

/// Returns the payment of a row, with the amount refunded beyond the charge's amount.
pub(crate) fn read((row, refunded_beyond): ReadPayment) -> Result<CreditedPayment, Fault> {
    let refunded_beyond = Money::from_centavos(refunded_beyond);
    Ok(CreditedPayment { refunded_beyond, ..CreditedPayment::read(row)? })
}
