//! Reading payouts, refunds and releases: each as one statement, the same text on both engines.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{Due, OpenMoney, Page, PageRequest, PayoutQueries, QueryError, RefundQueries, ReleaseQueries};
use jiff::Timestamp;

use super::page::{after, cut, due, one_more, with_spare, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::instant;
use crate::rows::payout::{self, payout_columns};
use crate::rows::refund::{self, refund_columns};
use crate::rows::release;
use crate::sql::{Query, Session};

const PAYOUTS: &str = concat!(
    "SELECT ",
    payout_columns!(),
    " FROM payouts AS p WHERE p.account_id = ? AND p.id < ? AND p.status NOT IN ('pending', 'abandoned') ORDER BY p.id DESC LIMIT ?"
);
/// The expression is that of the index of a charge's refunds.
const REFUNDS: &str = concat!(
    "SELECT ",
    refund_columns!(),
    " FROM refunds AS r WHERE r.account_id || '' = ? AND r.charge_id = ? AND r.id < ? AND r.status NOT IN ('pending', 'abandoned') \
     ORDER BY r.id DESC LIMIT ?"
);
const DUE_RELEASES: &str =
    " FROM releases WHERE released_at IS NULL AND due_at <= ? ORDER BY due_at, account_id, end_to_end_id LIMIT ?";

/// Counts the rows with an open outcome. Only such rows have a due time, and only they are in the index of due rows.
fn open_money(session: &mut dyn Session, table: &str) -> Result<OpenMoney, Fault> {
    let text = format!(
        "SELECT count(*), coalesce(min(created_at), 0) FROM (SELECT created_at FROM {table} WHERE due_at IS NOT NULL LIMIT ?) AS o"
    );
    let (count, oldest) = session.pairs(&Query::new(text).bind(OpenMoney::MOST))?.pop().unwrap_or_default();
    let count = u64::try_from(count).unwrap_or_default();
    let oldest = if count == 0 { None } else { Some(instant(table, oldest)?) };
    Ok(OpenMoney { count, oldest })
}

fn due_payouts_text(compared: &str) -> String {
    const HEAD: &str =
        concat!("SELECT ", payout_columns!(), " FROM payouts AS p WHERE p.due_at IS NOT NULL AND p.due_at ");
    format!("{HEAD}{compared} ? ORDER BY p.due_at, p.id LIMIT ?")
}

fn due_refunds_text(compared: &str) -> String {
    const HEAD: &str =
        concat!("SELECT ", refund_columns!(), " FROM refunds AS r WHERE r.due_at IS NOT NULL AND r.due_at ");
    format!("{HEAD}{compared} ? ORDER BY r.due_at, r.id LIMIT ?")
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
        const TEXT: &str = concat!(
            "SELECT ",
            payout_columns!(),
            " FROM global_reservations AS r JOIN payouts AS p ON p.account_id = r.account_id AND p.id = r.owner \
             WHERE r.space = 'instruction_id' AND r.value = ?"
        );
        let instruction_id = instruction_id.clone();
        self.pool()
            .read(move |session| {
                session.payouts(&Query::new(TEXT).bind(instruction_id.as_str()))?.pop().map(payout::read).transpose()
            })
            .await
    }

    async fn list_payouts(&self, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(PAYOUTS).bind(account).bind(after(page)).bind(one_more(page));
            session.payouts(&query)?.into_iter().map(payout::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Payout>, QueryError> {
        self.pool()
            .read(move |session| {
                let rows = due(Due::new(now, MAX_PAUSE), limit, |compared, bound, most| {
                    Ok(session.payouts(&Query::new(due_payouts_text(compared)).bind(bound).bind(most))?)
                })?;
                Ok(work(rows, limit, |((account, id, ..), ..)| format!("{account}/{id}"), payout::read))
            })
            .await
    }

    async fn count_open_payouts(&self) -> Result<OpenMoney, QueryError> {
        self.pool().read(|session| open_money(session, "payouts")).await
    }
}

#[async_trait]
impl RefundQueries for Persistence {
    async fn find_refund(&self, account: AccountId, id: RefundId) -> Result<Option<Refund>, QueryError> {
        const TEXT: &str =
            concat!("SELECT ", refund_columns!(), " FROM refunds AS r WHERE r.account_id = ? AND r.id = ?");
        self.pool()
            .read(move |session| {
                session.refunds(&Query::new(TEXT).bind(account).bind(id))?.pop().map(refund::read).transpose()
            })
            .await
    }

    async fn list_refunds(
        &self,
        account: AccountId,
        charge: ChargeId,
        page: PageRequest<RefundId>,
    ) -> Result<Page<Refund>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(REFUNDS).bind(account).bind(charge).bind(after(page)).bind(one_more(page));
            session.refunds(&query)?.into_iter().map(refund::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_due_refunds(&self, now: Timestamp, limit: u32) -> Result<Vec<Refund>, QueryError> {
        self.pool()
            .read(move |session| {
                let rows = due(Due::new(now, MAX_PAUSE), limit, |compared, bound, most| {
                    Ok(session.refunds(&Query::new(due_refunds_text(compared)).bind(bound).bind(most))?)
                })?;
                Ok(work(rows, limit, |((account, id, ..), ..)| format!("{account}/{id}"), refund::read))
            })
            .await
    }

    async fn count_open_refunds(&self) -> Result<OpenMoney, QueryError> {
        self.pool().read(|session| open_money(session, "refunds")).await
    }
}

#[async_trait]
impl ReleaseQueries for Persistence {
    async fn list_due_releases(&self, now: Timestamp, limit: u32) -> Result<Vec<Release>, QueryError> {
        self.pool()
            .read(move |session| {
                let text = format!("SELECT {}{DUE_RELEASES}", release::COLUMNS);
                let rows = session.releases(&Query::new(text).bind(now).bind(with_spare(limit)))?;
                Ok(work(rows, limit, |(account, pix, ..)| format!("{account}/{pix}"), release::read))
            })
            .await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    vec![
        (PAYOUTS.to_owned(), "'acc_a', '~', 51"),
        (due_payouts_text("<="), "9000, 51"),
        (due_payouts_text(">"), "9000, 51"),
        (REFUNDS.to_owned(), "'acc_a', 'chg_00007', '~', 51"),
        (due_refunds_text("<="), "9000, 51"),
        (due_refunds_text(">"), "9000, 51"),
        (format!("SELECT {}{DUE_RELEASES}", release::COLUMNS), "9000, 51"),
    ]
}
