//! Combined reads by id. For each kind of record, one statement serves all reads that arrived while the previous statements ran.
//!
//! A statement begins after its callers requested the reads, so the result includes every commit that was confirmed before the request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, ChargeId, PayoutId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::payout::Payout;
use cais_domain::txid::Txid;
use cais_ports::{ApiKeyRecord, IdempotencyRecord, IdempotencyRef, QueryError, alerts};
use tokio::sync::{mpsc, oneshot};

use crate::config::StoreConfig;
use crate::engine::{Engine, Keys, Lookup, find};
use crate::error::Fault;
use crate::rows::account::AccountRow;
use crate::rows::charge::ChargeRow;
use crate::rows::idempotency::IdempotencyRow;
use crate::rows::key::KeyRow;
use crate::rows::payout::PayoutRow;
use crate::rows::{Record as _, idempotency};
use crate::sql::table::names;
use crate::sql::{Loaded, Session};

static CHARGES: Lookup = Lookup::of(|| names::<ChargeRow<'_>>("c"), "charges AS c", "c", &["account_id", "id"]);
/// Finds charges by their txids.
static TXIDS: Lookup = Lookup::of(
    || names::<ChargeRow<'_>>("c"),
    // Both columns of the key are compared as ranges, for the reason given at [`KEYS`] below.
    "global_reservations AS r JOIN charges AS c ON c.account_id BETWEEN r.account_id AND r.account_id \
     AND c.id BETWEEN r.owner AND r.owner",
    "r",
    &["space", "value"],
);
static ACCOUNTS: Lookup = Lookup::of(|| names::<AccountRow<'_>>("a"), "accounts AS a", "a", &["id"]);
static PAYOUTS: Lookup = Lookup::of(|| names::<PayoutRow<'_>>("p"), "payouts AS p", "p", &["account_id", "id"]);
static IDEMPOTENCY_RECORDS: Lookup =
    Lookup::of(|| names::<IdempotencyRow<'_>>("c"), "idempotency_records AS c", "c", &["account_id", "key"]);
static KEYS: Lookup = Lookup::of(
    || names::<KeyRow<'_>>("k") + ", " + &names::<AccountRow<'_>>("a"),
    // A range instead of an equality. If the accounts are few when the plan is made, an equality may be planned as a read of all accounts.
    // A range is never planned so.
    "api_keys AS k JOIN accounts AS a ON a.id BETWEEN k.account_id AND k.account_id",
    "k",
    &["prefix"],
);

/// All lookups, for the test of their plans.
#[cfg(test)]
pub(crate) const LOOKUPS: [&Lookup; 6] = [&CHARGES, &TXIDS, &ACCOUNTS, &PAYOUTS, &IDEMPOTENCY_RECORDS, &KEYS];

/// The largest number of reads that are combined at once, equal to the default limit of a batch.
const MAX_READS: usize = 256;

type Waiting<K, T> = Vec<PendingRead<K, T>>;
type KeyWithAccount = (ApiKeyRecord, Account);

/// A requested key, and the channel of its caller.
struct PendingRead<K, T> {
    key: K,
    deadline: Instant,
    reply: oneshot::Sender<Result<Option<T>, QueryError>>,
}

impl<K, T> PendingRead<K, T> {
    /// Returns whether the caller still waits.
    fn is_alive(&self) -> bool {
        !self.reply.is_closed() && Instant::now() < self.deadline
    }

    fn answer(self, answer: Result<Option<T>, QueryError>) {
        // The send fails if the caller stopped waiting. Such a caller needs no result.
        let _ = self.reply.send(answer);
    }
}

/// A waiting read.
enum Read {
    Charge(PendingRead<(AccountId, ChargeId), Charge>),
    Txid(PendingRead<Txid, Charge>),
    Account(PendingRead<AccountId, Account>),
    Payout(PendingRead<(AccountId, PayoutId), Payout>),
    IdempotencyRecord(PendingRead<IdempotencyRef, IdempotencyRecord>),
    Key(PendingRead<KeyPrefix, KeyWithAccount>),
}

/// The thread that reads by id, and its queue.
pub(crate) struct Coalescer {
    /// `None` after the coalescer is closed.
    queue: RwLock<Option<mpsc::Sender<Read>>>,
    thread: RwLock<Option<JoinHandle<()>>>,
    deadline: Duration,
}

impl Coalescer {
    /// Connects and starts the thread.
    pub(crate) fn start(engine: &Arc<dyn Engine>, config: &StoreConfig) -> Result<Self, Fault> {
        let session = engine.connect_by_id()?;
        let (sender, receiver) = mpsc::channel(config.queue.max(1));
        let engine = Arc::clone(engine);
        let work = move || Worker { engine, session: Some(session) }.work(receiver);
        let thread = thread::Builder::new()
            .name("cais-reads".into())
            .spawn(work)
            .map_err(|error| Fault::Down(error.to_string()))?;
        Ok(Self { queue: RwLock::new(Some(sender)), thread: RwLock::new(Some(thread)), deadline: config.deadline })
    }

    pub(crate) async fn charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError> {
        self.ask((account, id), Read::Charge).await
    }

    pub(crate) async fn charge_by_txid(&self, txid: Txid) -> Result<Option<Charge>, QueryError> {
        self.ask(txid, Read::Txid).await
    }

    pub(crate) async fn account(&self, id: AccountId) -> Result<Option<Account>, QueryError> {
        self.ask(id, Read::Account).await
    }

    pub(crate) async fn payout(&self, account: AccountId, id: PayoutId) -> Result<Option<Payout>, QueryError> {
        self.ask((account, id), Read::Payout).await
    }

    pub(crate) async fn idempotency_record(
        &self,
        name: IdempotencyRef,
    ) -> Result<Option<IdempotencyRecord>, QueryError> {
        self.ask(name, Read::IdempotencyRecord).await
    }

    pub(crate) async fn key(&self, prefix: KeyPrefix) -> Result<Option<KeyWithAccount>, QueryError> {
        self.ask(prefix, Read::Key).await
    }

    async fn ask<K, T>(&self, key: K, read: impl FnOnce(PendingRead<K, T>) -> Read) -> Result<Option<T>, QueryError> {
        let deadline =
            Instant::now().checked_add(self.deadline).ok_or_else(|| unavailable("the deadline is out of range"))?;
        let (reply, answer) = oneshot::channel();
        self.enqueue(read(PendingRead { key, deadline, reply }))?;
        match tokio::time::timeout(self.deadline, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(unavailable("the reader has ended")),
            Err(_) => Err(unavailable("the read took too long")),
        }
    }

    fn enqueue(&self, read: Read) -> Result<(), QueryError> {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or_else(|| unavailable("the store is closed"))?;
        queue.try_send(read).map_err(|_| unavailable("too many reads are waiting, or the reader has ended"))
    }

    /// Returns whether the thread is running.
    pub(crate) fn is_open(&self) -> bool {
        self.queue.read().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|queue| !queue.is_closed())
    }

    /// Accepts no more reads, and returns when all accepted ones are answered.
    pub(crate) fn close(&self) {
        self.queue.write().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.write().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(alert = alerts::PANIC, "thread that reads by id panicked; detected while the store closes");
        }
    }
}

struct Worker {
    engine: Arc<dyn Engine>,
    session: Option<Box<dyn Session>>,
}

impl Worker {
    fn work(&mut self, mut queue: mpsc::Receiver<Read>) {
        while let Some(first) = queue.blocking_recv() {
            let (mut charges, mut txids, mut accounts) = (Vec::new(), Vec::new(), Vec::new());
            let (mut payouts, mut idempotency_records, mut keys) = (Vec::new(), Vec::new(), Vec::new());
            let mut next = Some(first);
            let mut taken = 0;
            while let Some(read) = next.take() {
                match read {
                    Read::Charge(asked) => charges.push(asked),
                    Read::Txid(asked) => txids.push(asked),
                    Read::Account(asked) => accounts.push(asked),
                    Read::Payout(asked) => payouts.push(asked),
                    Read::IdempotencyRecord(asked) => idempotency_records.push(asked),
                    Read::Key(asked) => keys.push(asked),
                }
                taken += 1;
                if taken < MAX_READS {
                    next = queue.try_recv().ok();
                }
            }
            self.charges(charges);
            self.txids(txids);
            self.accounts(accounts);
            self.payouts(payouts);
            self.idempotency_records(idempotency_records);
            self.keys(keys);
        }
    }

    fn charges(&mut self, waiting: Waiting<(AccountId, ChargeId), Charge>) {
        let key = |(account, id): &(AccountId, ChargeId)| vec![account.to_string(), id.to_string()];
        self.answer(&CHARGES, waiting, &key, &|row| {
            let charge = Charge::read(row)?;
            Ok(((charge.account, charge.id), charge))
        });
    }

    fn txids(&mut self, waiting: Waiting<Txid, Charge>) {
        let key = |txid: &Txid| vec!["txid".to_owned(), txid.to_string()];
        self.answer(&TXIDS, waiting, &key, &|row| {
            let charge = Charge::read(row)?;
            Ok((charge.txid.clone(), charge))
        });
    }

    fn accounts(&mut self, waiting: Waiting<AccountId, Account>) {
        let key = |id: &AccountId| vec![id.to_string()];
        self.answer(&ACCOUNTS, waiting, &key, &|row| {
            let account = Account::read(row)?;
            Ok((account.id, account))
        });
    }

    fn payouts(&mut self, waiting: Waiting<(AccountId, PayoutId), Payout>) {
        let key = |(account, id): &(AccountId, PayoutId)| vec![account.to_string(), id.to_string()];
        self.answer(&PAYOUTS, waiting, &key, &|row| {
            let payout = Payout::read(row)?;
            Ok(((payout.account, payout.id), payout))
        });
    }

    fn idempotency_records(&mut self, waiting: Waiting<IdempotencyRef, IdempotencyRecord>) {
        let key = |name: &IdempotencyRef| vec![name.account.to_string(), name.key.as_str().to_owned()];
        self.answer(&IDEMPOTENCY_RECORDS, waiting, &key, &|row| {
            let record = idempotency::read(row)?;
            Ok((record.name.clone(), record))
        });
    }

    fn keys(&mut self, waiting: Waiting<KeyPrefix, KeyWithAccount>) {
        let key = |prefix: &KeyPrefix| vec![prefix.as_str().to_owned()];
        self.answer(&KEYS, waiting, &key, &|(key, account)| {
            let key = ApiKeyRecord::read(key)?;
            Ok((key.prefix.clone(), (key, Account::read(account)?)))
        });
    }

    /// Reads all waiting keys at once. If a row is invalid, each half of the keys is read separately, down to single keys. So only the
    /// callers of the invalid row receive an error. If the database cannot be reached, all callers receive the error.
    fn answer<K: Hash + Eq, R: Loaded, T: Clone>(
        &mut self,
        lookup: &Lookup,
        mut waiting: Waiting<K, T>,
        key: &impl Fn(&K) -> Vec<String>,
        parse: &impl Fn(R) -> Result<(K, T), Fault>,
    ) {
        waiting.retain(PendingRead::is_alive);
        if waiting.is_empty() {
            return;
        }
        let mut keys: Keys = waiting.iter().map(|asked| key(&asked.key)).collect();
        keys.sort_unstable();
        keys.dedup();
        match self.read_all(lookup, &keys, parse) {
            Ok(found) => {
                for asked in waiting {
                    let record = found.get(&asked.key).cloned();
                    asked.answer(Ok(record));
                }
            }
            Err(Fault::Corrupt(_) | Fault::Refused(_)) if waiting.len() > 1 => {
                let others = waiting.split_off(waiting.len() / 2);
                self.answer(lookup, waiting, key, parse);
                self.answer(lookup, others, key, parse);
            }
            Err(fault) => {
                for asked in waiting {
                    asked.answer(Err(fault.clone().into()));
                }
            }
        }
    }

    /// Reads the rows. If the connection was lost, reads them again on a new connection.
    fn read_all<K: Hash + Eq, R: Loaded, T>(
        &mut self,
        lookup: &Lookup,
        keys: &[Vec<String>],
        parse: &impl Fn(R) -> Result<(K, T), Fault>,
    ) -> Result<HashMap<K, T>, Fault> {
        let was_connected = self.session.is_some();
        let rows = match self.rows(lookup, keys) {
            Err(Fault::Lost(text)) if was_connected => {
                tracing::warn!(text, "connection of the reader by id lost; it is opened again");
                self.session = None;
                self.rows(lookup, keys)
            }
            rows => rows,
        };
        if matches!(rows, Err(Fault::Lost(_) | Fault::Down(_))) {
            self.session = None;
        }
        rows?.into_iter().map(parse).collect()
    }

    fn rows<R: Loaded>(&mut self, lookup: &Lookup, keys: &[Vec<String>]) -> Result<Vec<R>, Fault> {
        let session = match &mut self.session {
            Some(session) => session,
            empty @ None => empty.insert(self.engine.connect_by_id()?),
        };
        find(&*self.engine, &mut **session, lookup, keys, false)
    }
}

fn unavailable(why: &str) -> QueryError {
    QueryError::Unavailable(why.to_owned())
}

#[cfg(test)]
mod tests;
