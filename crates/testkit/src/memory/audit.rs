//! The audit log of the store in memory.

use async_trait::async_trait;
use cais_domain::ids::AuditId;
use cais_ports::{AuditFilter, AuditQueries, AuditRow, Page, PageRequest, QueryError};

use super::MemoryStore;
use super::queries::cut;

#[async_trait]
impl AuditQueries for MemoryStore {
    async fn list_audit(&self, filter: AuditFilter, page: PageRequest<AuditId>) -> Result<Page<AuditRow>, QueryError> {
        let state = self.read()?;
        let wanted = state.tables.audit.values().filter(|row| {
            filter.account.is_none_or(|account| row.account == Some(account))
                && filter.operator.as_ref().is_none_or(|operator| row.operator.name == *operator)
                && filter.action.as_ref().is_none_or(|action| row.action == *action)
        });
        Ok(cut(wanted.cloned(), page, |row| row.id))
    }
}
