//! The query ports. Each read is one statement, with the same text on both engines.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::KeyPrefix;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, NoticeId};
use cais_domain::ledger::Bucket;
use cais_domain::money::Money;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{
    AccountQueries, ApiKeyRecord, BalanceQueries, Balances, CLAIM_LEASE, ChargeQueries, Claim, ClaimQueries, ClaimRef,
    Due, KeyQueries, Notice, NoticeCounts, NoticeQueries, Page, PageRequest, QueryError, ReservationKey,
    ReservationQueries,
};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, due, one_more, with_spare, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::account::{AccountRow, accounts};
use crate::rows::charge::{ChargeRow, charges};
use crate::rows::claim::{self, ClaimRow, idempotency_claims};
use crate::rows::key::{KeyRow, api_keys};
use crate::rows::ledger::balances;
use crate::rows::notice::{NoticeRow, notices};
use crate::rows::reservation::{account_reservations, global_reservations};
use crate::rows::{Record as _, acquirer, payment};
use crate::sql::Query;
use crate::sql::select::{Select, is_none_of, is_one_of};

/// The largest number of keys in a list.
const MAX_KEYS: i64 = 200;

fn charges_of(account: AccountId, page: PageRequest<ChargeId>) -> impl Select<ChargeRow<'static>> {
    charges::table
        .filter(charges::account_id.eq(account.to_string()))
        .filter(charges::id.lt(after(page)))
        .filter(is_none_of(charges::status, ["creating", "abandoned"]))
        .order(charges::id.desc())
        .limit(one_more(page))
}

fn overdue_charges(before: Timestamp, limit: u32) -> impl Select<ChargeRow<'static>> {
    charges::table
        .filter(is_one_of(charges::status, ["pending"]))
        .filter(charges::expires_at.lt(before.as_microsecond()))
        .order((charges::expires_at, charges::id))
        .limit(with_spare(limit))
}

fn accounts_page(page: PageRequest<AccountId>) -> impl Select<AccountRow<'static>> {
    accounts::table.filter(accounts::id.lt(after(page))).order(accounts::id.desc()).limit(one_more(page))
}

fn keys_of(account: AccountId) -> impl Select<KeyRow<'static>> {
    api_keys::table.filter(api_keys::account_id.eq(account.to_string())).order(api_keys::id.desc()).limit(MAX_KEYS)
}

fn due_notices(from: i64, until: i64, most: i64) -> impl Select<NoticeRow<'static>> {
    notices::table
        .filter(notices::due_at.is_not_null())
        .filter(notices::due_at.between(from, until))
        .order((notices::due_at, notices::id))
        .limit(most)
}

/// Finds an open or unmatched callback by its names. The first condition is the condition of the index.
fn named_notice(acquirer: String, names: Vec<u8>) -> impl Select<NoticeRow<'static>> {
    notices::table
        .filter(is_none_of(notices::state, ["done"]))
        .filter(notices::body.eq(names))
        .filter(notices::acquirer.eq(acquirer))
        .limit(1)
}

fn unmatched_notices(page: PageRequest<NoticeId>) -> impl Select<NoticeRow<'static>> {
    notices::table
        .filter(is_one_of(notices::state, ["unmatched"]))
        .filter(notices::id.lt(after(page)))
        .order(notices::id.desc())
        .limit(one_more(page))
}

/// Returns idempotency records without an answer whose lease is over, or further ahead than a lease can be.
fn due_claims(lease: Due, from: i64, until: i64, most: i64) -> impl Select<ClaimRow<'static>> {
    let is_over = idempotency_claims::lease_until.le(lease.now().as_microsecond());
    idempotency_claims::table
        .filter(idempotency_claims::due_at.is_not_null())
        .filter(is_over.or(idempotency_claims::lease_until.gt(lease.beyond().as_microsecond())))
        .filter(idempotency_claims::answer_status.is_null())
        .filter(idempotency_claims::due_at.between(from, until))
        .order((idempotency_claims::due_at, idempotency_claims::account_id, idempotency_claims::key))
        .limit(most)
}

#[async_trait]
impl ChargeQueries for Persistence {
    async fn find_charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError> {
        self.by_id().charge(account, id).await
    }

    async fn find_charge_by_txid(&self, txid: &Txid) -> Result<Option<Charge>, QueryError> {
        self.by_id().charge_by_txid(txid.clone()).await
    }

    async fn find_payment(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Option<CreditedPayment>, QueryError> {
        let end_to_end_id = end_to_end_id.clone();
        self.pool()
            .read(move |session| {
                let columns = payment::columns();
                let text =
                    format!("SELECT {columns} FROM payments AS p WHERE p.account_id = ? AND p.end_to_end_id = ?");
                let query = Query::new(text).bind(account).bind(end_to_end_id.as_str());
                session.load(&query)?.pop().map(payment::read).transpose()
            })
            .await
    }

    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError> {
        self.page(charges_of(account, page), Charge::read, page).await
    }

    async fn list_overdue_charges(&self, before: Timestamp, limit: u32) -> Result<Vec<Charge>, QueryError> {
        self.work(overdue_charges(before, limit), Charge::read, limit).await
    }
}

#[async_trait]
impl ReservationQueries for Persistence {
    async fn find_owner(&self, key: &ReservationKey) -> Result<Option<String>, QueryError> {
        let key = key.clone();
        self.pool()
            .read(move |session| {
                let (space, value) = (key.space().to_owned(), key.value().to_owned());
                let mut owners: Vec<String> = match key.within() {
                    Some(account) => {
                        let row = account_reservations::table.find((account.to_string(), space, value));
                        session.rows(row.select(account_reservations::owner))?
                    }
                    None => session
                        .rows(global_reservations::table.find((space, value)).select(global_reservations::owner))?,
                };
                Ok(owners.pop())
            })
            .await
    }
}

#[async_trait]
impl ClaimQueries for Persistence {
    async fn find_claim(&self, name: &ClaimRef) -> Result<Option<Claim>, QueryError> {
        self.by_id().claim(name.clone()).await
    }

