//! `/v1/transactions`.

pub mod get;
pub mod list;

use cais_domain::timeline::Direction;
use cais_ports::Transaction;
use cais_strict_json::Issues;
use cais_use_cases::timeline;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::Uuid;

use super::describe::parameters;
use super::error::ApiError;
use super::input::{Part, Parts};
use super::percent;
use crate::resources::transaction::TransactionRow;

/// The id of a transaction in the path: its direction and its key.
#[derive(Debug)]
pub struct TransactionName(pub Direction, pub Uuid);

impl Part for TransactionName {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let decoded = percent::decode(&parts.segment("id"));
        let decoded = decoded.ok_or_else(|| "is not validly percent-encoded UTF-8".to_owned());
        let id = decoded.and_then(|text| timeline::parse_id(&text)).map_err(|problem| issues.add("id", problem));
        id.map(|(direction, key)| Self(direction, key)).ok()
    }
}

impl IntoParams for TransactionName {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::in_path("id", "A transaction's id (`txn_in_…` or `txn_out_…`).")
    }
}

/// Returns a transaction as the API shows it.
///
/// # Errors
/// `internal_error` if the transaction is not visible yet or has invalid amounts. The store lists no such transaction.
fn shown(transaction: &Transaction) -> Result<TransactionRow, ApiError> {
    TransactionRow::of(transaction).map_err(|error| ApiError::internal(error.to_string()))
}
