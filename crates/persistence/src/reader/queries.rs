//! The query ports: each read as one statement, the same text on both engines.

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

use super::page::{after, cut, due, one_more, with_spare, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::account::{self, account_columns};
use crate::rows::charge::{self, charge_columns};
use crate::rows::claim::{self, claim_columns};
use crate::rows::key::{self, key_columns};
use crate::rows::{acquirer, notice, payment};
use crate::sql::Query;

/// A list of keys has at most so many.
const MAX_KEYS: u32 = 200;

const CHARGES: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM charges AS c WHERE c.account_id = ? AND c.id < ? AND c.status NOT IN ('creating', 'abandoned') ORDER BY c.id DESC LIMIT ?"
);
const OVERDUE_CHARGES: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM charges AS c WHERE c.status = 'pending' AND c.expires_at < ? ORDER BY c.expires_at, c.id LIMIT ?"
);
const ACCOUNTS: &str =
    concat!("SELECT ", account_columns!(), " FROM accounts AS a WHERE a.id < ? ORDER BY a.id DESC LIMIT ?");
const KEYS: &str =
    concat!("SELECT ", key_columns!(), " FROM api_keys AS k WHERE k.account_id = ? ORDER BY k.id DESC LIMIT ?");
/// Finds an open or unmatched notice by its names. The first condition is the condition of the index.
const NAMED_NOTICES: &str = " FROM notices WHERE state <> 'done' AND body = ? AND acquirer = ? LIMIT 1";
const UNMATCHED_NOTICES: &str = " FROM notices WHERE state = 'unmatched' AND id < ? ORDER BY id DESC LIMIT ?";

fn due_claims_text(compared: &str) -> String {
    const HEAD: &str = concat!(
        "SELECT ",
        claim_columns!(),
        " FROM idempotency_claims AS c WHERE c.due_at IS NOT NULL AND (c.lease_until <= ? OR c.lease_until > ?) \
         AND c.answer_status IS NULL AND c.due_at "
    );
    format!("{HEAD}{compared} ? ORDER BY c.due_at, c.account_id, c.key LIMIT ?")
}

fn due_notices_text(compared: &str) -> String {
    let columns = notice::COLUMNS;
    format!(
        "SELECT {columns} FROM notices WHERE due_at IS NOT NULL AND due_at {compared} ? ORDER BY due_at, id LIMIT ?"
    )
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
                let columns = payment::COLUMNS;
                let text =
                    format!("SELECT {columns} FROM payments AS p WHERE p.account_id = ? AND p.end_to_end_id = ?");
                let query = Query::new(text).bind(account).bind(end_to_end_id.as_str());
                session.payments(&query)?.pop().map(payment::read).transpose()
            })
            .await
    }

    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(CHARGES).bind(account).bind(after(page)).bind(one_more(page));
            session.charges(&query)?.into_iter().map(charge::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_overdue_charges(&self, before: Timestamp, limit: u32) -> Result<Vec<Charge>, QueryError> {
        self.pool()
            .read(move |session| {
                let rows = session.charges(&Query::new(OVERDUE_CHARGES).bind(before).bind(with_spare(limit)))?;
                Ok(work(rows, limit, |((account, id, ..), ..)| format!("{account}/{id}"), charge::read))
            })
            .await
    }
}

#[async_trait]
impl ReservationQueries for Persistence {
    async fn find_owner(&self, key: &ReservationKey) -> Result<Option<String>, QueryError> {
        let key = key.clone();
        self.pool()
            .read(move |session| {
                let query = match key.within() {
                    Some(account) => Query::new(
                        "SELECT account_id, space, value, owner FROM account_reservations WHERE account_id = ? AND space = ? AND value = ?",
                    )
                    .bind(account),
                    None => Query::new("SELECT account_id, space, value, owner FROM global_reservations WHERE space = ? AND value = ?"),
                };
                let rows = session.quads(&query.bind(key.space()).bind(key.value()))?;
                Ok(rows.into_iter().next().map(|(.., owner)| owner))
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
                let rows = due(Due::new(now, MAX_PAUSE), limit, |compared, bound, most| {
                    let query = Query::new(due_claims_text(compared)).bind(lease.now()).bind(lease.beyond());
                    Ok(session.claims(&query.bind(bound).bind(most))?)
                })?;
                Ok(work(rows, limit, |(account, _, _, resource, ..)| format!("{account}/{resource}"), claim::read))
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
        const TEXT: &str = concat!("SELECT ", account_columns!(), " FROM accounts AS a WHERE a.email = ?");
        let email = email.to_owned();
        self.pool()
            .read(move |session| {
                session.accounts(&Query::new(TEXT).bind(email.as_str()))?.pop().map(account::read).transpose()
            })
            .await
    }

    async fn list_accounts(&self, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(ACCOUNTS).bind(after(page)).bind(one_more(page));
            session.accounts(&query)?.into_iter().map(account::read).collect()
        });
        Ok(cut(rows.await?, page))
    }
}

