//! The simulated institution: its identity, and its state (the books) with the journal. Only [`Store::commit`] changes the books.

use std::{
    io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use cais_domain::money::Money;
use jiff::SignedDuration;
use tokio::sync::Notify;

use crate::{
    clock::Clock,
    crypto::{Amount, Crypto, coins::COINS, state::CryptoChange},
    dialect::Dialects,
    faults::Faults,
    journal::{Identity, Journal},
    pix::oauth::Tokens,
    ptax::Ptax,
    random_ids::NoEntropy,
    requests::Requests,
    state::{Books, Inconsistent, change::Change},
    woovi::Woovi,
};

/// The reason why a change did not take effect.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The journal cannot be written, or the simulator was stopped.
    #[error("the journal could not be written")]
    Journal(#[from] io::Error),
    /// The change contradicts the state. The cause is a defect of the simulator.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// The system returned no random bytes for a new id.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// The books with their journal.
#[derive(Debug)]
pub struct Store {
    books: Books,
    journal: Journal,
}

impl Store {
    /// Returns the books, for reading.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Writes a change to the journal and applies it.
    ///
    /// # Errors
    /// [`StoreError::Journal`] if the change could not be written; then the state is unchanged. [`StoreError::Inconsistent`] if the change
    /// contradicts the state; then the journal already has its line.
    pub fn commit(&mut self, change: Change) -> Result<(), StoreError> {
        self.journal.append(&change)?;
        Ok(self.books.apply(change)?)
    }
}

/// The shared state of the server's threads.
pub struct Psp {
    /// Credentials and Pix key.
    pub identity: Identity,
    /// The server's address, such as `127.0.0.1:8080`. The location of every charge begins with it.
    pub host: String,
    /// The merchant's name and city, for the BR Codes.
    pub merchant: (String, String),
    /// The simulator's clock. All recorded instants come from it.
    pub clock: Clock,
    /// The issued access tokens.
    pub tokens: Tokens,
    /// The current faults.
    pub faults: Faults,
    /// The dialect of the API Pix that the tester set.
    pub dialects: Dialects,
    /// The crypto processor, without its stored state.
    pub crypto: Crypto,
    /// The rates and the calendar of the PTAX service.
    pub ptax: Ptax,
    /// The API of Woovi, without its stored state.
    pub woovi: Woovi,
    /// The counts of requests by operation.
    pub requests: Requests,
    /// The time that a sent Pix stays `EM_PROCESSAMENTO`, unless the recipient's key sets another time.
    pub payout_settles_after: SignedDuration,
    /// Wakes [`crate::settlement::settle_on_time`] when an object with a due time was added, or the clock was moved.
    pub settlement_wakeup: Notify,
    /// Wakes the sender of callbacks when a callback is due.
    pub callback_wakeup: Notify,
    store: RwLock<Store>,
}

impl Psp {
    /// Creates the institution.
    #[must_use]
    pub fn new(
        identity: Identity,
        host: String,
        merchant: (String, String),
        payout_settles_after: SignedDuration,
        (journal, books): (Journal, Books),
    ) -> Self {
        Self {
            crypto: Crypto::new(&identity.client_secret),
            woovi: Woovi::new(&identity.client_secret),
            identity,
            host,
            merchant,
            clock: Clock::default(),
            tokens: Tokens::default(),
            faults: Faults::default(),
            dialects: Dialects::default(),
            ptax: Ptax::default(),
            requests: Requests::default(),
            payout_settles_after,
            settlement_wakeup: Notify::new(),
            callback_wakeup: Notify::new(),
            store: RwLock::new(Store { books, journal }),
        }
    }

    /// Locks the state for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state for changes. The lock blocks all other work, so hold it briefly.
    pub fn write(&self) -> RwLockWriteGuard<'_, Store> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the account's opening balance, unless a balance was set before. An old state file may have movements without a balance; these
    /// are added to the opening balance.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_account(&self, opening: Money) -> Result<(), StoreError> {
        let mut store = self.write();
        let funds = store.books().funds();
        if funds.is_open() {
            return Ok(());
        }
        let balance = funds.balance().checked_add(opening).unwrap_or(opening);
        store.commit(Change::BalanceSet { balance })
    }

    /// Sets the opening balances of the account at the crypto processor, one per coin, unless the account has balances.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_crypto_account(&self) -> Result<(), StoreError> {
        let mut store = self.write();
        if !store.books().crypto().balances().is_empty() {
            return Ok(());
        }
        let balances = COINS.iter().map(|coin| (coin.code.into(), Amount::constant(coin.balance))).collect();
        store.commit(Change::Crypto(Box::new(CryptoChange { balances, ..CryptoChange::default() })))
    }

    /// Returns the URL of the webhook for the account's Pix key, if any.
    #[must_use]
    pub fn webhook_url(&self, store: &Store) -> Option<Arc<str>> {
        store.books().find_webhook(&self.identity.pix_key).map(|webhook| webhook.url.clone())
    }

    /// Wakes the senders of callbacks and of Woovi's webhooks.
    pub fn wake_callbacks(&self) {
        self.callback_wakeup.notify_one();
        self.woovi.wakeup.notify_one();
    }

    /// Refuses all further changes and closes the state file.
    pub fn close(&self) {
        self.write().journal = Journal::Closed;
    }
}
