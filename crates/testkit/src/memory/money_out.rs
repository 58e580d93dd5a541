//! Payouts, refunds and releases, read from the store in memory.

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{
    Due, OpenMoney, Page, PageRequest, PayoutQueries, QueryError, RecordKey, RefundQueries, ReleaseQueries,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::{cut, oldest_due};

#[async_trait]
impl PayoutQueries for MemoryStore {
    async fn find_payout(&self, account: AccountId, id: PayoutId) -> Result<Option<Payout>, QueryError> {
        let state = self.read()?;
        Ok(state.tables.payouts.get(&RecordKey::Payout { account, id }).cloned())
    }

    async fn find_payout_by_instruction_id(
        &self,
        instruction_id: &InstructionId,
    ) -> Result<Option<Payout>, QueryError> {
        let state = self.read()?;
        Ok(state.tables.payouts.values().find(|payout| payout.instruction_id() == *instruction_id).cloned())
    }

    async fn find_payout_by_pix(&self, end_to_end_id: &EndToEndId) -> Result<Option<Payout>, QueryError> {
        let state = self.read()?;
        let sent = |payout: &&Payout| payout.state.end_to_end_id() == Some(end_to_end_id);
        Ok(state.tables.payouts.values().find(sent).cloned())
    }

    async fn list_payouts(&self, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, QueryError> {
        let state = self.read()?;
        let visible = state.tables.payouts.values().filter(|payout| payout.account == account && payout.is_visible());
        Ok(cut(visible.cloned(), page, |payout| payout.id))
    }

    async fn list_due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Payout>, QueryError> {
        let due = |payout: &Payout| payout.due_at.filter(|at| Due::new(now, MAX_PAUSE).is(*at));
        Ok(oldest_due(self.read()?.tables.payouts.values(), due, limit))
    }

    async fn count_open_payouts(&self) -> Result<OpenMoney, QueryError> {
        Ok(open(
            self.read()?
                .tables
                .payouts
                .values()
                .filter(|payout| payout.due_at.is_some())
                .map(|payout| payout.created_at),
        ))
    }
}

#[async_trait]
impl RefundQueries for MemoryStore {
    async fn list_refunds(
        &self,
        account: AccountId,
        charge: ChargeId,
        page: PageRequest<RefundId>,
    ) -> Result<Page<Refund>, QueryError> {
        let state = self.read()?;
        let own = state.tables.refunds.values().filter(|refund| refund.account == account && refund.charge == charge);
        Ok(cut(own.filter(|refund| refund.is_visible()).cloned(), page, |refund| refund.id))
    }

    async fn list_due_refunds(&self, now: Timestamp, limit: u32) -> Result<Vec<Refund>, QueryError> {
        let due = |refund: &Refund| refund.due_at.filter(|at| Due::new(now, MAX_PAUSE).is(*at));
        Ok(oldest_due(self.read()?.tables.refunds.values(), due, limit))
    }

    async fn count_open_refunds(&self) -> Result<OpenMoney, QueryError> {
        Ok(open(
            self.read()?
                .tables
                .refunds
                .values()
                .filter(|refund| refund.due_at.is_some())
                .map(|refund| refund.created_at),
        ))
    }
}

#[async_trait]
impl ReleaseQueries for MemoryStore {
    async fn list_due_releases(&self, now: Timestamp, limit: u32) -> Result<Vec<Release>, QueryError> {
        let due = |release: &Release| {
            let waits = release.released_at.is_none();
            Some(release.due_at).filter(|due| waits && *due <= now)
        };
        Ok(oldest_due(self.read()?.tables.releases.values(), due, limit))
    }
}

fn open(created_at: impl Iterator<Item = Timestamp>) -> OpenMoney {
    let none = OpenMoney::default();
    created_at.fold(none, |OpenMoney { count, oldest }, at| OpenMoney {
        count: count.saturating_add(1),
        oldest: Some(oldest.map_or(at, |oldest| oldest.min(at))),
    })
}
