//! The identifiers and the customer of a charge that only this API has.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// The customer of a charge. A name with a tax number is also the charge's debtor.
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

/// The names of a charge that was created through this API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeNames {
    /// The txid of the charge, which the institution chose: `transactionID` and `identifier`.
    pub txid: Arc<str>,
    /// `correlationID`, unique, chosen by the client.
    pub correlation_id: Arc<str>,
    /// The customer, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
    /// The expiry whose event was published. A later expiry is published by another event.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::optional_micros")]
    pub reported_expiry: Option<Timestamp>,
}
