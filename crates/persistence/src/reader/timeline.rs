//! The timeline: charges, payouts and split credits as one list, without a table of its own. Each source returns its newest rows after the
//! previous page, at most one row more than a page has. The newest of all these rows form the page.

use std::cmp::Reverse;

use async_trait::async_trait;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::kind;
use cais_domain::ids::{AccountId, ChargeId, EntryId, Id, IdKind, PayoutId};
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{
    ChargeQueries as _, Page, PageRequest, PayoutQueries as _, QueryError, TimelineQueries, Transaction,
    TransactionFilter,
};
use diesel::prelude::*;
use uuid::Uuid;

use super::page::{RARE_HOLDER, Reach, cut, one_more};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::charge::{ChargeRow, charges};
use crate::rows::payout::{PayoutRow, payouts};
use crate::rows::{Record as _, statement};
use crate::sql::select::{Select, is_one_of};
use crate::sql::{Query, Session};

const RANGE: &str = " = ? AND id >= ? AND id < ? AND created_at >= ? AND created_at < ?";
const NEWEST: &str = " ORDER BY id DESC LIMIT ?";

#[async_trait]
impl TimelineQueries for Persistence {
    async fn list_transactions(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Transaction>, QueryError> {
        let rows = self.pool().read(move |session| {
            let asked = TimelineQuery { account, filter, page };
            let mut rows = asked.charges(session)?;
            rows.extend(asked.payouts(session)?);
            rows.extend(asked.credits(session)?);
            rows.sort_unstable_by_key(|row| Reverse(row.key()));
            Ok(rows)
        });
        Ok(cut(rows.await?, page))
    }

    async fn find_transaction(
        &self,
        account: AccountId,
        direction: Direction,
        key: Uuid,
    ) -> Result<Option<Transaction>, QueryError> {
        match direction {
            Direction::CashOut => {
                let payout = self.find_payout(account, PayoutId::new(key)).await?;
                Ok(payout.filter(Payout::is_visible).map(|payout| Transaction::Payout(Box::new(payout))))
            }
            Direction::CashIn => {
                let charge = self.find_charge(account, ChargeId::new(key)).await?;
                match charge.filter(Charge::is_visible) {
                    Some(charge) => Ok(Some(Transaction::Charge(Box::new(charge)))),
                    None => self.find_credit(account, EntryId::new(key)).await,
                }
            }
        }
    }
}

impl Persistence {
    async fn find_credit(&self, account: AccountId, id: EntryId) -> Result<Option<Transaction>, QueryError> {
        const TEXT: &str = "SELECT id, amount, created_at FROM entries WHERE holder = ? AND id = ? AND kind = 'split'";
        self.pool()
            .read(move |session| {
                let found = session.load(&Query::new(TEXT).bind(account).bind(id))?.pop();
                Ok(found.map(statement::read_credit).transpose()?.map(Transaction::SplitCredit))
            })
            .await
    }
}

/// A requested page of one account.
struct TimelineQuery {
    account: AccountId,
    filter: TransactionFilter,
    page: PageRequest<Uuid>,
}

impl TimelineQuery {
    fn charges(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(query) = self.charges_query() else { return Ok(Vec::new()) };
        let rows = session.rows(query)?.into_iter();
        rows.map(|row| Ok(Transaction::Charge(Box::new(Charge::read(row)?)))).collect()
    }

    fn payouts(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(query) = self.payouts_query() else { return Ok(Vec::new()) };
        let rows = session.rows(query)?.into_iter();
        rows.map(|row| Ok(Transaction::Payout(Box::new(Payout::read(row)?)))).collect()
    }

    fn credits(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(text) = credits_text(self.filter) else { return Ok(Vec::new()) };
        let reach = self.reach::<kind::Entry>();
        let query = Query::new(text).bind(self.account).bind(reach.least).bind(reach.below);
        let rows = session.load(&query.bind(reach.from).bind(reach.until).bind(one_more(self.page)))?.into_iter();
        rows.map(|row| Ok(Transaction::SplitCredit(statement::read_credit(row)?))).collect()
    }

    fn reach<K: IdKind>(&self) -> Reach {
        Reach::new(self.filter.created, self.page.starting_after.map(Id::<K>::new))
    }

    fn charges_query(&self) -> Option<impl Select<ChargeRow<'static>>> {
        let statuses = ChargeStatus::ALL.map(|status| (status.as_str(), TransactionStatus::of_charge(status)));
        let matching = matching_statuses(self.filter, Direction::CashIn, &statuses)?;
        let reach = self.reach::<kind::Charge>();
        let query = charges::table
            .filter(charges::account_id.eq(self.account.to_string()))
            .filter(charges::id.ge(reach.least))
            .filter(charges::id.lt(reach.below))
            .filter(charges::created_at.ge(reach.from))
            .filter(charges::created_at.lt(reach.until))
            .filter(is_one_of(charges::status, matching));
        Some(query.order(charges::id.desc()).limit(one_more(self.page)))
    }

