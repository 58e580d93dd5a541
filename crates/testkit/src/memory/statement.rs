//! The statement of the store in memory.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, ChargeId, EntryId, PayoutId, RefundId};
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_ports::{EntryFilter, Page, PageRequest, QueryError, RecordKey, StatementEntry, StatementQueries};

use super::MemoryStore;
use super::queries::cut;
use super::state::{Entry, State};

#[async_trait]
impl StatementQueries for MemoryStore {
    async fn list_entries(
        &self,
        account: AccountId,
        filter: EntryFilter,
        page: PageRequest<EntryId>,
    ) -> Result<Page<StatementEntry>, QueryError> {
        let state = self.read()?;
        let lines = state.entries.iter().rev().filter_map(|entry| Some((entry, shown(entry, account)?)));
        let wanted = lines.filter(|(entry, bucket)| {
            filter.bucket.is_none_or(|wanted| wanted == *bucket)
                && filter.kind.is_none_or(|kind| kind == entry.kind)
                && filter.created.contains(entry.at)
        });
        Ok(cut(wanted.map(|(entry, bucket)| line(&state, account, entry, bucket)), page, |line| line.id))
    }

    async fn has_entry(&self, account: AccountId, id: EntryId) -> Result<bool, QueryError> {
        let state = self.read()?;
        Ok(state.entries.iter().any(|entry| entry.id == id && shown(entry, account).is_some()))
    }
}

/// Returns the bucket that moved, if the account's statement shows it.
fn shown(entry: &Entry, account: AccountId) -> Option<Bucket> {
    match entry.account {
        LedgerAccount::Merchant(holder, bucket) if holder == account => (bucket != Bucket::InTransit).then_some(bucket),
        LedgerAccount::Merchant(..) | LedgerAccount::System(..) => None,
    }
}

fn line(state: &State, account: AccountId, entry: &Entry, bucket: Bucket) -> StatementEntry {
    StatementEntry {
        id: entry.id,
        kind: entry.kind,
        bucket,
        amount: entry.amount,
        balance_after: entry.balance_after,
        resource: entry.resource.clone(),
        end_to_end_id: entry.end_to_end_id.clone(),
        description: entry.resource.as_deref().and_then(|resource| description(state, account, resource)),
        created_at: entry.at,
    }
}

/// Returns the merchant's description of the account's charge, payout or refund with that public id.
fn description(state: &State, account: AccountId, resource: &str) -> Option<String> {
    let text = if let Ok(id) = ChargeId::parse(resource) {
        let charge = state.tables.charges.get(&RecordKey::Charge { account, id });
        charge.and_then(|charge| charge.terms.description.as_ref())
    } else if let Ok(id) = PayoutId::parse(resource) {
        let payout = state.tables.payouts.get(&RecordKey::Payout { account, id });
        payout.and_then(|payout| payout.terms.description.as_ref())
    } else {
        let id = RefundId::parse(resource).ok()?;
        state.tables.refunds.get(&RecordKey::Refund { account, id }).and_then(|refund| refund.reason.as_ref())
    };
    text.map(ToString::to_string)
}
