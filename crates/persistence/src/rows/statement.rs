//! Rows of the account statement, and of split credits.

use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_ports::{SplitCredit, StatementEntry};
use diesel::sql_types::{BigInt, Nullable, Text};

use super::{corrupt, id, instant, parse_end_to_end_id, parse_enum};
use crate::error::Fault;
use crate::sql::loaded;

const TABLE: &str = "entries";

type LineColumns = ((Text, Text, Text, BigInt, BigInt), (Nullable<Text>, Nullable<Text>, Nullable<Text>, BigInt));

/// The read row of a line: id, kind, bucket, amount, balance after it; resource, Pix, description, instant.
pub(crate) type LineRow = ((String, String, String, i64, i64), (Option<String>, Option<String>, Option<String>, i64));

loaded! { LineColumns => LineRow }

/// Returns the line of a row.
pub(crate) fn read(row: LineRow) -> Result<StatementEntry, Fault> {
    let ((entry, kind, bucket, amount, balance_after), (resource, end_to_end_id, description, created_at)) = row;
    let kind = parse_enum(TABLE, &kind, EntryKind::parse)?;
    let bucket = match parse_enum(TABLE, &bucket, Bucket::parse)? {
        bucket @ (Bucket::Available | Bucket::Pending | Bucket::Blocked) => bucket,
        Bucket::InTransit => return Err(corrupt(TABLE, "the account statement has an entry of `in_transit`")),
    };
    Ok(StatementEntry {
        id: id(TABLE, &entry)?,
        kind,
        bucket,
        amount: Money::from_centavos(amount),
        balance_after: Money::from_centavos(balance_after),
        resource,
        end_to_end_id: parse_end_to_end_id(TABLE, end_to_end_id.as_deref())?,
        description,
        created_at: instant(TABLE, created_at)?,
    })
}

/// Returns the split credit from its entry's id, amount and instant.
pub(crate) fn read_credit((entry, amount, created_at): (String, i64, i64)) -> Result<SplitCredit, Fault> {
    if amount <= 0 {
        return Err(corrupt(TABLE, "the amount of a split credit is not positive"));
    }
    Ok(SplitCredit {
        id: id(TABLE, &entry)?,
        amount: Money::from_centavos(amount),
        created_at: instant(TABLE, created_at)?,
    })
}
