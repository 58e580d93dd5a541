//! Reads payouts, refunds and releases. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{OpenMoney, Page, PageRequest, PayoutQueries, QueryError, RefundQueries, ReleaseQueries};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, one_more, with_spare};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::payout::{PayoutRow, payouts};
use crate::rows::refund::{RefundRow, refunds};
use crate::rows::release::{ReleaseRow, releases};
use crate::rows::reservation::global_reservations;
use crate::rows::{Record as _, instant};
use crate::sql::select::{ExpressionIndex, Select, is_none_of, is_one_of};
use crate::sql::{Query, Session};

diesel::allow_tables_to_appear_in_same_query!(global_reservations, payouts);

fn payouts_of(account: AccountId, page: PageRequest<PayoutId>) -> impl Select<PayoutRow<'static>> {
    payouts::table
        .filter(payouts::account_id.eq(account.to_string()))
        .filter(payouts::id.lt(after(page)))
        .filter(is_none_of(payouts::status, ["pending", "abandoned"]))
        .order(payouts::id.desc())
        .limit(one_more(page))
}

fn payout_of_pix(end_to_end_id: String) -> impl Select<PayoutRow<'static>> {
    payouts::table.filter(payouts::end_to_end_id.eq(end_to_end_id)).limit(1)
}

fn due_payouts(from: i64, until: i64, most: i64) -> impl Select<PayoutRow<'static>> {
    payouts::table
        .filter(payouts::due_at.is_not_null())
        .filter(payouts::due_at.between(from, until))
        .order((payouts::due_at, payouts::id))
        .limit(most)
}

fn refunds_of(account: AccountId, charge: ChargeId, page: PageRequest<RefundId>) -> impl Select<RefundRow<'static>> {
    refunds::table
        .filter(ExpressionIndex::new(refunds::account_id).eq(account.to_string()))
        .filter(refunds::charge_id.eq(charge.to_string()))
        .filter(refunds::id.lt(after(page)))
        .filter(is_none_of(refunds::status, ["pending", "abandoned"]))
        .order(refunds::id.desc())
        .limit(one_more(page))
}

fn due_refunds(from: i64, until: i64, most: i64) -> impl Select<RefundRow<'static>> {
    refunds::table
        .filter(refunds::due_at.is_not_null())
        .filter(refunds::due_at.between(from, until))
        .order((refunds::due_at, refunds::id))
        .limit(most)
}

fn due_releases(now: Timestamp, limit: u32) -> impl Select<ReleaseRow<'static>> {
    releases::table
        .filter(releases::released_at.is_null())
        .filter(releases::due_at.le(now.as_microsecond()))
        .order((releases::due_at, releases::account_id, releases::end_to_end_id))
        .limit(with_spare(limit))
}

/// Counts the rows with an open outcome, and finds the oldest. Only such rows have a due time and are in the index of due rows.
fn open_money(session: &mut dyn Session, table: &str) -> Result<OpenMoney, Fault> {
    let text = format!(
        "SELECT count(*), coalesce(min(created_at), 0) FROM (SELECT created_at FROM {table} WHERE due_at IS NOT NULL LIMIT ?) AS o"
    );
    let (count, oldest) =
        session.load::<(i64, i64)>(&Query::new(text).bind(OpenMoney::MOST))?.pop().unwrap_or_default();
    let count = u64::try_from(count).unwrap_or_default();
    let oldest = if count == 0 { None } else { Some(instant(table, oldest)?) };
    Ok(OpenMoney { count, oldest })
}

#[async_trait]
impl PayoutQueries for Persistence {
    async fn find_payout(&self, account: AccountId, id: PayoutId) -> Result<Option<Payout>, QueryError> {
        self.by_id().payout(account, id).await
    }

    async fn find_payout_by_instruction_id(
        &self,
        instruction_id: &InstructionId,
    ) -> Result<Option<Payout>, QueryError> {
        let owner =
            payouts::account_id.eq(global_reservations::account_id).and(payouts::id.eq(global_reservations::owner));
        let query = global_reservations::table
            .inner_join(payouts::table.on(owner))
            .filter(is_one_of(global_reservations::space, ["instruction_id"]))
            .filter(global_reservations::value.eq(instruction_id.to_string()))
            .select(payouts::all_columns);
        self.find(query, Payout::read).await
    }

    async fn find_payout_by_pix(&self, end_to_end_id: &EndToEndId) -> Result<Option<Payout>, QueryError> {
        self.find(payout_of_pix(end_to_end_id.to_string()), Payout::read).await
    }

    async fn list_payouts(&self, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, QueryError> {
        self.page(payouts_of(account, page), Payout::read, page).await
    }

    async fn list_due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Payout>, QueryError> {
        self.due(due_payouts, Payout::read, now, limit).await
    }

    async fn count_open_payouts(&self) -> Result<OpenMoney, QueryError> {
        self.pool().read(|session| open_money(session, "payouts")).await
    }
}

#[async_trait]
impl RefundQueries for Persistence {
    async fn list_refunds(
        &self,
        account: AccountId,
        charge: ChargeId,
        page: PageRequest<RefundId>,
    ) -> Result<Page<Refund>, QueryError> {
        self.page(refunds_of(account, charge, page), Refund::read, page).await
    }

    async fn list_due_refunds(&self, now: Timestamp, limit: u32) -> Result<Vec<Refund>, QueryError> {
        self.due(due_refunds, Refund::read, now, limit).await
    }

    async fn count_open_refunds(&self) -> Result<OpenMoney, QueryError> {
        self.pool().read(|session| open_money(session, "refunds")).await
    }
}

#[async_trait]
impl ReleaseQueries for Persistence {
    async fn list_due_releases(&self, now: Timestamp, limit: u32) -> Result<Vec<Release>, QueryError> {
        self.work(due_releases(now, limit), Release::read, limit).await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_testkit::builders::{fresh, start};

    use super::page::first;
    use super::walks::list;

    vec![
        list(&payouts_of(fresh(), first()), "'acc_a', '~', 51"),
        list(&payout_of_pix("E00000".to_owned()), "'E00007', 1"),
        list(&due_payouts(0, 0, 0), "0, 9000, 51"),
        list(&refunds_of(fresh(), fresh(), first()), "'acc_a', 'chg_00007', '~', 51"),
        list(&due_refunds(0, 0, 0), "0, 9000, 51"),
        list(&due_releases(start(), 1), "9000, 51"),
    ]
}
