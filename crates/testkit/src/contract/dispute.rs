//! Builds change sets that contain only blocks, without infraction records.

use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::money::Money;
use cais_ports::ChangeSet;

use super::Harness;
use crate::builders::{an_end_to_end_id, fresh, start};

/// A block under test. Each new instance has a greater infraction id.
#[derive(Debug, Clone)]
pub(super) struct Dispute {
    pub(super) account: AccountId,
    pub(super) infraction: InfractionId,
    pub(super) end_to_end_id: EndToEndId,
}

impl Dispute {
    pub(super) fn of(account: AccountId) -> Self {
        Self { account, infraction: fresh(), end_to_end_id: an_end_to_end_id() }
    }

    /// Returns the change set that opens the block, or changes its limit.
    pub(super) fn hold(&self, centavos: i64) -> ChangeSet {
        blocks(vec![self.hold_change(centavos)])
    }

    pub(super) fn hold_change(&self, centavos: i64) -> BlockChange {
        let Self { account, infraction, end_to_end_id } = self.clone();
        BlockChange::Hold { account, infraction, end_to_end_id, limit: Money::from_centavos(centavos) }
    }

    /// Returns the change set that ends the block, which must hold that amount.
    pub(super) fn release(&self, centavos: i64) -> ChangeSet {
        blocks(vec![self.release_change(centavos)])
    }

    pub(super) const fn release_change(&self, centavos: i64) -> BlockChange {
        let (account, infraction) = (self.account, self.infraction);
        BlockChange::End { account, infraction, held: Money::from_centavos(centavos), to: BlockEnd::Released }
    }

    /// Returns the blocked amount and the limit in centavos; `None` unless the block is open.
    pub(super) async fn read(&self, h: &Harness) -> Option<(i64, i64)> {
        let block = h.store.find_block(self.account, self.infraction).await.unwrap()?;
        let Block { account, infraction, end_to_end_id, limit, held } = block;
        let named = (account, infraction, &end_to_end_id);
        assert_eq!(named, (self.account, self.infraction, &self.end_to_end_id));
        Some((held.centavos(), limit.centavos()))
    }
}

/// Returns the change set of these block changes, without infraction records.
pub(super) fn blocks(blocks: Vec<BlockChange>) -> ChangeSet {
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}
