//! `/v1/transactions`.

pub mod get;
pub mod list;

use cais_domain::ids::{CashInId, CashOutId};
use cais_domain::timeline::Direction;
use cais_ports::Transaction;
use uuid::Uuid;

use super::error::ApiError;
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