#[async_trait]
impl KeyQueries for Persistence {
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError> {
        self.by_id().key(prefix.clone()).await
    }

    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError> {
        self.pool()
            .read(move |session| {
                let query = Query::new(KEYS).bind(account).bind(MAX_KEYS);
                session.keys(&query)?.into_iter().map(key::read).collect()
            })
            .await
    }
}

#[async_trait]
impl BalanceQueries for Persistence {
    async fn balances(&self, account: AccountId) -> Result<Balances, QueryError> {
        self.pool()
            .read(move |session| {
                let query = Query::new(
                    "SELECT holder, bucket, amount, entries, last_entry_id, taken FROM balances WHERE holder = ?",
                )
                .bind(account);
                let mut balances = Balances::default();
                for (_, bucket, amount, ..) in session.balances(&query)? {
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
        self.pool()
            .read(move |session| {
                let rows = due(Due::new(now, MAX_PAUSE), limit, |compared, bound, most| {
                    Ok(session.notices(&Query::new(due_notices_text(compared)).bind(bound).bind(most))?)
                })?;
                Ok(work(rows, limit, |(id, ..)| id.clone(), notice::read))
            })
            .await
    }

    async fn find_notice(&self, id: NoticeId) -> Result<Option<Notice>, QueryError> {
        self.pool()
            .read(move |session| {
                let text = format!("SELECT {} FROM notices WHERE id = ?", notice::COLUMNS);
                session.notices(&Query::new(text).bind(id))?.pop().map(notice::read).transpose()
            })
            .await
    }

    async fn find_named_notice(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Notice>, QueryError> {
        let (acquirer, names) = (acquirer.clone(), names.to_vec());
        self.pool()
            .read(move |session| {
                let text = format!("SELECT {}{NAMED_NOTICES}", notice::COLUMNS);
                let query = Query::new(text).bind(names.as_slice()).bind(acquirer.as_str());
                session.notices(&query)?.pop().map(notice::read).transpose()
            })
            .await
    }

    async fn list_unmatched_notices(&self, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError> {
        let rows = self.pool().read(move |session| {
            let text = format!("SELECT {}{UNMATCHED_NOTICES}", notice::COLUMNS);
            let query = Query::new(text).bind(after(page)).bind(one_more(page));
            session.notices(&query)?.into_iter().map(notice::read).collect()
        });
        Ok(cut(rows.await?, page))
    }

    async fn count_notices(&self) -> Result<NoticeCounts, QueryError> {
        const OPEN: &str = "SELECT acquirer, count(*), count(*) FROM \
             (SELECT acquirer FROM notices WHERE due_at IS NOT NULL LIMIT ?) AS n GROUP BY acquirer";
        const UNMATCHED: &str =
            "SELECT acquirer, count(*), count(*) FROM notices WHERE state = 'unmatched' GROUP BY acquirer";
        self.pool()
            .read(move |session| {
                let mut count = |query: &Query<'_>| -> Result<BTreeMap<AcquirerName, u64>, Fault> {
                    let rows = session.differences(query)?.into_iter();
                    rows.map(|(name, count, _)| {
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
    vec![
        (CHARGES.to_owned(), "'acc_a', '~', 51"),
        (OVERDUE_CHARGES.to_owned(), "9000, 51"),
        (due_claims_text("<="), "9000, 9000, 9000, 51"),
        (due_claims_text(">"), "9000, 9000, 9000, 51"),
        (ACCOUNTS.to_owned(), "'~', 51"),
        (KEYS.to_owned(), "'acc_a', 51"),
        (due_notices_text("<="), "9000, 51"),
        (due_notices_text(">"), "9000, 51"),
        (format!("SELECT {}{NAMED_NOTICES}", notice::COLUMNS), "'received 7', 'main'"),
        (format!("SELECT {}{UNMATCHED_NOTICES}", notice::COLUMNS), "'~', 51"),
    ]
}
