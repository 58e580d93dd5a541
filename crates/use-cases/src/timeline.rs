//! Reads an account's timeline: its charges, its payouts and its split credits (credited shares of other accounts'
//! charges) in one list. The newest come first.

use cais_domain::ids::{AccountId, CashInId, CashOutId};
use cais_domain::timeline::Direction;
use cais_ports::{Page, PageRequest, Transaction, TransactionFilter};
use uuid::Uuid;

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// The direction and the sort key of a transaction. Together they form its id.
pub type Cursor = (Direction, Uuid);

/// Returns the public id of the transaction with that key: `txn_in_…` or `txn_out_…`.
#[must_use]
pub fn public_id((direction, key): Cursor) -> String {
    match direction {
        Direction::CashIn => CashInId::new(key).to_string(),
        Direction::CashOut => CashOutId::new(key).to_string(),
    }
}

/// Parses the public id of a transaction.
///
/// # Errors
/// The violated rule, as a text that follows the parameter's name: for example `must begin with ...`.
pub fn parse_id(text: &str) -> Result<Cursor, String> {
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

/// Returns a page of the account's transactions. The cursor is only a position, so it may be a transaction that the
/// filter excludes.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    filter: TransactionFilter,
    limit: u32,
    starting_after: Option<Cursor>,
) -> Result<Page<Transaction>, ListError> {
    if let Some((direction, key)) = starting_after
        && find(ports, account, direction, key).await?.is_none()
    {
        return Err(ListError::UnknownCursor);
    }
    let page = PageRequest { limit, starting_after: starting_after.map(|(_, key)| key) };
    Ok(ports.queries.list_transactions(account, filter, page).await.map_err(StoreError::from)?)
}

/// Returns the account's visible transaction with this key and direction.
///
/// # Errors
/// [`StoreError`].
pub async fn find(
    ports: &Ports,
    account: AccountId,
    direction: Direction,
    key: Uuid,
) -> Result<Option<Transaction>, StoreError> {
    Ok(ports.queries.find_transaction(account, direction, key).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_ids_contain_their_direction() {
        for (id, expected) in [
            ("txn_in_01h455vb4pex5vsknk084sn02q", Direction::CashIn),
            ("txn_out_01h455vb4pex5vsknk084sn02q", Direction::CashOut),
        ] {
            let cursor = parse_id(id);
            assert_eq!(cursor.clone().map(|(direction, _)| direction), Ok(expected));
            assert_eq!(cursor.map(public_id).as_deref(), Ok(id));
        }
        for bad in [
            "",
            "txn_",
            "txn_in_",
            "txn_out_1",
            "txn_01h455vb4pex5vsknk084sn02q",
            "chg_01h455vb4pex5vsknk084sn02q",
            "ext:x",
        ] {
            assert!(parse_id(bad).is_err(), "{bad}");
        }
    }
}
