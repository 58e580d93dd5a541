//! Rows of credited payments.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::payment::{CreditedPayment, Payment, PaymentRole};
use diesel::sql_types::{BigInt, Text};

use super::{acquirer, corrupt, id, instant, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "payments";

/// The columns, in the order of a row, of a table that is called `p`. The last one is a sum over the few refunds of what was paid beyond
/// a charge's amount, which have an index of their own.
pub(crate) const COLUMNS: &str = "p.account_id, p.end_to_end_id, p.charge_id, p.amount, p.paid_at, p.acquirer, p.role, p.credited_at, \
    (SELECT CAST(coalesce(sum(r.amount - r.of_charge), 0) AS BIGINT) FROM refunds AS r WHERE r.account_id = p.account_id \
    AND r.end_to_end_id = p.end_to_end_id AND r.of_charge < r.amount AND r.status IN ('pending', 'processing', 'completed'))";

/// Their types.
pub(crate) type PaymentColumns = (Text, Text, Text, BigInt, BigInt, Text, Text, BigInt, BigInt);

/// A payment as it is read.
pub(crate) type PaymentRow = (String, String, String, i64, i64, String, String, i64, i64);

/// New payments.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("charge_id", Kind::Text),
        ("amount", Kind::Int),
        ("paid_at", Kind::Int),
        ("acquirer", Kind::Text),
        ("role", Kind::Text),
        ("credited_at", Kind::Int),
    ],
);

/// The row of a payment.
pub(crate) fn inserted(credited: &CreditedPayment) -> Vec<Value<'_>> {
    let payment = &credited.payment;
    vec![
        credited.account.into(),
        payment.end_to_end_id.as_str().into(),
        credited.charge.into(),
        payment.amount.into(),
        payment.paid_at.into(),
        payment.acquirer.as_str().into(),
        credited.role.as_str().into(),
        credited.credited_at.into(),
    ]
}

/// The payment of a row.
pub(crate) fn read(row: PaymentRow) -> Result<CreditedPayment, Fault> {
    let (account, end_to_end_id, charge, amount, paid_at, received_by, role, credited_at, refunded_beyond) = row;
    let payment = Payment {
        end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        amount: Money::from_centavos(amount),
        paid_at: instant(TABLE, paid_at)?,
        acquirer: acquirer(TABLE, &received_by)?,
    };
    Ok(CreditedPayment {
        payment,
        account: id(TABLE, &account)?,
        charge: id(TABLE, &charge)?,
        role: word(TABLE, &role, PaymentRole::parse)?,
        credited_at: instant(TABLE, credited_at)?,
        refunded_beyond: Money::from_centavos(refunded_beyond),
    })
}
