//! How resources look on the wire: JSON with exactly the fields of the contract, in its order.

mod charge;
pub mod csv;
pub mod infraction;
mod object;
pub mod operator;
mod payment;
mod payout;
mod refund;
pub mod row;
mod statement;
pub mod transaction;
pub mod webhook;

use std::fmt::Display;

use cais_domain::account::Account;
use cais_domain::charge::Charge;
use cais_domain::ids::RequestId;
use cais_domain::infraction::Infraction;
use cais_domain::money::{Money, MoneyError};
use cais_domain::payment::UnexpectedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::webhook::Endpoint;
use cais_ports::{ApiKeyRecord, Balances, Representation, SplitCredit};
use cais_qr_code::QrImages;

pub(crate) use self::object::write_text;
use self::object::{Object, write_list, write_quoted};
use self::row::Row as _;
use self::transaction::TransactionRow;
use crate::error::{ApiError, ErrorCode};

/// Renders resources, and remembers the images of the codes it rendered last.
#[derive(Debug, Default)]
pub struct JsonRepresentation {
    images: QrImages,
}

impl JsonRepresentation {
    /// A renderer with an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Representation for JsonRepresentation {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        charge::render(&self.images, charge)
    }

    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8> {
        payment::unexpected(payment)
    }

    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8> {
        TransactionRow::of_split_credit(credit).to_json()
    }

    fn payout(&self, payout: &Payout) -> Vec<u8> {
        payout::render(payout)
    }

    fn refund(&self, refund: &Refund) -> Vec<u8> {
        refund::render(refund)
    }

    fn infraction(&self, infraction: &Infraction) -> Vec<u8> {
        infraction::detail(infraction)
    }

    fn endpoint(&self, endpoint: &Endpoint) -> Vec<u8> {
        webhook::endpoint(endpoint)
    }

    fn account(&self, account: &Account) -> Vec<u8> {
        operator::account(account).to_string().into_bytes()
    }

    fn key(&self, key: &ApiKeyRecord) -> Vec<u8> {
        operator::key(key).to_string().into_bytes()
    }

    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8> {
        let message = format!("Insufficient available balance: {needed} needed, {available} available.");
        ApiError::new(ErrorCode::InsufficientBalance).saying(message).body(request)
    }
}

/// The parts of an account's money as the balance shows them; what is in transit is in none.
///
/// # Errors
/// [`MoneyError::OutOfRange`] when the total does not fit, which no real balance can reach.
pub fn balance(balances: &Balances) -> Result<Vec<u8>, MoneyError> {
    let total = Money::sum([balances.available, balances.pending, balances.blocked])?;
    let mut object = Object::with_capacity(192);
    object.money("available_balance", balances.available);
    object.money("pending_balance", balances.pending);
    object.money("blocked_balance", balances.blocked);
    object.money("total_balance", total);
    object.plain_text("currency", &"BRL");
    Ok(object.finish())
}

/// A page of a list: its rows, and where the next one begins.
#[must_use]
pub fn page<I: Display>(rows: &[Vec<u8>], next_starting_after: Option<&I>) -> Vec<u8> {
    let length = rows.iter().map(|row| row.len().saturating_add(1)).sum::<usize>();
    let mut body = Vec::with_capacity(length.saturating_add(96));
    body.extend_from_slice(b"{\"data\":");
    write_list(&mut body, rows);
    let tail: &[u8] = if next_starting_after.is_some() { b",\"has_more\":true" } else { b",\"has_more\":false" };
    body.extend_from_slice(tail);
    body.extend_from_slice(b",\"next_starting_after\":");
    match next_starting_after {
        Some(id) => write_quoted(&mut body, id),
        None => body.extend_from_slice(b"null"),
    }
    body.push(b'}');
    body
}

/// All there is of something, without pages.
#[must_use]
pub fn all(rows: &[Vec<u8>]) -> Vec<u8> {
    let mut object = Object::with_capacity(rows.iter().map(Vec::len).sum::<usize>().saturating_add(64));
    object.list("data", rows);
    object.finish()
}

#[cfg(test)]
mod tests;
