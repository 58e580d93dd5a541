//! Reads infractions and blocks. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_ports::{InfractionFilter, InfractionQueries, Page, PageRequest, QueryError};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, cut, one_more, with_spare, work};
use crate::Persistence;
use crate::rows::Record as _;
use crate::rows::block::{self, blocks};
use crate::rows::infraction::{InfractionRow, infractions};
use crate::sql::Query;
use crate::sql::select::{ExpressionIndex, Select, is_one_of};
use crate::sql::table::{Row as _, names};

/// The condition of the index of unresolved infractions.
const UNRESOLVED: &str = "i.acquirer = ? AND i.status IN ('open', 'under_review')";

/// Returns the statement of a page of infractions that are marked for review. The first two conditions are those of a partial index.
fn infractions_for_review(page: PageRequest<InfractionId>) -> impl Select<InfractionRow<'static>> {
    infractions::table
        .filter(infractions::review_reason.is_not_null())
        .filter(is_one_of(infractions::status, ["open", "under_review"]))
        .filter(infractions::id.lt(after(page)))
        .order(infractions::id.desc())
        .limit(one_more(page))
}

fn infractions_of_pix(account: AccountId, end_to_end_id: String) -> impl Select<InfractionRow<'static>> {
    infractions::table
        .filter(infractions::account_id.eq(account.to_string()))
        .filter(infractions::end_to_end_id.eq(end_to_end_id))
        .order(infractions::id)
}

fn due_infractions(from: i64, until: i64, most: i64) -> impl Select<InfractionRow<'static>> {
    infractions::table
        .filter(infractions::due_at.is_not_null())
        .filter(infractions::due_at.between(from, until))
        .order((infractions::due_at, infractions::id))
        .limit(most)
}

fn undefended(from: Timestamp, until: Timestamp, limit: u32) -> impl Select<InfractionRow<'static>> {
    infractions::table
        .filter(is_one_of(infractions::status, ["open"]))
        .filter(infractions::defense_sent_at.is_null())
        .filter(infractions::deadline_at.gt(from.as_microsecond()))
        .filter(infractions::deadline_at.lt(until.as_microsecond()))
        .order((infractions::deadline_at, infractions::id))
        .limit(with_spare(limit))
}

#[async_trait]
impl InfractionQueries for Persistence {
    async fn find_infraction_of_any(&self, id: InfractionId) -> Result<Option<Infraction>, QueryError> {
        let query = infractions::table.filter(ExpressionIndex::new(infractions::id).eq(id.to_string()));
        self.find(query, Infraction::read).await
    }

