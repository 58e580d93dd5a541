//! Reads the use of the API: last uses of keys, and logged requests.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{KeyUse, LoggedRequest, Page, PageRequest, QueryError, UsageQueries};

use super::page::{after, cut, one_more};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::{id, instant, parsed};
use crate::sql::Query;

const KEY_USES: &str = "SELECT prefix, coalesce(last_used_address, ''), last_used_at FROM api_keys \
     WHERE account_id = ? AND last_used_at IS NOT NULL ORDER BY id DESC LIMIT 200";
const REQUESTS: &str = "SELECT id, method, path, key_prefix, status, took_ms, at FROM api_requests \
     WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?";

#[async_trait]
impl UsageQueries for Persistence {
    async fn list_key_uses(&self, account: AccountId) -> Result<Vec<KeyUse>, QueryError> {
        self.pool()
            .read(move |session| {
                let rows: Vec<(String, String, i64)> = session.load(&Query::new(KEY_USES).bind(account))?;
                let read = |(prefix, address, at): (String, String, i64)| {
                    let key = parsed("api_keys", KeyPrefix::parse(&prefix))?;
                    Ok(KeyUse { key, at: instant("api_keys", at)?, address })
                };
                rows.into_iter().map(read).collect()
            })
            .await
    }

    async fn list_requests(
        &self,
        account: AccountId,
        page: PageRequest<RequestId>,
    ) -> Result<Page<LoggedRequest>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(REQUESTS).bind(account).bind(after(page)).bind(one_more(page));
            session.load(&query)?.into_iter().map(|row| read(account, row)).collect()
        });
        Ok(cut(rows.await?, page))
    }
}

type RequestRow = (String, String, String, String, i64, i64, i64);

fn read(account: AccountId, row: RequestRow) -> Result<LoggedRequest, Fault> {
    const TABLE: &str = "api_requests";
    let (request, method, path, key, status, took_ms, at) = row;
    Ok(LoggedRequest {
        id: id(TABLE, &request)?,
        account,
        at: instant(TABLE, at)?,
        method,
        path,
        status: parsed(TABLE, u16::try_from(status))?,
        key: parsed(TABLE, KeyPrefix::parse(&key))?,
        took_ms: u32::try_from(took_ms).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    vec![(KEY_USES.to_owned(), "'acc_a'"), (REQUESTS.to_owned(), "'acc_a', '~', 51")]
}
