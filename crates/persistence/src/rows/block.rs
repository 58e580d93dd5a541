//! Rows of blocks: what open infractions hold.

use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::money::Money;
use diesel::sql_types::{BigInt, Text};

use super::{corrupt, id};
use crate::error::Fault;
use crate::sql::spec::{Column, Kind, Spec};
use crate::sql::{Value, loaded};

const TABLE: &str = "blocks";

/// The columns, in the order of a row, of a table that is called `b`.
pub(crate) const COLUMNS: &str = "b.account_id, b.infraction_id, b.end_to_end_id, b.max_amount, b.held";

/// Their types.
pub(crate) type BlockColumns = (Text, Text, Text, BigInt, BigInt);

/// A block as it is read.
pub(crate) type BlockRow = (String, String, String, i64, i64);

loaded! { BlockColumns => BlockRow }

const KEY: &[Column] = &[("account_id", Kind::Text), ("infraction_id", Kind::Text)];

/// New blocks.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("infraction_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("max_amount", Kind::Int),
        ("held", Kind::Int),
    ],
);

/// Blocks that hold more or less.
pub(crate) static UPDATE: Spec = Spec::update(TABLE, &[("max_amount", Kind::Int), ("held", Kind::Int)], KEY);

/// Blocks that end.
pub(crate) static DELETE: Spec = Spec::delete(TABLE, KEY);

/// The row of a new block.
pub(crate) fn inserted(block: &Block) -> Vec<Value<'_>> {
    vec![
        block.account.into(),
        block.infraction.into(),
        block.end_to_end_id.as_str().into(),
        block.limit.into(),
        block.held.into(),
    ]
}

/// The row of a block that holds more or less.
pub(crate) fn updated(block: &Block) -> Vec<Value<'static>> {
    vec![block.limit.into(), block.held.into(), block.account.into(), block.infraction.into()]
}

/// The row of a block that ends.
pub(crate) fn deleted(account: AccountId, infraction: InfractionId) -> Vec<Value<'static>> {
    vec![account.into(), infraction.into()]
}

/// The block of a row.
pub(crate) fn read((account, infraction, end_to_end_id, limit, held): BlockRow) -> Result<Block, Fault> {
    if held < 0 || held > limit {
        return Err(corrupt(TABLE, "more is held than there is to hold"));
    }
    Ok(Block {
        account: id(TABLE, &account)?,
        infraction: id(TABLE, &infraction)?,
        end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        limit: Money::from_centavos(limit),
        held: Money::from_centavos(held),
    })
}
