//! The form of resources in stored answers, and of events in deliveries.

use cais_domain::charge::Charge;
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
use jiff::Timestamp;

use crate::events::StoredEvent;
use crate::keys::ApiKeyRecord;
use crate::statement::{SplitCredit, StatementEntry, Transaction};

/// The dialect of a file of comma-separated values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvDialect {
    /// RFC 4180: commas, decimal points, instants in UTC.
    Standard,
    /// Excel in Brazil: a byte order mark, semicolons, decimal commas, times of São Paulo.
    ExcelBr,
}

/// Renders resources exactly as their GET returns them.
pub trait ResourceRenderer: Send + Sync {
    /// Renders a charge as a JSON object.
    fn charge(&self, charge: &Charge) -> Vec<u8>;
    /// Renders an unexpected payment as a JSON object.
    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8>;
    /// Renders a split credit as a JSON object: the transaction of its beneficiary.
    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8>;
    /// Renders transactions as lines of CSV; `is_first` puts the line of names before them.
    ///
    /// # Errors
    /// The reason for which a row cannot be shown. The store lists no such rows.
    fn transactions_csv(&self, rows: &[Transaction], dialect: CsvDialect, is_first: bool) -> Result<Vec<u8>, String>;
    /// Renders entries of a statement as lines of CSV; `is_first` puts the line of names before them.
    fn entries_csv(&self, rows: Vec<StatementEntry>, dialect: CsvDialect, is_first: bool) -> Vec<u8>;
    /// Renders a payout as a JSON object.
    fn payout(&self, payout: &Payout) -> Vec<u8>;
    /// Renders a refund as a JSON object.
    fn refund(&self, refund: &Refund) -> Vec<u8>;
    /// Renders an infraction with its defense as a JSON object.
    fn infraction(&self, infraction: &Infraction) -> Vec<u8>;
    /// Renders a crypto deposit as a JSON object.
    fn crypto_deposit(&self, deposit: &Deposit) -> Vec<u8>;
    /// Renders a crypto withdrawal as a JSON object.
    fn crypto_withdrawal(&self, withdrawal: &Withdrawal) -> Vec<u8>;
    /// Renders a webhook endpoint without its secret as a JSON object.
    fn endpoint(&self, endpoint: &Endpoint) -> Vec<u8>;
    /// Renders an event as endpoints receive it. Equal events have equal bytes, at each attempt and in its GET.
    fn event(&self, event: &StoredEvent) -> Vec<u8>;
    /// Renders a test of an endpoint as the endpoint receives it, with the bytes of an event.
    fn endpoint_test(&self, id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8>;
    /// Renders an account for operators as a JSON object.
    fn account(&self, account: &Account) -> Vec<u8>;
    /// Renders an API key without its secret as a JSON object.
    fn key(&self, key: &ApiKeyRecord) -> Vec<u8>;
    /// Renders the error that the `available` balance is below the `needed` amount, fee included. The answer is stored for repeats, like a
    /// success.
    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8>;
}
