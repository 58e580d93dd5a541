//! Reading infractions, blocks and positions: each as one statement, the same text on both engines.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::pause::MAX_PAUSE;
use cais_ports::{
    Due, InfractionFilter, InfractionQueries, Page, PageRequest, PollPosition, PositionQueries, QueryError,
    UpstreamList,
};
use jiff::Timestamp;

use super::page::{after, cut, due, one_more, with_spare, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::infraction::{self, InfractionRow, infraction_columns};
use crate::rows::{block, position};
use crate::sql::{Query, Session};

const HEAD: &str = concat!("SELECT ", infraction_columns!(), " FROM infractions AS i WHERE ");
/// As the index of what is not settled names it.
const UNSETTLED: &str = "i.acquirer = ? AND i.status IN ('open', 'under_review')";
/// The condition of the index of marked infractions.
const FOR_REVIEW: &str =
    "i.review_reason IS NOT NULL AND i.status IN ('open', 'under_review') AND i.id < ? ORDER BY i.id DESC LIMIT ?";
const OF_PIX: &str = "i.account_id = ? AND i.end_to_end_id = ? ORDER BY i.id";
const UNDEFENDED: &str = "i.status = 'open' AND i.defense_sent_at IS NULL AND i.deadline_at > ? AND i.deadline_at < ? \
     ORDER BY i.deadline_at, i.id LIMIT ?";

#[async_trait]
impl InfractionQueries for Persistence {
    async fn find_infraction(&self, account: AccountId, id: InfractionId) -> Result<Option<Infraction>, QueryError> {
        let text = format!("{HEAD}i.account_id = ? AND i.id = ?");
        self.pool().read(move |session| one(session, &Query::new(text).bind(account).bind(id))).await
    }

    async fn find_infraction_of_any(&self, id: InfractionId) -> Result<Option<Infraction>, QueryError> {
        let text = format!("{HEAD}i.id || '' = ?");
        self.pool().read(move |session| one(session, &Query::new(text).bind(id))).await
    }

    async fn list_infractions(
        &self,
        filter: InfractionFilter,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = filter.account.into_iter().fold(Query::new(page_text(filter)), Query::bind);
            let query = filter.status.map(InfractionStatus::as_str).into_iter().fold(query, Query::bind);
            all(session, &query.bind(after(page)).bind(one_more(page)))
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_infractions_for_review(
        &self,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError> {
        let rows = self.pool().read(move |session| {
            all(session, &Query::new(format!("{HEAD}{FOR_REVIEW}")).bind(after(page)).bind(one_more(page)))
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_infractions_of_pix(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Vec<Infraction>, QueryError> {
        let (text, pix) = (format!("{HEAD}{OF_PIX}"), end_to_end_id.clone());
        self.pool().read(move |session| all(session, &Query::new(text).bind(account).bind(pix.as_str()))).await
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
                let query = Query::new(unsettled_text(after.is_some())).bind(acquirer.as_str());
                let query = after.into_iter().fold(query, |query, (opened_at, id)| query.bind(opened_at).bind(id));
                Ok(legible(session.infractions(&query.bind(with_spare(limit)))?, limit))
            })
            .await
    }

    async fn list_due_infractions(&self, now: Timestamp, limit: u32) -> Result<Vec<Infraction>, QueryError> {
        self.pool()
            .read(move |session| {
                let rows = due(Due::new(now, MAX_PAUSE), limit, |compared, bound, most| {
                    Ok(session.infractions(&Query::new(due_text(compared)).bind(bound).bind(most))?)
                })?;
                Ok(legible(rows, limit))
            })
            .await
    }

    async fn list_undefended(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError> {
        self.pool()
            .read(move |session| {
                let query = Query::new(format!("{HEAD}{UNDEFENDED}")).bind(from).bind(until).bind(with_spare(limit));
                Ok(legible(session.infractions(&query)?, limit))
            })
            .await
    }

    async fn find_block(&self, account: AccountId, infraction: InfractionId) -> Result<Option<Block>, QueryError> {
        let text = format!("SELECT {} FROM blocks AS b WHERE b.account_id = ? AND b.infraction_id = ?", block::COLUMNS);
        self.pool()
            .read(move |session| {
                session.blocks(&Query::new(text).bind(account).bind(infraction))?.pop().map(block::read).transpose()
            })
            .await
    }
}

#[async_trait]
impl PositionQueries for Persistence {
    async fn find_position(
        &self,
        acquirer: &AcquirerName,
        list: UpstreamList,
    ) -> Result<Option<PollPosition>, QueryError> {
        let text = format!("SELECT {} FROM list_positions WHERE acquirer = ? AND list = ?", position::COLUMNS);
        let acquirer = acquirer.clone();
        self.pool()
            .read(move |session| {
                let query = Query::new(text).bind(acquirer.as_str()).bind(list.as_str());
                session.differences(&query)?.pop().map(|row| position::read(list, row)).transpose()
            })
            .await
    }
}

fn one(session: &mut dyn Session, query: &Query<'_>) -> Result<Option<Infraction>, Fault> {
    session.infractions(query)?.pop().map(infraction::read).transpose()
}

fn all(session: &mut dyn Session, query: &Query<'_>) -> Result<Vec<Infraction>, Fault> {
    session.infractions(query)?.into_iter().map(infraction::read).collect()
}

fn legible(rows: Vec<InfractionRow>, limit: u32) -> Vec<Infraction> {
    work(rows, limit, |((account, id, ..), ..)| format!("{account}/{id}"), infraction::read)
}

/// The statement of a page, one of four. It names the expressions of the indexes that are there for it alone.
fn page_text(filter: InfractionFilter) -> String {
    let (wanted, id) = match (filter.account.is_some(), filter.status.is_some()) {
        (true, false) => ("i.account_id = ? AND ", "i.id"),
        (true, true) => ("i.account_id || '' = ? AND i.status = ? AND ", "i.id"),
        (false, false) => ("", "i.id || ''"),
        (false, true) => ("i.status || '' = ? AND ", "i.id"),
    };
    format!("{HEAD}{wanted}{id} < ? ORDER BY {id} DESC LIMIT ?")
}

/// Those whose instant compares so.
fn due_text(compared: &str) -> String {
    format!("{HEAD}i.due_at IS NOT NULL AND i.due_at {compared} ? ORDER BY i.due_at, i.id LIMIT ?")
}

fn unsettled_text(continued: bool) -> String {
    let beyond = if continued { " AND (i.opened_at, i.id) > (?, ?)" } else { "" };
    format!("{HEAD}{UNSETTLED}{beyond} ORDER BY i.opened_at, i.id LIMIT ?")
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    let page = |of_account: bool, in_status: bool| {
        page_text(InfractionFilter {
            account: of_account.then(cais_testkit::builders::fresh),
            status: in_status.then_some(InfractionStatus::Open),
        })
    };
    vec![
        (page(true, false), "'acc_a', '~', 51"),
        (page(true, true), "'acc_a', 'open', '~', 51"),
        (page(false, false), "'~', 51"),
        (page(false, true), "'open', '~', 51"),
        (format!("{HEAD}{FOR_REVIEW}"), "'~', 51"),
        (format!("{HEAD}{OF_PIX}"), "'acc_a', 'E00007'"),
        (unsettled_text(false), "'main', 51"),
        (unsettled_text(true), "'main', 5, 'inf_00005', 51"),
        (due_text("<="), "9000, 51"),
        (due_text(">"), "9000, 51"),
        (format!("{HEAD}{UNDEFENDED}"), "0, 9000, 51"),
    ]
}

#[cfg(test)]
mod tests {
    use cais_testkit::builders::fresh;

    use super::super::plans::Planner;
    use super::*;

    #[test]
    fn every_list_is_read_along_an_index_of_its_own() {
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
            (format!("{HEAD}{FOR_REVIEW}"), "infractions_for_review (id<?)"),
            (unsettled_text(false), "infractions_unsettled (acquirer=?)"),
            (unsettled_text(true), "infractions_unsettled (acquirer=? AND (opened_at,id)>(?,?))"),
            (due_text("<="), "infractions_due"),
            (due_text(">"), "infractions_due"),
            (format!("{HEAD}{UNDEFENDED}"), "infractions_undefended"),
        ] {
            let steps = planner.plan(&text);
            assert!(matches!(steps.as_slice(), [step] if step.contains(index)), "{text}: {steps:?}");
        }
    }
}
