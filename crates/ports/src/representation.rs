//! The form of resources in stored responses, and of events in deliveries.

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

/// The format of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvDialect {
    /// RFC 4180: commas, decimal points, and instants in UTC.
    Standard,
    /// Excel in Brazil: a byte order mark, semicolons, decimal commas, and times of São Paulo.
    ExcelBr,
}

/// A renderer of resources, in the form in which a GET returns them.
pub trait ResourceRenderer: Send + Sync {
    /// Renders a charge as a JSON object.
    fn charge(&self, charge: &Charge) -> Vec<u8>;
    /// Renders money that was credited but did not settle a charge, as a JSON object.
    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8>;
    /// Renders a split credit as a JSON object: as a transaction in the timeline of the share's recipient.
    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8>;
    /// Renders transactions as lines of CSV. If `is_first` is set, the column names come first.
    ///
    /// # Errors
    /// The reason, if a row is not visible or an amount is out of range. The store lists no such rows.
    fn transactions_csv(&self, rows: &[Transaction], dialect: CsvDialect, is_first: bool) -> Result<Vec<u8>, String>;
    /// Renders entries of a statement as lines of CSV. If `is_first` is set, the column names come first.
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
    /// Renders an event as endpoints receive it. The bytes are the same at each attempt and in the GET of the event.
    fn event(&self, event: &StoredEvent) -> Vec<u8>;
    /// Renders the body of a test webhook to `endpoint`. The body has the form of an event.
    fn endpoint_test(&self, id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8>;
    /// Renders an account for operators as a JSON object.
    fn account(&self, account: &Account) -> Vec<u8>;
    /// Renders an API key without its secret as a JSON object.
    fn key(&self, key: &ApiKeyRecord) -> Vec<u8>;
    /// Renders the error for an insufficient balance. `needed` includes the fee, and `available` is the available
    /// balance. The response is stored for repeats, like the response of a success.
    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8>;
}
