//! The bodies of resources. The same structs are used for responses, stored responses, events and the `OpenAPI` document.

pub mod charge;
pub mod crypto;
pub mod crypto_payment;
pub mod crypto_quote;
pub mod csv;
pub mod event;
pub mod infraction;
pub mod operator;
pub mod payment;
pub mod payout;
pub mod refund;
pub mod statement;
pub mod transaction;
pub mod values;
pub mod webhook;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::crypto::deposit::Deposit;
use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::ids::{EndpointId, EventId, RequestId};
use cais_domain::infraction::Infraction;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::UnexpectedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::{ApiKeyRecord, CsvDialect, ResourceRenderer, SplitCredit, StatementEntry, StoredEvent, Transaction};
use cais_qr_code::QrImages;
use jiff::Timestamp;

use self::transaction::TransactionRow;
use self::values::to_json;
use crate::error::{ApiError, ErrorCode};

/// A renderer of resources, with a cache of the QR images of recent Pix codes.
#[derive(Debug, Default)]
pub struct JsonRenderer {
    images: QrImages,
}

impl JsonRenderer {
    /// Returns a renderer with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl ResourceRenderer for JsonRenderer {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        // Only a pending charge has an image, so that no payer scans a code that can no longer be paid.
        let payable = charge.state.issued().filter(|_| charge.state.status() == ChargeStatus::Pending);
        let image = payable.and_then(|issued| self.images.data_url(&issued.copy_paste));
        to_json(&charge::Charge::of(charge, image.as_deref()))
    }

    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8> {
        to_json(&payment::UnexpectedPayment::from(payment))
    }

    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8> {
        to_json(&TransactionRow::of_split_credit(credit))
    }

    fn transactions_csv(&self, rows: &[Transaction], dialect: CsvDialect, is_first: bool) -> Result<Vec<u8>, String> {
        let rows: Result<Vec<_>, _> = rows.iter().map(TransactionRow::of).collect();
        Ok(csv::lines(&rows.map_err(|error| error.to_string())?, dialect, is_first))
    }

    fn entries_csv(&self, rows: Vec<StatementEntry>, dialect: CsvDialect, is_first: bool) -> Vec<u8> {
        let rows: Vec<_> = rows.into_iter().map(statement::Entry::from).collect();
        csv::lines(&rows, dialect, is_first)
    }

    fn payout(&self, payout: &Payout) -> Vec<u8> {
        to_json(&payout::Payout::from(payout))
    }

    fn refund(&self, refund: &Refund) -> Vec<u8> {
        to_json(&refund::Refund::from(refund))
    }

    fn infraction(&self, infraction: &Infraction) -> Vec<u8> {
        to_json(&infraction::InfractionDetail::from(infraction))
    }

    fn crypto_deposit(&self, deposit: &Deposit) -> Vec<u8> {
        to_json(&crypto::CryptoDeposit::from(deposit))
    }

    fn crypto_withdrawal(&self, withdrawal: &Withdrawal) -> Vec<u8> {
        to_json(&crypto::CryptoWithdrawal::from(withdrawal))
    }

    fn endpoint(&self, endpoint: &Endpoint) -> Vec<u8> {
        to_json(&webhook::WebhookEndpoint::from(endpoint))
    }

    fn event(&self, event: &StoredEvent) -> Vec<u8> {
        to_json(&event::Event::from(event))
    }

    fn endpoint_test(&self, id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8> {
        event::endpoint_test(id, endpoint, at)
    }

    fn account(&self, account: &Account) -> Vec<u8> {
        operator::account(account).to_string().into_bytes()
    }

    fn key(&self, key: &ApiKeyRecord) -> Vec<u8> {
        operator::key(key).to_string().into_bytes()
    }

    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8> {
        let message = format!("Insufficient available balance: {needed} needed, {available} available.");
        ApiError::new(ErrorCode::InsufficientBalance).with_message(message).body(request)
    }
}

#[cfg(test)]
mod tests;
