//! Keeps the newest lists of currencies in memory. A list needs about thirty requests to the processor and the source
//! of rates, while callers may request the list many times per second.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cais_domain::merchant::account::Account;
use cais_domain::rate::Percentage;
use futures_util::lock::Mutex;

use super::currencies::{self, LiveCurrency};
use super::{CryptoSources, CryptoUnavailable};
use crate::ports::Ports;

/// The largest age of a list that is returned. An outdated minimum in the list does no harm, because each quote reads
/// the minimum again.
const MAX_AGE: Duration = Duration::from_secs(10);

/// A list, or the reason why it could not be read. The instant is the end of the read.
type Read = (Instant, Result<Vec<LiveCurrency>, CryptoUnavailable>);

/// The newest list for each spread, because the spread changes the minimums in BRL. The key `None` is the configured
/// spread. Only one list is read at a time, and callers with the same spread share the result. Clones share the lists.
#[derive(Debug, Clone, Default)]
pub struct RecentCurrencies(Arc<Mutex<BTreeMap<Option<Percentage>, Read>>>);

impl RecentCurrencies {
    /// Returns the currencies with their minimums at the account's rates. The list, or the error, is at most `MAX_AGE`
    /// old.
    ///
    /// # Errors
    /// [`CryptoUnavailable`] if no price could be read.
    pub async fn list(
        &self,
        ports: &Ports,
        sources: &CryptoSources,
        account: &Account,
    ) -> Result<Vec<LiveCurrency>, CryptoUnavailable> {
        let mut recent = self.0.lock().await;
        recent.retain(|_, (at, _)| at.elapsed() < MAX_AGE);
        if let Some((_, result)) = recent.get(&account.crypto_spread) {
            return result.clone();
        }
        let result = currencies::list(ports, sources, account).await;
        recent.insert(account.crypto_spread.clone(), (Instant::now(), result.clone()));
        result
    }
}
