//! Rows of credited payments.

use cais_domain::payment::CreditedPayment;

use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

/// New payments.
pub(crate) static INSERT: Spec = Spec::insert(
    "payments",
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
