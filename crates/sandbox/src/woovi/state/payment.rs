//! Payments before and after their approval, and evidence for disputes.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// A requested payment. No money moves before its approval. The approval sends a Pix, whose `idEnvio` is the `correlationID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentRequest {
    /// `correlationID`, unique, chosen by the client.
    pub correlation_id: Arc<str>,
    /// The amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The Pix key of the recipient in its normal form.
    pub key: Box<str>,
    /// `destinationAliasType`, such as `CPF` or `RANDOM`.
    pub key_type: Box<str>,
    /// `comment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<Box<str>>,
    /// The instant of the request.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// `true` if a person removed the payment before its approval.
    #[serde(default)]
    pub is_removed: bool,
    /// The number of requests to create a payment with this `correlationID`, refused repeats included.
    pub requests: u64,
}

/// A document that a client sent as evidence for a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The URL that the client gave.
    pub url: Box<str>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// The client's id of the document.
    #[serde(rename = "correlationID", default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Box<str>>,
}

impl Document {
    /// Returns the description, if any, and the URL as one line.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.description {
            Some(description) => format!("{description}: {}", self.url),
            None => self.url.to_string(),
        }
    }
}