    async fn list_infractions(
        &self,
        filter: InfractionFilter,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = filter.account.into_iter().fold(Query::new(page_text(filter)), Query::bind);
            let query = filter.status.map(InfractionStatus::as_str).into_iter().fold(query, Query::bind);
            let rows: Vec<InfractionRow<'_>> = session.load(&query.bind(after(page)).bind(one_more(page)))?;
            rows.into_iter().map(Infraction::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_infractions_for_review(
        &self,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        self.page(infractions_for_review(page), Infraction::read, page).await
    }

    async fn list_infractions_of_pix(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Vec<Infraction>, QueryError> {
        self.list(infractions_of_pix(account, end_to_end_id.to_string()), Infraction::read).await
    }

    async fn list_open_infractions(
        &self,
        acquirer: &AcquirerName,
        after: Option<(Timestamp, InfractionId)>,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError> {
        let acquirer = acquirer.clone();
        self.pool()
            .read(move |session| {
                let query = Query::new(unresolved_text(after.is_some())).bind(acquirer.as_str());
                let query = after.into_iter().fold(query, |query, (opened_at, id)| query.bind(opened_at).bind(id));
                let rows = session.load(&query.bind(with_spare(limit)))?;
                Ok(work(rows, limit, InfractionRow::name, Infraction::read))
            })
            .await
    }

    async fn list_due_infractions(&self, now: Timestamp, limit: u32) -> Result<Vec<Infraction>, QueryError> {
        self.due(due_infractions, Infraction::read, now, limit).await
    }

    async fn list_undefended(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError> {
        self.work(undefended(from, until, limit), Infraction::read, limit).await
    }

    async fn find_block(&self, account: AccountId, infraction: InfractionId) -> Result<Option<Block>, QueryError> {
        let query = blocks::table.find((account.to_string(), infraction.to_string()));
        self.find(query, block::read).await
    }
}

fn head() -> String {
    format!("SELECT {} FROM infractions AS i WHERE ", names::<InfractionRow<'_>>("i"))
}

/// Returns the statement of a page, one of four. The statement for an account in any status uses the primary key. Each of the others
/// contains the expression of an index that serves only that statement.
fn page_text(filter: InfractionFilter) -> String {
    let (wanted, id) = match (filter.account.is_some(), filter.status.is_some()) {
        (true, false) => ("i.account_id = ? AND ", "i.id"),
        (true, true) => ("i.account_id || '' = ? AND i.status = ? AND ", "i.id"),
        (false, false) => ("", "i.id || ''"),
        (false, true) => ("i.status || '' = ? AND ", "i.id"),
    };
    format!("{}{wanted}{id} < ? ORDER BY {id} DESC LIMIT ?", head())
}

fn unresolved_text(continued: bool) -> String {
    let beyond = if continued { " AND (i.opened_at, i.id) > (?, ?)" } else { "" };
    format!("{}{UNRESOLVED}{beyond} ORDER BY i.opened_at, i.id LIMIT ?", head())
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_testkit::builders::{fresh, start};

    use super::page::first;
    use super::walks::list;

    let page = |of_account: bool, in_status: bool| {
        page_text(InfractionFilter {
            account: of_account.then(fresh),
            status: in_status.then_some(InfractionStatus::Open),
        })
    };
    vec![
        (page(true, false), "'acc_a', '~', 51"),
        (page(true, true), "'acc_a', 'open', '~', 51"),
        (page(false, false), "'~', 51"),
        (page(false, true), "'open', '~', 51"),
        list(&infractions_for_review(first()), "'~', 51"),
        list(&infractions_of_pix(fresh(), String::new()), "'acc_a', 'E00007'"),
        (unresolved_text(false), "'main', 51"),
        (unresolved_text(true), "'main', 5, 'inf_00005', 51"),
        list(&due_infractions(0, 0, 0), "0, 9000, 51"),
        list(&undefended(start(), start(), 1), "0, 9000, 51"),
    ]
}

#[cfg(test)]
mod tests {
    use cais_testkit::builders::{fresh, start};

    use super::super::page::first;
    use super::super::plans::Planner;
    use super::*;
    use crate::sql::select::texts;

    #[test]
    fn infraction_lists_are_read_along_their_own_index() {
        let mut planner = Planner::new();
        let page = |account: bool, status: bool| {
            page_text(InfractionFilter {
                account: account.then(fresh),
                status: status.then_some(InfractionStatus::Open),
            })
        };
        for (text, index) in [
            (page(true, false), "(account_id=? AND id<?)"),
            (page(true, true), "infractions_in_status (<expr>=? AND status=? AND id<?)"),
            (page(false, false), "infractions_by_id"),
            (page(false, true), "infractions_by_status"),
            (texts(&infractions_for_review(first())).1, "infractions_for_review (id<?)"),
            (unresolved_text(false), "infractions_unresolved (acquirer=?)"),
            (unresolved_text(true), "infractions_unresolved (acquirer=? AND (opened_at,id)>(?,?))"),
            (texts(&due_infractions(0, 0, 0)).1, "infractions_due"),
            (texts(&undefended(start(), start(), 1)).1, "infractions_undefended"),
        ] {
            let steps = planner.plan(&text);
            assert!(matches!(steps.as_slice(), [step] if step.contains(index)), "{text}: {steps:?}");
        }
    }
}
