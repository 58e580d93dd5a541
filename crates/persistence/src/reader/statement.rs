//! The account statement: pages of entries along an index, with the descriptions of their charges, payouts and refunds.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_ports::{
    EntryFilter, EntrySums, HourSum, Page, PageRequest, QueryError, StatementEntry, StatementQueries, is_internal,
};

use super::page::{RARE_HOLDER, Reach, cut, one_more};
use crate::Persistence;
use crate::rows::{id, statement};
use crate::sql::{Query, Session};

/// The columns of a statement entry, from the entries of the page and from the records that the entries name.
const HEAD: &str = "SELECT e.id, e.kind, e.bucket, e.amount, e.balance_after, e.resource_id, e.end_to_end_id, \
     coalesce(c.description, p.description, r.reason), e.created_at FROM (\
     SELECT holder, id, kind, bucket, amount, balance_after, resource_id, end_to_end_id, created_at FROM entries";
const RANGE: &str = " = ? AND id >= ? AND id < ? AND created_at >= ? AND created_at < ?";
/// The condition of the index of merchants' fees. The ids of merchants' accounts begin with `a`, and the names of system accounts with
/// later letters.
const OF_MERCHANTS: &str = " AND holder < 'b'";
/// The prefix of an id shows the kind of the resource, so an entry is looked up in at most one of three tables. For the other tables the
/// key is null, and no index is searched.
const TAIL: &str = " ORDER BY id DESC LIMIT ?) AS e \
     LEFT JOIN charges AS c ON c.account_id = e.holder AND c.id = CASE substr(e.resource_id, 1, 4) WHEN 'chg_' THEN e.resource_id END \
     LEFT JOIN payouts AS p ON p.account_id = e.holder AND p.id = CASE substr(e.resource_id, 1, 4) WHEN 'pyt_' THEN e.resource_id END \
     LEFT JOIN refunds AS r ON r.account_id = e.holder AND r.id = CASE substr(e.resource_id, 1, 4) WHEN 'rfd_' THEN e.resource_id END \
     ORDER BY e.id DESC";

