//! The newest lists of currencies. A list costs some thirty requests to other companies, and a caller may request the
//! list ten times a second.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::merchant::account::Account;
use cais_domain::rate::Percentage;
use cais_use_cases::Ports;
use cais_use_cases::crypto::currencies::{self, LiveCurrency};
use cais_use_cases::crypto::{CryptoSources, CryptoUnavailable};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The age up to which a list is served. The minimums are informative: a quote reads them again.
const MAX_AGE: Duration = Duration::from_secs(10);

/// A list or the reason of its failure, with the instant at which the reading ended.
type Read = (Instant, Result<Vec<LiveCurrency>, CryptoUnavailable>);

/// The newest list for each spread. Lists are read one at a time, and waiting callers share them.
#[derive(Debug, Default)]
pub struct RecentCurrencies(Mutex<BTreeMap<Option<Percentage>, Read>>);

impl RecentCurrencies {
    /// Returns the currencies with the prices of an account, at most `MAX_AGE` old.
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