    fn payouts_query(&self) -> Option<impl Select<PayoutRow<'static>>> {
        let statuses = PayoutStatus::ALL.map(|status| (status.as_str(), TransactionStatus::of_payout(status)));
        let matching = matching_statuses(self.filter, Direction::CashOut, &statuses)?;
        let reach = self.reach::<kind::Payout>();
        let query = payouts::table
            .filter(payouts::account_id.eq(self.account.to_string()))
            .filter(payouts::id.ge(reach.least))
            .filter(payouts::id.lt(reach.below))
            .filter(payouts::created_at.ge(reach.from))
            .filter(payouts::created_at.lt(reach.until))
            .filter(is_one_of(payouts::status, matching));
        Some(query.order(payouts::id.desc()).limit(one_more(self.page)))
    }
}

fn credits_text(filter: TransactionFilter) -> Option<String> {
    matching_statuses(filter, Direction::CashIn, &[("split", Some(TransactionStatus::Completed))])?;
    Some(format!("SELECT id, amount, created_at FROM entries WHERE {RARE_HOLDER}{RANGE} AND kind = 'split'{NEWEST}"))
}

/// Returns the stored statuses of the source's rows that match the filter; `None` if no row of the source can match. The statuses are
/// constants in the text, so that the index of a rare status is used. There are few such texts.
fn matching_statuses(
    filter: TransactionFilter,
    direction: Direction,
    words: &[(&'static str, Option<TransactionStatus>)],
) -> Option<Vec<&'static str>> {
    if filter.direction.is_some_and(|required| required != direction) {
        return None;
    }
    let has = |shown: Option<TransactionStatus>| {
        shown.is_some_and(|shown| filter.status.is_none_or(|required| required == shown))
    };
    let words: Vec<_> = words.iter().filter(|(_, shown)| has(*shown)).map(|(word, _)| *word).collect();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
fn all(filter: TransactionFilter) -> TimelineQuery {
    TimelineQuery { account: cais_testkit::builders::fresh(), filter, page: super::page::first() }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use crate::sql::select::texts;

    let filters = TransactionStatus::ALL.map(Some).into_iter().chain([None]);
    let filters = filters.map(|status| TransactionFilter { status, ..TransactionFilter::default() });
    let sources = filters.flat_map(|filter| {
        let charges = all(filter).charges_query().map(|query| texts(&query).0);
        let payouts = all(filter).payouts_query().map(|query| texts(&query).0);
        [charges, payouts, credits_text(filter)]
    });
    sources.flatten().map(|text| (text, "'acc_a', '', '~', 0, 100000, 51")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::plans::Planner;
    use super::*;
    use crate::sql::select::texts;

    fn assert_reads(planner: &mut Planner, text: Option<&str>, expected: Option<&str>) {
        let steps = text.map(|text| planner.plan(text)).unwrap_or_default();
        assert_eq!(steps.len(), usize::from(expected.is_some()), "{text:?}: {steps:?}");
        let found = steps.iter().zip(expected).all(|(step, expected)| step.contains(expected));
        assert!(found, "{steps:?} instead of {expected:?}");
    }

    #[test]
    fn timeline_sources_are_read_along_an_index_to_page_end() {
        let mut planner = Planner::new();
        for status in TransactionStatus::ALL.map(Some).into_iter().chain([None]) {
            let filter = TransactionFilter { status, ..TransactionFilter::default() };
            let along = "(account_id=? AND id>? AND id<?)";
            let (charges, payouts, credits) = match status {
                Some(TransactionStatus::Pending) => (Some(along), None, None),
                Some(TransactionStatus::Cancelled) => (Some("charges_cancelled"), None, None),
                Some(TransactionStatus::Processing | TransactionStatus::Failed) => (None, Some("payouts_rare"), None),
                None | Some(TransactionStatus::Completed) => (Some(along), Some(along), Some("entries_rare")),
                Some(TransactionStatus::Refunded) => (Some("charges_refunded"), Some("payouts_rare"), None),
            };
            let charges_text = all(filter).charges_query().map(|query| texts(&query).1);
            let payouts_text = all(filter).payouts_query().map(|query| texts(&query).1);
            assert_reads(&mut planner, charges_text.as_deref(), charges);
            assert_reads(&mut planner, payouts_text.as_deref(), payouts);
            assert_reads(&mut planner, credits_text(filter).as_deref(), credits);
        }
    }

    #[test]
    fn direction_has_its_own_sources() {
        let only = |direction| TransactionFilter { direction: Some(direction), ..TransactionFilter::default() };
        assert!(all(only(Direction::CashIn)).payouts_query().is_none());
        assert!(all(only(Direction::CashOut)).charges_query().is_none());
        assert_eq!(credits_text(only(Direction::CashOut)), None);
    }
}
