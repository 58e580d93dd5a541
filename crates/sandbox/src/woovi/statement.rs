//! The account statement of Woovi's API: movements of the account, each with the balance after it.

use cais_domain::money::Money;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    state::{
        Books,
        payment::RefundOutcome,
        sent::{SendOutcome, Sent},
    },
    wire::instant,
    woovi::ids,
};

/// A movement of money. A sent Pix and a return are debited when the institution accepts them.
struct Movement<'a> {
    at: Timestamp,
    /// The amount in cents; negative for a debit.
    value: i64,
    description: &'static str,
    /// The end-to-end id of a Pix, or the `rtrId` of a return.
    id: &'a str,
}

/// Returns the movements whose instant `has` accepts, oldest first.
///
/// All balances are computed from the account's current balance. So if the tester sets the balance, the balances of all rows change.
/// Failed movements are absent, because their money is back in the account. Returns that the balance did not cover are absent, because they
/// were never debited.
#[must_use]
pub fn rows(books: &Books, has: impl Fn(Timestamp) -> bool) -> Vec<Value> {
    let movements = movements(books);
    let moved: i64 = movements.iter().map(|movement| movement.value).sum();
    let mut balance = books.funds().balance().centavos().saturating_sub(moved);
    let mut rows = Vec::new();
    for movement in movements {
        balance = balance.saturating_add(movement.value);
        if has(movement.at) {
            rows.push(json!({
                "id": ids::global("Ledger", movement.id),
                "time": instant(movement.at),
                "description": movement.description,
                "balance": balance,
                "value": movement.value.abs(),
                "type": if movement.value < 0 { "DEBIT" } else { "CREDIT" },
                "transactionId": movement.id,
            }));
        }
    }
    rows
}

fn movements(books: &Books) -> Vec<Movement<'_>> {
    let debit = |amount: Money| amount.centavos().saturating_neg();
    let mut all = Vec::new();
    for payment in books.payments() {
        let (at, value) = (payment.paid_at, payment.amount.centavos());
        all.push(Movement { at, value, description: "Pix recebido", id: &payment.end_to_end_id });
        let is_debited = |outcome: &RefundOutcome| !matches!(outcome, RefundOutcome::Failed { .. });
        for refund in payment.refunds.iter().filter(|refund| refund.is_covered && is_debited(&refund.outcome)) {
            let (at, value) = (refund.requested_at, debit(refund.amount));
            all.push(Movement { at, value, description: "Pix devolvido", id: &refund.return_id });
        }
    }
    let is_debited = |sent: &&Sent| !matches!(sent.outcome, SendOutcome::Failed(_));
    for sent in books.sends().all().iter().filter(is_debited) {
        let (at, value) = (sent.requested_at, debit(sent.amount));
        all.push(Movement { at, value, description: "Pix enviado", id: &sent.end_to_end_id });
        for back in &sent.returns {
            let (at, value) = (back.at, back.amount.centavos());
            all.push(Movement { at, value, description: "Devolução recebida", id: &back.return_id });
        }
    }
    all.sort_by_key(|movement| movement.at);
    all
}
