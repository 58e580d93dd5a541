//! The statement of the store in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::ids::{AccountId, ChargeId, EntryId, PayoutId, RefundId};
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::money::Money;
use cais_ports::{
    EntryFilter, EntrySums, HourSum, Page, PageRequest, QueryError, RecordKey, StatementEntry, StatementQueries,
    is_internal,
};

use super::MemoryStore;
use super::queries::{count, cut};
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

    async fn sum_entries(
        &self,
        account: AccountId,
        after: EntryId,
        below: EntryId,
        limit: u32,
    ) -> Result<EntrySums, QueryError> {
        let state = self.read()?;
        let is_own = |entry: &&Entry| matches!(entry.account, LedgerAccount::Merchant(holder, _) if holder == account);
        let mut own: Vec<&Entry> = state.entries.iter().filter(is_own).collect();
        own.sort_unstable_by_key(|entry| entry.id);
        own.retain(|entry| entry.id > after && entry.id < below);
        own.truncate(count(limit));
        let mut hours: BTreeMap<i64, HourSum> = BTreeMap::new();
        for entry in &own {
            let hour = entry.at.as_second().div_euclid(3_600);
            let sum = hours.entry(hour).or_insert(HourSum { hour, incoming: Money::ZERO, outgoing: Money::ZERO });
            let counts = shown(entry, account).is_some() && !is_internal(entry.kind);
            let amount = if counts { entry.amount.centavos() } else { 0 };
            let add = |sum: Money, amount: i64| Money::from_centavos(sum.centavos().saturating_add(amount.max(0)));
            sum.incoming = add(sum.incoming, amount);
            sum.outgoing = add(sum.outgoing, amount.saturating_neg());
        }
        let entries = u32::try_from(own.len()).unwrap_or(u32::MAX);
        Ok(EntrySums { hours: hours.into_values().collect(), last: own.last().map(|entry| entry.id), entries })
    }
}

/// Returns the bucket of the entry; `None` if the account's statement does not show the entry.
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
