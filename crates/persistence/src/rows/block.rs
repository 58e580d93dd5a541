//! Rows of blocks: the amounts that open infractions hold.

use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::money::Money;

use super::{corrupt, id, parsed};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Column, Spec};
use crate::sql::table::{Row as _, table};

const TABLE: &str = "blocks";

table! {
    /// The row of a block.
    BlockRow of blocks
    key { account_id: Text, infraction_id: Text }
    fixed { end_to_end_id: Text }
    changing { max_amount: BigInt, held: BigInt }
}

const KEY: &[Column] = BlockRow::COLUMNS.split_at(BlockRow::KEYS.len()).0;

/// Inserts new blocks.
pub(crate) static INSERT: Spec = Spec::insert_rows::<BlockRow<'_>>();

/// Updates blocks whose amount changes.
pub(crate) static UPDATE: Spec = Spec::update(TABLE, BlockRow::COLUMNS.split_at(BlockRow::FIXED).1, KEY);

/// Deletes blocks that end.
pub(crate) static DELETE: Spec = Spec::delete(TABLE, KEY);

/// Returns the values of a new block.
pub(crate) fn inserted(block: &Block) -> Vec<Value<'_>> {
    let row = BlockRow {
        account_id: block.account.to_string().into(),
        infraction_id: block.infraction.to_string().into(),
        end_to_end_id: block.end_to_end_id.as_str().into(),
        max_amount: block.limit.centavos(),
        held: block.held.centavos(),
    };
    row.values()
}

/// Returns the values of a block whose amount changes.
pub(crate) fn updated(block: &Block) -> Vec<Value<'static>> {
    vec![block.limit.into(), block.held.into(), block.account.into(), block.infraction.into()]
}

/// Returns the values of a block that ends.
pub(crate) fn deleted(account: AccountId, infraction: InfractionId) -> Vec<Value<'static>> {
    vec![account.into(), infraction.into()]
}

/// Returns the block of a row.
pub(crate) fn read(row: BlockRow<'_>) -> Result<Block, Fault> {
    let BlockRow { account_id, infraction_id, end_to_end_id, max_amount, held } = row;
    if held < 0 || held > max_amount {
        return Err(corrupt(TABLE, "the held amount is negative or above its maximum"));
    }
    Ok(Block {
        account: id(TABLE, &account_id)?,
        infraction: id(TABLE, &infraction_id)?,
        end_to_end_id: parsed(TABLE, EndToEndId::parse(&end_to_end_id))?,
        limit: Money::from_centavos(max_amount),
        held: Money::from_centavos(held),
    })
}
