//! `/v1/transactions`.

pub mod get;
pub mod list;

use cais_domain::ids::{CashInId, CashOutId};
use cais_domain::timeline::Direction;
use cais_ports::Transaction;
use cais_strict_json::Issues;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::Uuid;

use super::describe::parameters;
use super::error::ApiError;
use super::input::{Part, Parts};
use super::percent;
use crate::representation::transaction::TransactionRow;

/// Reads the direction and the key of an entry from its id: `txn_in_…` or `txn_out_…`.
///
/// # Errors
/// The rule that the id breaks, to follow its name.
fn read_id(text: &str) -> Result<(Direction, Uuid), String> {
    if text.starts_with("txn_in_") {
        let id = CashInId::parse(text).map_err(|error| error.to_string())?;
        return Ok((Direction::CashIn, id.uuid()));
    }
    if text.starts_with("txn_out_") {
        let id = CashOutId::parse(text).map_err(|error| error.to_string())?;
        return Ok((Direction::CashOut, id.uuid()));
    }
    Err("must begin with `txn_in_` or `txn_out_`".to_owned())
}

/// The id of an entry in the path: its direction and its key.
#[derive(Debug)]
pub struct EntryName(pub Direction, pub Uuid);

impl Part for EntryName {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let decoded = percent::decode(&parts.segment("id"));
        let decoded = decoded.ok_or_else(|| "is not validly percent-encoded UTF-8".to_owned());
        let id = decoded.and_then(|text| read_id(&text)).map_err(|problem| issues.add("id", problem));
        id.map(|(direction, key)| Self(direction, key)).ok()
    }
}

impl IntoParams for EntryName {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::in_path("id", "An entry's id (`txn_in_…` or `txn_out_…`).")
    }
}

/// Returns the row of an entry.
///
/// # Errors
/// `internal_error` if the store returned an entry that must not be shown.
fn shown(transaction: &Transaction) -> Result<TransactionRow, ApiError> {
    TransactionRow::of(transaction).map_err(|error| ApiError::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_ids_contain_their_direction() {
        let direction = |text: &str| read_id(text).map(|(direction, _)| direction);
        assert_eq!(direction("txn_in_01h455vb4pex5vsknk084sn02q"), Ok(Direction::CashIn));
        assert_eq!(direction("txn_out_01h455vb4pex5vsknk084sn02q"), Ok(Direction::CashOut));
        for bad in [
            "",
            "txn_",
            "txn_in_",
            "txn_out_1",
            "txn_01h455vb4pex5vsknk084sn02q",
            "chg_01h455vb4pex5vsknk084sn02q",
            "ext:x",
        ] {
            assert!(direction(bad).is_err(), "{bad}");
        }
    }
}
