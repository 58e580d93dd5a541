//! Rows of releases, which move received money from `pending` to `available`.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::release::Release;

use super::{Record, corrupt, id, instant, optional_instant, parsed, us};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "releases";

table! {
    /// The row of a release.
    ReleaseRow of releases
    key { account_id: Text, end_to_end_id: Text }
    fixed { charge_id: Text, amount: BigInt, due_at: BigInt }
    changing { version: BigInt, released_at: Nullable<BigInt> }
}

impl Record for Release {
    type Row<'a> = ReleaseRow<'a>;

    fn row(&self, version: i64) -> ReleaseRow<'_> {
        ReleaseRow {
            account_id: self.account.to_string().into(),
            end_to_end_id: self.end_to_end_id.as_str().into(),
            charge_id: self.charge.to_string().into(),
            amount: self.amount.centavos(),
            due_at: self.due_at.as_microsecond(),
            version,
            released_at: us(self.released_at),
        }
    }

    fn read(row: ReleaseRow<'_>) -> Result<Self, Fault> {
        let (due_at, released_at) = (instant(TABLE, row.due_at)?, optional_instant(TABLE, row.released_at)?);
        if released_at.is_some_and(|released_at| released_at < due_at) {
            return Err(corrupt(TABLE, "a release was executed before its due time"));
        }
        Ok(Self {
            account: id(TABLE, &row.account_id)?,
            end_to_end_id: parsed(TABLE, EndToEndId::parse(&row.end_to_end_id))?,
            charge: id(TABLE, &row.charge_id)?,
            amount: Money::from_centavos(row.amount),
            due_at,
            released_at,
            version: row.version,
        })
    }
}