#[async_trait]
impl StatementQueries for Persistence {
    async fn list_entries(
        &self,
        account: AccountId,
        filter: EntryFilter,
        page: PageRequest<EntryId>,
    ) -> Result<Page<StatementEntry>, QueryError> {
        let Some(text) = page_text(filter) else {
            return Ok(Page { rows: Vec::new(), has_more: false });
        };
        let rows = self.pool().read(move |session| {
            let reach = Reach::new(filter.created, page.starting_after);
            let query = Query::new(text).bind(account).bind(reach.least).bind(reach.below);
            let query = query.bind(reach.from).bind(reach.until).bind(one_more(page));
            session.load(&query)?.into_iter().map(statement::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn sum_entries(
        &self,
        account: AccountId,
        after: EntryId,
        below: EntryId,
        limit: u32,
    ) -> Result<EntrySums, QueryError> {
        self.pool()
            .read(move |session| {
                let query = Query::new(sums_text()).bind(account).bind(after).bind(below).bind(limit);
                let rows: Vec<(i64, i64, i64, i64, String)> = session.load(&query)?;
                let mut sums = EntrySums::default();
                for (hour, incoming, outgoing, entries, last) in rows {
                    let [incoming, outgoing] = [incoming, outgoing].map(Money::from_centavos);
                    sums.hours.push(HourSum { hour, incoming, outgoing });
                    sums.entries = sums.entries.saturating_add(u32::try_from(entries).unwrap_or(u32::MAX));
                    sums.last = sums.last.max(Some(id("entries", &last)?));
                }
                Ok(sums)
            })
            .await
    }

    async fn has_entry(&self, account: AccountId, id: EntryId) -> Result<bool, QueryError> {
        const TEXT: &str = "SELECT id FROM entries WHERE holder = ? AND id = ? AND bucket <> 'in_transit'";
        let found = move |session: &mut dyn Session| session.load::<String>(&Query::new(TEXT).bind(account).bind(id));
        self.pool().read(move |session| Ok(!found(session)?.is_empty())).await
    }
}

/// Returns the statement that sums entries by hour. Internal entries ([`is_internal`]) and entries in transit count as zero. They are
/// not filtered out, so that the limit bounds the number of rows read.
fn sums_text() -> String {
    let internal: Vec<&str> =
        EntryKind::ALL.into_iter().filter(|kind| is_internal(*kind)).map(EntryKind::as_str).collect();
    let internal = internal.join("', '");
    format!(
        "SELECT hour, CAST(sum(CASE WHEN amount > 0 THEN amount ELSE 0 END) AS BIGINT), \
         CAST(sum(CASE WHEN amount < 0 THEN -amount ELSE 0 END) AS BIGINT), count(*), max(id) \
         FROM (SELECT id, created_at / 3600000000 AS hour, \
         CASE WHEN bucket = 'in_transit' OR kind IN ('{internal}') THEN 0 ELSE amount END AS amount \
         FROM entries WHERE holder = ? AND id > ? AND id < ? ORDER BY id LIMIT ?) AS e GROUP BY hour ORDER BY hour"
    )
}

/// Returns the SQL of a page; `None` for the bucket `in_transit`, which the account statement never shows. Bucket and kind are constants in
/// the text, because an index of rare entries is not used with bound values. The texts are few, so each stays prepared.
fn page_text(filter: EntryFilter) -> Option<String> {
    let bucket = match filter.bucket {
        None => " AND bucket <> 'in_transit'",
        Some(Bucket::Available) => " AND bucket = 'available'",
        Some(Bucket::Pending) => " AND bucket = 'pending'",
        Some(Bucket::Blocked) => " AND bucket = 'blocked'",
        Some(Bucket::InTransit) => return None,
    };
    let kind = filter.kind.map(EntryKind::as_str).map_or_else(String::new, |kind| format!(" AND kind = '{kind}'"));
    let holder = if is_rare(filter) { RARE_HOLDER } else { "holder" };
    let merchants = if filter.kind == Some(EntryKind::Fee) { OF_MERCHANTS } else { "" };
    Some(format!("{HEAD} WHERE {holder}{RANGE}{bucket}{kind}{merchants}{TAIL}"))
}

/// Returns whether an index of rare entries contains the entries of this filter. All kinds except `charge`, and the buckets `pending` and
/// `blocked`, are rare.
const fn is_rare(filter: EntryFilter) -> bool {
    let rare_kind = match filter.kind {
        None | Some(EntryKind::Charge) => false,
        Some(
            EntryKind::ExtraPayment
            | EntryKind::Fee
            | EntryKind::Payout
            | EntryKind::Split
            | EntryKind::Release
            | EntryKind::PayoutFailed
            | EntryKind::PayoutReversed
            | EntryKind::Refund
            | EntryKind::RefundFailed
            | EntryKind::Infraction
            | EntryKind::InfractionReleased
            | EntryKind::InfractionReturned
            | EntryKind::CryptoDeposit
            | EntryKind::CryptoWithdrawal
            | EntryKind::CryptoWithdrawalFailed,
        ) => true,
    };
    rare_kind || matches!(filter.bucket, Some(Bucket::Pending | Bucket::Blocked))
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    let buckets = [None, Some(Bucket::Available), Some(Bucket::Pending), Some(Bucket::Blocked)];
    let kinds = || EntryKind::ALL.map(Some).into_iter().chain([None]);
    let filters = buckets.into_iter().flat_map(|bucket| kinds().map(move |kind| (bucket, kind)));
    let texts = filters.filter_map(|(bucket, kind)| page_text(EntryFilter { bucket, kind, ..EntryFilter::default() }));
    texts.map(|text| (text, "'acc_a', '', '~', 0, 100000, 51")).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::plans::Planner;
    use super::*;

    #[test]
    fn sums_are_read_along_the_primary_key() {
        let steps = Planner::new().plan(&sums_text());
        let along = steps.iter().any(|step| step.contains("PRIMARY KEY (holder=? AND id>? AND id<?)"));
        assert!(along, "{steps:?}");
    }

    #[test]
    fn statement_pages_are_read_along_an_index_and_no_further() {
        let mut planner = Planner::new();
        let buckets = [None, Some(Bucket::Available), Some(Bucket::Pending), Some(Bucket::Blocked)];
        for bucket in buckets {
            for kind in EntryKind::ALL.map(Some).into_iter().chain([None]) {
                let filter = EntryFilter { bucket, kind, ..EntryFilter::default() };
                let steps = planner.plan(&page_text(filter).unwrap());
                let expected =
                    if is_rare(filter) { "INDEX entries_" } else { "PRIMARY KEY (holder=? AND id>? AND id<?)" };
                assert!(
                    steps.iter().any(|step| step.contains("entries") && step.contains(expected)),
                    "{filter:?}: {steps:?}"
                );
                let joined = steps.iter().filter(|step| step.contains("(account_id=? AND id=?)")).count();
                assert_eq!(joined, 3, "{steps:?}");
            }
        }
    }
}
