//! The fields of a charge that only Woovi's API has: its `correlationID`, its customer, and the expiry that was published.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// The customer of a charge. A customer with a tax number is also the charge's debtor in the API Pix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    /// The name.
    pub name: Box<str>,
    /// A CPF or CNPJ, without punctuation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_id: Option<Box<str>>,
    /// The e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Box<str>>,
    /// The telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<Box<str>>,
    /// The client's id of the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Box<str>>,
}

/// The fields that this API adds to a charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeFields {
    /// The txid, chosen by the institution. Responses show the txid as `transactionID` and `identifier`.
    pub txid: Arc<str>,
    /// `correlationID`, unique, chosen by the client.
    pub correlation_id: Arc<str>,
    /// The customer, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
    /// The expiry for which an event was published, if any. If the charge gets another expiry, that expiry has an event of its own.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::optional_micros")]
    pub reported_expiry: Option<Timestamp>,
}
