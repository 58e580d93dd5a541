//! Infractions, their blocks and the positions in acquirers' lists, read from the store in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::charge::ChargeStatus;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionState};
use cais_domain::pause::MAX_PAUSE;
use cais_ports::{
    AcquirerDrain, DrainQueries, Due, InfractionFilter, InfractionQueries, OpenOrders, Page, PageRequest, QueryError,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::{count, cut, oldest_due};

#[async_trait]
impl InfractionQueries for MemoryStore {
    async fn find_infraction_of_any(&self, id: InfractionId) -> Result<Option<Infraction>, QueryError> {
        Ok(self.read()?.tables.infractions.values().find(|infraction| infraction.id == id).cloned())
    }

    async fn list_infractions(
        &self,
        filter: InfractionFilter,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        let state = self.read()?;
        let wanted = state.tables.infractions.values().filter(|infraction| {
            filter.account.is_none_or(|account| account == infraction.account)
                && filter.status.is_none_or(|status| status == infraction.state.status())
        });
        Ok(cut(wanted.cloned(), page, |infraction| infraction.id))
    }

    async fn list_infractions_for_review(
        &self,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        let state = self.read()?;
        let marked = state.tables.infractions.values().filter(|infraction| infraction.needs_review());
        Ok(cut(marked.cloned(), page, |infraction| infraction.id))
    }

    async fn list_infractions_of_pix(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Vec<Infraction>, QueryError> {
        let state = self.read()?;
        let own = state.tables.infractions.values().filter(|infraction| infraction.account == account);
        Ok(own.filter(|infraction| infraction.end_to_end_id == *end_to_end_id).cloned().collect())
    }

    async fn list_open_infractions(
        &self,
        acquirer: &AcquirerName,
        after: Option<(Timestamp, InfractionId)>,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError> {
        let state = self.read()?;
        let place = |infraction: &Infraction| (infraction.opened_at, infraction.id);
        let open = state.tables.infractions.values().filter(|infraction| {
            infraction.acquirer == *acquirer
                && infraction.state.status().is_open()
                && after.is_none_or(|after| place(infraction) > after)
        });
        let mut open: Vec<&Infraction> = open.collect();
        open.sort_by_key(|infraction| place(infraction));
        Ok(open.into_iter().take(count(limit)).cloned().collect())
    }

    async fn list_due_infractions(&self, now: Timestamp, limit: u32) -> Result<Vec<Infraction>, QueryError> {
        let due = |infraction: &Infraction| infraction.due_at.filter(|at| Due::new(now, MAX_PAUSE).is(*at));
        Ok(oldest_due(self.read()?.tables.infractions.values(), due, limit))
    }

    async fn list_undefended(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError> {
        let due = |infraction: &Infraction| {
            let waits = infraction.state == InfractionState::Open && infraction.defense.is_none();
            infraction.deadline_at.filter(|deadline| waits && from < *deadline && *deadline < until)
        };
        Ok(oldest_due(self.read()?.tables.infractions.values(), due, limit))
    }

    async fn find_block(&self, account: AccountId, infraction: InfractionId) -> Result<Option<Block>, QueryError> {
        Ok(self.read()?.block(account, infraction).cloned())
    }
}

#[async_trait]
impl DrainQueries for MemoryStore {
    async fn list_drains(&self) -> Result<Vec<AcquirerDrain>, QueryError> {
        let mut drains: Vec<_> = self.read()?.tables.drains.values().cloned().collect();
        drains.sort_by(|one: &AcquirerDrain, other| one.acquirer.cmp(&other.acquirer));
        Ok(drains)
    }

    async fn count_open_orders(&self, acquirer: &AcquirerName) -> Result<OpenOrders, QueryError> {
        let state = self.read()?;
        let tables = &state.tables;
        let most = |found: usize| u64::try_from(found).unwrap_or(u64::MAX).min(OpenOrders::MOST.into());
        let charges = tables.charges.values().filter(|one| one.state.status() == ChargeStatus::Pending);
        let payouts = tables.payouts.values().filter(|one| one.due_at.is_some());
        let refunds = tables.refunds.values().filter(|one| one.due_at.is_some());
        let infractions = tables.infractions.values().filter(|one| one.state.status().is_open());
        Ok(OpenOrders {
            charges: most(charges.filter(|one| one.state.acquirer() == acquirer).count()),
            payouts: most(payouts.filter(|one| one.state.acquirer() == acquirer).count()),
            refunds: most(refunds.filter(|one| one.acquirer == *acquirer).count()),
            infractions: most(infractions.filter(|one| one.acquirer == *acquirer).count()),
        })
    }

    async fn list_open_orders(&self) -> Result<Vec<(AcquirerName, OpenOrders)>, QueryError> {
        let names: BTreeSet<_> = self.positions().into_iter().map(|position| position.acquirer).collect();
        let mut counted = Vec::new();
        for name in names {
            let open = self.count_open_orders(&name).await?;
            counted.push((name, open));
        }
        Ok(counted)
    }
}
