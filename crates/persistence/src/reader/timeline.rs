//! The timeline: charges, payouts and split credits as one list. Each source gives its newest rows below the last key, one more than the
//! page holds, and the newest of them all make the page. Nothing is written for it.

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
use uuid::Uuid;

use super::page::{RARE_HOLDER, Reach, cut, one_more};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::charge::{self, charge_columns};
use crate::rows::payout::{self, payout_columns};
use crate::rows::statement;
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
            let asked = Asked { account, filter, page };
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
                let found = session.differences(&Query::new(TEXT).bind(account).bind(id))?.pop();
                Ok(found.map(statement::read_credit).transpose()?.map(Transaction::SplitCredit))
            })
            .await
    }
}

/// A page of one account.
struct Asked {
    account: AccountId,
    filter: TransactionFilter,
    page: PageRequest<Uuid>,
}

impl Asked {
    fn charges(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(text) = charges_text(self.filter) else { return Ok(Vec::new()) };
        let rows = session.charges(&self.bind::<kind::Charge>(text))?.into_iter();
        rows.map(|row| Ok(Transaction::Charge(Box::new(charge::read(row)?)))).collect()
    }

    fn payouts(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(text) = payouts_text(self.filter) else { return Ok(Vec::new()) };
        let rows = session.payouts(&self.bind::<kind::Payout>(text))?.into_iter();
        rows.map(|row| Ok(Transaction::Payout(Box::new(payout::read(row)?)))).collect()
    }

    fn credits(&self, session: &mut dyn Session) -> Result<Vec<Transaction>, Fault> {
        let Some(text) = credits_text(self.filter) else { return Ok(Vec::new()) };
        let rows = session.differences(&self.bind::<kind::Entry>(text))?.into_iter();
        rows.map(|row| Ok(Transaction::SplitCredit(statement::read_credit(row)?))).collect()
    }

    fn bind<K: IdKind>(&self, text: String) -> Query<'static> {
        let reach = Reach::new(self.filter.created, self.page.starting_after.map(Id::<K>::new));
        let query = Query::new(text).bind(self.account).bind(reach.least).bind(reach.below);
        query.bind(reach.from).bind(reach.until).bind(one_more(self.page))
    }
}

fn charges_text(filter: TransactionFilter) -> Option<String> {
    let statuses = ChargeStatus::ALL.map(|status| (status.as_str(), TransactionStatus::of_charge(status)));
    let wanted = wanted(filter, Direction::CashIn, &statuses)?;
    let columns = charge_columns!();
    Some(format!("SELECT {columns} FROM charges AS c WHERE c.account_id{RANGE} AND c.status {wanted}{NEWEST}"))
}

fn payouts_text(filter: TransactionFilter) -> Option<String> {
    let statuses = PayoutStatus::ALL.map(|status| (status.as_str(), TransactionStatus::of_payout(status)));
    let wanted = wanted(filter, Direction::CashOut, &statuses)?;
    let columns = payout_columns!();
    Some(format!("SELECT {columns} FROM payouts AS p WHERE p.account_id{RANGE} AND p.status {wanted}{NEWEST}"))
}

fn credits_text(filter: TransactionFilter) -> Option<String> {
    let wanted = wanted(filter, Direction::CashIn, &[("split", Some(TransactionStatus::Completed))])?;
    Some(format!("SELECT id, amount, created_at FROM entries WHERE {RARE_HOLDER}{RANGE} AND kind {wanted}{NEWEST}"))
}

/// The condition on a source that its rows have the wanted status; `None` when none of them has. The words are part of the text, which
/// is one of a small set, so that the index of a rare one is found.
fn wanted(
    filter: TransactionFilter,
    direction: Direction,
    words: &[(&str, Option<TransactionStatus>)],
) -> Option<String> {
    if filter.direction.is_some_and(|wanted| wanted != direction) {
        return None;
    }
    let has = |shown: Option<TransactionStatus>| {
        shown.is_some_and(|shown| filter.status.is_none_or(|wanted| wanted == shown))
    };
    let words: Vec<String> =
        words.iter().filter(|(_, shown)| has(*shown)).map(|(word, _)| format!("'{word}'")).collect();
    match words.as_slice() {
        [] => None,
        [word] => Some(format!("= {word}")),
        [_, ..] => Some(format!("IN ({})", words.join(", "))),
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    let filters = TransactionStatus::ALL.map(Some).into_iter().chain([None]);
    let filters = filters.map(|status| TransactionFilter { status, ..TransactionFilter::default() });
    let sources = filters.flat_map(|filter| [charges_text(filter), payouts_text(filter), credits_text(filter)]);
    sources.flatten().map(|text| (text, "'acc_a', '', '~', 0, 100000, 51")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::plans::Planner;
    use super::*;

    fn assert_reads(planner: &mut Planner, text: Option<&str>, expected: Option<&str>) {
        let steps = text.map(|text| planner.plan(text)).unwrap_or_default();
        assert_eq!(steps.len(), usize::from(expected.is_some()), "{text:?}: {steps:?}");
        let found = steps.iter().zip(expected).all(|(step, expected)| step.contains(expected));
        assert!(found, "{steps:?} instead of {expected:?}");
    }

    #[test]
    fn every_source_is_read_along_an_index_that_ends_with_the_page() {
        let mut planner = Planner::new();
        let all = TransactionStatus::ALL.map(Some).into_iter().chain([None]);
        for status in all {
            let filter = TransactionFilter { status, ..TransactionFilter::default() };
            let along = "(account_id=? AND id>? AND id<?)";
            let (charges, payouts, credits) = match status {
                Some(TransactionStatus::Pending) => (Some(along), None, None),
                Some(TransactionStatus::Cancelled) => (Some("charges_cancelled"), None, None),
                Some(TransactionStatus::Processing | TransactionStatus::Failed) => (None, Some("payouts_rare"), None),
                None | Some(TransactionStatus::Completed) => (Some(along), Some(along), Some("entries_rare")),
                Some(TransactionStatus::Refunded) => (Some("charges_refunded"), Some("payouts_rare"), None),
            };
            assert_reads(&mut planner, charges_text(filter).as_deref(), charges);
            assert_reads(&mut planner, payouts_text(filter).as_deref(), payouts);
            assert_reads(&mut planner, credits_text(filter).as_deref(), credits);
        }
    }

    #[test]
    fn a_direction_has_its_own_sources() {
        let only = |direction| TransactionFilter { direction: Some(direction), ..TransactionFilter::default() };
        assert_eq!(payouts_text(only(Direction::CashIn)), None);
        assert_eq!(charges_text(only(Direction::CashOut)), None);
        assert_eq!(credits_text(only(Direction::CashOut)), None);
    }
}
