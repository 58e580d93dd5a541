//! The numbers of records that wait for an operator.

use cais_domain::merchant::account::Kyc;
use cais_ports::PageRequest;

use crate::failure::Failure;
use crate::page_context::PageContext;

/// The largest number that is shown exactly.
const MOST: u32 = 50;

/// The numbers as texts; `50+` for more than 50.
pub(super) struct Waiting {
    pub(super) accounts: String,
    pub(super) infractions: String,
    pub(super) crypto: String,
    pub(super) callbacks: String,
}

/// Counts the records. Each query has a limit of rows.
pub(super) async fn read(context: &PageContext) -> Result<Waiting, Failure> {
    let (queries, more) = (&context.ports().queries, MOST.saturating_add(1));
    let page = PageRequest { limit: more, starting_after: None };
    let accounts = queries.list_accounts(Some(Kyc::Pending), page).await?.rows.len();
    let page = PageRequest { limit: more, starting_after: None };
    let infractions = queries.list_infractions_for_review(page).await?.rows.len();
    let payments = queries.list_payments_for_review(more).await?.len();
    let withdrawals = queries.list_withdrawals_for_review(more).await?.len();
    let page = PageRequest { limit: more, starting_after: None };
    let callbacks = queries.list_unmatched_callbacks(page).await?.rows.len();
    Ok(Waiting {
        accounts: shown(accounts),
        infractions: shown(infractions),
        crypto: shown(payments.saturating_add(withdrawals)),
        callbacks: shown(callbacks),
    })
}

fn shown(count: usize) -> String {
    let most = usize::try_from(MOST).unwrap_or(usize::MAX);
    if count > most { format!("{most}+") } else { count.to_string() }
}
