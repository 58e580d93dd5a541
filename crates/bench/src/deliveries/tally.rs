//! Counts the deliveries in a database, with the queries that the API uses.

use anyhow::Result;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_persistence::Persistence;
use cais_ports::{DeliveryQueries as _, EndpointQueries as _, PageRequest};

use super::preload::accounts;
use crate::database;
use crate::numbers::count;

/// The number of rows per page.
const PAGE: u32 = 200;

/// Deliveries by outcome, and their attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of successful deliveries.
    pub succeeded: u64,
    /// The number of pending, failed and cancelled deliveries.
    pub others: u64,
    /// The number of attempts of all deliveries.
    pub attempts: u64,
}

impl Tally {
    /// Counts all deliveries of the first `number` accounts in a service's database.
    ///
    /// # Errors
    /// If the store does not answer, or an account is missing.
    pub async fn of_database(url: &str, number: usize) -> Result<Self> {
        let store = database::open(url).await?;
        let accounts = accounts(&store, number).await?;
        let tally = Self::of(&store, &accounts).await?;
        store.close().await;
        Ok(tally)
    }

    /// Counts all deliveries of the accounts.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn of(store: &Persistence, accounts: &[AccountId]) -> Result<Self> {
        let mut tally = Self::default();
        for account in accounts {
            let all = PageRequest { limit: PAGE, starting_after: None };
            for endpoint in store.list_endpoints(*account, all).await?.rows {
                tally.add(store, *account, endpoint.id).await?;
            }
        }
        Ok(tally)
    }

    async fn add(&mut self, store: &Persistence, account: AccountId, endpoint: EndpointId) -> Result<()> {
        let mut starting_after: Option<DeliveryId> = None;
        loop {
            let page = store.list_deliveries(account, endpoint, PageRequest { limit: PAGE, starting_after }).await?;
            for delivery in &page.rows {
                match delivery.status {
                    DeliveryStatus::Succeeded => self.succeeded = self.succeeded.saturating_add(1),
                    DeliveryStatus::Pending | DeliveryStatus::Failed | DeliveryStatus::Cancelled => {
                        self.others = self.others.saturating_add(1);
                    }
                }
                self.attempts = self.attempts.saturating_add(count(delivery.attempts.len()));
            }
            starting_after = page.rows.last().map(|delivery| delivery.id);
            if !page.has_more {
                return Ok(());
            }
        }
    }
}
