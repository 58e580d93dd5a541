//! Limits exports, the files with all rows of a list, to one unfinished file per account. The API and the dashboard
//! share the limit.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use cais_domain::ids::AccountId;

/// The accounts with an unfinished file. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ExportPlaces(Arc<Mutex<HashSet<AccountId>>>);

impl ExportPlaces {
    /// Reserves the account's place until the value is dropped. Returns `None` if the account has an unfinished file.
    #[must_use]
    pub fn enter(&self, account: AccountId) -> Option<ExportPlace> {
        let is_free = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(account);
        is_free.then(|| ExportPlace { places: self.clone(), account })
    }
}

/// The permission of an account to make one export. When the value is dropped, the account can make the next export.
#[derive(Debug)]
pub struct ExportPlace {
    places: ExportPlaces,
    account: AccountId,
}

impl Drop for ExportPlace {
    fn drop(&mut self) {
        self.places.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.account);
    }
}
