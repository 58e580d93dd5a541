//! The use of the API in the store in memory.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, RequestId};
use cais_ports::{KeyUse, LoggedRequest, MAX_LOGGED_REQUESTS, Page, PageRequest, QueryError, UsageQueries};

use super::MemoryStore;
use super::queries::{count, cut};
use super::state::State;

#[async_trait]
impl UsageQueries for MemoryStore {
    async fn list_key_uses(&self, account: AccountId) -> Result<Vec<KeyUse>, QueryError> {
        let state = self.read()?;
        let mut own: Vec<_> = state.tables.keys.values().filter(|key| key.account == account).collect();
        own.sort_unstable_by_key(|key| std::cmp::Reverse(key.id));
        Ok(own.into_iter().filter_map(|key| state.key_uses.get(&key.prefix).cloned()).take(200).collect())
    }

    async fn list_requests(
        &self,
        account: AccountId,
        page: PageRequest<RequestId>,
    ) -> Result<Page<LoggedRequest>, QueryError> {
        let state = self.read()?;
        let own = state.requests.values().rev().filter(|request| request.account == account);
        Ok(cut(own.cloned(), page, |request| request.id))
    }
}

pub(super) fn record_key_uses(state: &mut State, uses: Vec<KeyUse>) {
    for used in uses {
        let is_known = state.tables.keys.values().any(|key| key.prefix == used.key);
        let is_later = state.key_uses.get(&used.key).is_none_or(|before| before.at < used.at);
        if is_known && is_later {
            state.key_uses.insert(used.key.clone(), used);
        }
    }
}

pub(super) fn record_requests(state: &mut State, requests: Vec<LoggedRequest>, trim: &[AccountId]) {
    for request in requests {
        state.requests.entry((request.account, request.id)).or_insert(request);
    }
    for account in trim {
        let own = state.requests.keys().rev().filter(|(owner, _)| owner == account);
        let old: Vec<_> = own.skip(count(MAX_LOGGED_REQUESTS)).copied().collect();
        for key in old {
            state.requests.remove(&key);
        }
    }
}
