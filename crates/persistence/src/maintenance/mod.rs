//! Audits, housekeeping, the readiness check, and the records of API use. Payments do not wait for this work.

mod clock;
mod crypto;
mod infractions;
mod money_out;
mod prune;
mod prune_events;
mod readiness;
mod usage;
mod verify;

pub(crate) use prune::Pruning;
pub(crate) use readiness::Readiness;
pub(crate) use usage::UsageWriter;

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use cais_ports::{
    KeyUse, LedgerCheckResult, LedgerReport, LoggedRequest, Maintenance, PruneBefore, Pruned, QueryError,
};

use crate::Persistence;
use crate::sql::Query;

#[async_trait]
impl Maintenance for Persistence {
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError> {
        let engine = self.engine();
        // An audit may take minutes, so it has its own connection and no deadline.
        let audit = tokio::task::spawn_blocking(move || verify::verify(&*engine));
        let report = audit.await.map_err(|error| QueryError::Unavailable(error.to_string()))?;
        Ok(report?)
    }

    async fn record_ledger_check(&self, check: LedgerCheckResult) -> Result<(), QueryError> {
        let engine = self.engine();
        let work = tokio::task::spawn_blocking(move || verify::record(&*engine, check));
        Ok(work.await.map_err(|error| QueryError::Unavailable(error.to_string()))??)
    }

    async fn last_ledger_check(&self) -> Result<Option<LedgerCheckResult>, QueryError> {
        self.pool().read(verify::last).await
    }

    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError> {
        let pruning = self.pruning().clone();
        let work = tokio::task::spawn_blocking(move || pruning.prune(before));
        let pruned = work.await.map_err(|error| QueryError::Unavailable(error.to_string()))?;
        Ok(pruned?)
    }

    async fn ready(&self) -> Result<(), QueryError> {
        self.readiness().check(self).await
    }

    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError> {
        self.pool()
            .read(move |session| {
                let query =
                    Query::new("SELECT account_id, account_id, last_sequence FROM event_counters WHERE account_id = ?")
                        .bind(account);
                Ok(session.load::<(String, String, i64)>(&query)?.pop().map_or(0, |(.., last)| last))
            })
            .await
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), QueryError> {
        let writer = self.usage().clone();
        let work = tokio::task::spawn_blocking(move || writer.key_uses(&uses));
        Ok(work.await.map_err(|error| QueryError::Unavailable(error.to_string()))??)
    }

    async fn record_requests(&self, requests: Vec<LoggedRequest>, trim: Vec<AccountId>) -> Result<(), QueryError> {
        let writer = self.usage().clone();
        let work = tokio::task::spawn_blocking(move || writer.requests(&requests, &trim));
        Ok(work.await.map_err(|error| QueryError::Unavailable(error.to_string()))??)
    }
}