    async fn list_due_claims(&self, now: Timestamp, limit: u32) -> Result<Vec<Claim>, QueryError> {
        self.pool()
            .read(move |session| {
                let lease = Due::new(now, CLAIM_LEASE);
                let rows = due(Due::new(now, MAX_PAUSE), limit, |from, until, most| {
                    Ok(session.rows(due_claims(lease, from, until, most))?)
                })?;
                Ok(work(rows, limit, |row| format!("{}/{}", row.account_id, row.resource_id), claim::read))
            })
            .await
    }
}

#[async_trait]
impl AccountQueries for Persistence {
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>, QueryError> {
        self.by_id().account(id).await
    }

    async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, QueryError> {
        let query = accounts::table.filter(accounts::email.eq(email.to_owned()));
        self.find(query, Account::read).await
    }

    async fn list_accounts(&self, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
        self.page(accounts_page(page), Account::read, page).await
    }
}

#[async_trait]
impl KeyQueries for Persistence {
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError> {
        self.by_id().key(prefix.clone()).await
    }

    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError> {
        self.list(keys_of(account), ApiKeyRecord::read).await
    }
}

#[async_trait]
impl BalanceQueries for Persistence {
    async fn balances(&self, account: AccountId) -> Result<Balances, QueryError> {
        self.pool()
            .read(move |session| {
                let query = balances::table.filter(balances::holder.eq(account.to_string()));
                let mut balances = Balances::default();
                for (bucket, amount) in
                    session.rows::<(String, i64)>(query.select((balances::bucket, balances::amount)))?
                {
                    let bucket = Bucket::parse(&bucket)
                        .ok_or_else(|| Fault::Corrupt(format!("balances: unknown bucket `{bucket}`")))?;
                    let part = match bucket {
                        Bucket::Available => &mut balances.available,
                        Bucket::Pending => &mut balances.pending,
                        Bucket::Blocked => &mut balances.blocked,
                        Bucket::InTransit => &mut balances.in_transit,
                    };
                    *part = Money::from_centavos(amount);
                }
                Ok(balances)
            })
            .await
    }
}

#[async_trait]
impl NoticeQueries for Persistence {
    async fn list_due_notices(&self, now: Timestamp, limit: u32) -> Result<Vec<Notice>, QueryError> {
        self.due(due_notices, Notice::read, now, limit).await
    }

    async fn find_notice(&self, id: NoticeId) -> Result<Option<Notice>, QueryError> {
        let query = notices::table.find(id.to_string());
        self.find(query, Notice::read).await
    }

    async fn find_named_notice(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Notice>, QueryError> {
        self.find(named_notice(acquirer.to_string(), names.to_vec()), Notice::read).await
    }

    async fn list_unmatched_notices(&self, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError> {
        self.page(unmatched_notices(page), Notice::read, page).await
    }

    async fn count_notices(&self) -> Result<NoticeCounts, QueryError> {
        const OPEN: &str = "SELECT acquirer, count(*), count(*) FROM \
             (SELECT acquirer FROM notices WHERE due_at IS NOT NULL LIMIT ?) AS n GROUP BY acquirer";
        const UNMATCHED: &str =
            "SELECT acquirer, count(*), count(*) FROM notices WHERE state = 'unmatched' GROUP BY acquirer";
        self.pool()
            .read(move |session| {
                let mut count = |query: &Query<'_>| -> Result<BTreeMap<AcquirerName, u64>, Fault> {
                    let rows: Vec<(String, i64, i64)> = session.load(query)?;
                    rows.into_iter()
                        .map(|(name, count, _)| {
                            Ok((acquirer("notices", &name)?, u64::try_from(count).unwrap_or_default()))
                        })
                        .collect()
                };
                let open = count(&Query::new(OPEN).bind(NoticeCounts::MOST_OPEN))?;
                Ok(NoticeCounts { open, unmatched: count(&Query::new(UNMATCHED))? })
            })
            .await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_testkit::builders::{fresh, start};

    use super::page::first;
    use super::walks::list;

    vec![
        list(&charges_of(fresh(), first()), "'acc_a', '~', 51"),
        list(&overdue_charges(start(), 1), "9000, 51"),
        list(&due_claims(Due::new(start(), CLAIM_LEASE), 0, 0, 0), "9000, 9000, 0, 9000, 51"),
        list(&accounts_page(first()), "'~', 51"),
        list(&keys_of(fresh()), "'acc_a', 51"),
        list(&due_notices(0, 0, 0), "0, 9000, 51"),
        list(&named_notice(String::new(), Vec::new()), "'received 7', 'main', 1"),
        list(&unmatched_notices(first()), "'~', 51"),
    ]
}
