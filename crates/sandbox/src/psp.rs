//! The simulated institution: who it is, its books, and the one way to change them.

use std::{
    io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use cais_domain::money::Money;
use jiff::SignedDuration;
use tokio::sync::Notify;

use crate::{
    clock::Clock,
    dice::NoEntropy,
    faults::Faults,
    journal::{Identity, Journal},
    pix::oauth::Tokens,
    requests::Requests,
    state::{Books, Inconsistent, change::Change},
};

/// Why a change did not take effect.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The journal could not be written, or the simulator was stopped.
    #[error("the journal could not be written")]
    Journal(#[from] io::Error),
    /// The change did not fit; a defect of the simulator.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// No random bytes for a new id.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// The books and the journal in front of them.
#[derive(Debug)]
pub struct Store {
    books: Books,
    journal: Journal,
}

impl Store {
    /// The state.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Writes a change and carries it out.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was changed.
    pub fn commit(&mut self, change: Change) -> Result<(), StoreError> {
        self.journal.append(&change)?;
        Ok(self.books.apply(change)?)
    }
}

/// Everything that the server's threads share.
pub struct Psp {
    /// Credentials and Pix key.
    pub identity: Identity,
    /// `127.0.0.1:PORT`, the first part of every location.
    pub host: String,
    /// Merchant name and city in the BR Codes.
    pub merchant: (String, String),
    /// The only source of instants.
    pub clock: Clock,
    /// Access tokens that were handed out.
    pub tokens: Tokens,
    /// What goes wrong at the moment.
    pub faults: Faults,
    /// What was asked for.
    pub requests: Requests,
    /// How long a send stays `EM_PROCESSAMENTO` unless its key says otherwise.
    pub payout_settles_after: SignedDuration,
    /// Rung when a return or a send was asked for or the clock moved.
    pub settlement_bell: Notify,
    /// Rung when a callback fell due.
    pub callback_bell: Notify,
    store: RwLock<Store>,
}

impl Psp {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        identity: Identity,
        host: String,
        merchant: (String, String),
        payout_settles_after: SignedDuration,
        (journal, books): (Journal, Books),
    ) -> Self {
        Self {
            identity,
            host,
            merchant,
            clock: Clock::default(),
            tokens: Tokens::default(),
            faults: Faults::default(),
            requests: Requests::default(),
            payout_settles_after,
            settlement_bell: Notify::new(),
            callback_bell: Notify::new(),
            store: RwLock::new(Store { books, journal }),
        }
    }

    /// The state, to read.
    pub fn read(&self) -> RwLockReadGuard<'_, Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, to change. Hold it briefly: nothing else moves meanwhile.
    pub fn write(&self) -> RwLockWriteGuard<'_, Store> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the account its opening balance, unless it has had one. What moved before there was a balance counts too.
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

    /// Who must be told of what happens to the account now, if anybody.
    #[must_use]
    pub fn webhook_url(&self, store: &Store) -> Option<Arc<str>> {
        store.books().find_webhook(&self.identity.pix_key).map(|webhook| webhook.url.clone())
    }

    /// Refuses every further change and lets go of the state file.
    pub fn close(&self) {
        self.write().journal = Journal::Closed;
    }
}
