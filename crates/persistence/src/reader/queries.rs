//! Reads charges, payments, unique values, idempotency records, accounts, API keys, balances and callbacks. Both engines execute the same
//! queries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, CallbackId, ChargeId};
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_domain::merchant::account::{Account, Kyc};
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::money::Money;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{
    AccountQueries, ApiKeyRecord, BalanceQueries, Balances, Callback, CallbackCounts, CallbackQueries, ChargeQueries,
    Due, IdempotencyQueries, IdempotencyRecord, IdempotencyRef, KeyQueries, Page, PageRequest, QueryError,
    REQUEST_LEASE, ReservationKey, ReservationQueries,
};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, due, one_more, with_spare, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::account::{AccountRow, accounts};
use crate::rows::callback::{CallbackRow, callbacks};
use crate::rows::charge::{ChargeRow, charges};
use crate::rows::idempotency::{self, IdempotencyRow, idempotency_records};
use crate::rows::key::{KeyRow, api_keys};
use crate::rows::ledger::balances;
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

fn charges_of_payer(
    account: AccountId,
    payer_document: String,
    page: PageRequest<ChargeId>,
) -> impl Select<ChargeRow<'static>> {
    charges::table
        .filter(charges::account_id.eq(account.to_string()))
        .filter(charges::payer_document.eq(payer_document))
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

fn accounts_with_kyc(kyc: Kyc, page: PageRequest<AccountId>) -> impl Select<AccountRow<'static>> {
    accounts::table
        .filter(is_one_of(accounts::kyc, [kyc.as_str()]))
        .filter(accounts::id.lt(after(page)))
        .order(accounts::id.desc())
        .limit(one_more(page))
}

fn keys_of(account: AccountId) -> impl Select<KeyRow<'static>> {
    api_keys::table.filter(api_keys::account_id.eq(account.to_string())).order(api_keys::id.desc()).limit(MAX_KEYS)
}

fn due_callbacks(from: i64, until: i64, most: i64) -> impl Select<CallbackRow<'static>> {
    callbacks::table
        .filter(callbacks::due_at.is_not_null())
        .filter(callbacks::due_at.between(from, until))
        .order((callbacks::due_at, callbacks::id))
        .limit(most)
}

/// Finds an open or unmatched callback by the names in its body. The first condition is the condition of the index.
fn named_callback(acquirer: String, names: Vec<u8>) -> impl Select<CallbackRow<'static>> {
    callbacks::table
        .filter(is_none_of(callbacks::state, ["done"]))
        .filter(callbacks::body.eq(names))
        .filter(callbacks::acquirer.eq(acquirer))
        .limit(1)
}

fn unmatched_callbacks(page: PageRequest<CallbackId>) -> impl Select<CallbackRow<'static>> {
    callbacks::table
        .filter(is_one_of(callbacks::state, ["unmatched"]))
        .filter(callbacks::id.lt(after(page)))
        .order(callbacks::id.desc())
        .limit(one_more(page))
}

/// Returns unanswered idempotency records whose lease is over, or ends later than a correct clock writes.
fn due_idempotency_records(lease: Due, from: i64, until: i64, most: i64) -> impl Select<IdempotencyRow<'static>> {
    let is_over = idempotency_records::lease_until.le(lease.now().as_microsecond());
    idempotency_records::table
        .filter(idempotency_records::due_at.is_not_null())
        .filter(is_over.or(idempotency_records::lease_until.gt(lease.beyond().as_microsecond())))
        .filter(idempotency_records::response_kind.is_null())
        .filter(idempotency_records::due_at.between(from, until))
        .order((idempotency_records::due_at, idempotency_records::account_id, idempotency_records::key))
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

    async fn list_charges_of_payer(
        &self,
        account: AccountId,
        payer_document: &str,
        limit: u32,
    ) -> Result<Vec<Charge>, QueryError> {
        let page = PageRequest::<ChargeId> { limit, starting_after: None };
        let query = charges_of_payer(account, payer_document.to_owned(), page);
        Ok(self.page(query, Charge::read, page).await?.rows)
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
impl IdempotencyQueries for Persistence {
    async fn find_idempotency_record(&self, name: &IdempotencyRef) -> Result<Option<IdempotencyRecord>, QueryError> {
        self.by_id().idempotency_record(name.clone()).await
    }

    async fn list_due_idempotency_records(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<IdempotencyRecord>, QueryError> {
        self.pool()
            .read(move |session| {
                let lease = Due::new(now, REQUEST_LEASE);
                let rows = due(Due::new(now, MAX_PAUSE), limit, |from, until, most| {
                    Ok(session.rows(due_idempotency_records(lease, from, until, most))?)
                })?;
                Ok(work(rows, limit, |row| format!("{}/{}", row.account_id, row.resource_id), idempotency::read))
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

    async fn list_accounts(&self, kyc: Option<Kyc>, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
        match kyc {
            Some(kyc) => self.page(accounts_with_kyc(kyc, page), Account::read, page).await,
            None => self.page(accounts_page(page), Account::read, page).await,
        }
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

    async fn system_balance(&self, account: &SystemAccount) -> Result<Money, QueryError> {
        let holder = LedgerAccount::System(account.clone(), 0).holder();
        self.pool()
            .read(move |session| {
                let query = balances::table.filter(balances::holder.eq(holder));
                let rows = session.rows::<i64>(query.select(balances::amount))?.into_iter();
                Money::sum(rows.map(Money::from_centavos)).map_err(|error| Fault::Corrupt(format!("balances: {error}")))
            })
            .await
    }
}

#[async_trait]
impl CallbackQueries for Persistence {
    async fn list_due_callbacks(&self, now: Timestamp, limit: u32) -> Result<Vec<Callback>, QueryError> {
        self.due(due_callbacks, Callback::read, now, limit).await
    }

    async fn find_named_callback(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Callback>, QueryError> {
        self.find(named_callback(acquirer.to_string(), names.to_vec()), Callback::read).await
    }

    async fn list_unmatched_callbacks(&self, page: PageRequest<CallbackId>) -> Result<Page<Callback>, QueryError> {
        self.page(unmatched_callbacks(page), Callback::read, page).await
    }

    async fn count_callbacks(&self) -> Result<CallbackCounts, QueryError> {
        const OPEN: &str = "SELECT acquirer, count(*), count(*) FROM \
             (SELECT acquirer FROM callbacks WHERE due_at IS NOT NULL LIMIT ?) AS n GROUP BY acquirer";
        const UNMATCHED: &str =
            "SELECT acquirer, count(*), count(*) FROM callbacks WHERE state = 'unmatched' GROUP BY acquirer";
        self.pool()
            .read(move |session| {
                let mut count = |query: &Query<'_>| -> Result<BTreeMap<AcquirerName, u64>, Fault> {
                    let rows: Vec<(String, i64, i64)> = session.load(query)?;
                    rows.into_iter()
                        .map(|(name, count, _)| {
                            Ok((acquirer("callbacks", &name)?, u64::try_from(count).unwrap_or_default()))
                        })
                        .collect()
                };
                let open = count(&Query::new(OPEN).bind(CallbackCounts::MOST_OPEN))?;
                Ok(CallbackCounts { open, unmatched: count(&Query::new(UNMATCHED))? })
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
        list(&charges_of_payer(fresh(), String::new(), first()), "'acc_a', '00007', 51"),
        list(&overdue_charges(start(), 1), "9000, 51"),
        list(&due_idempotency_records(Due::new(start(), REQUEST_LEASE), 0, 0, 0), "9000, 9000, 0, 9000, 51"),
        list(&accounts_page(first()), "'~', 51"),
        list(&accounts_with_kyc(Kyc::Pending, first()), "'~', 51"),
        list(&keys_of(fresh()), "'acc_a', 51"),
        list(&due_callbacks(0, 0, 0), "0, 9000, 51"),
        list(&named_callback(String::new(), Vec::new()), "'received 7', 'main', 1"),
        list(&unmatched_callbacks(first()), "'~', 51"),
    ]
}
