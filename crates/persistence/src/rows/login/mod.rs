//! Rows of users, sessions and confirmations of the dashboard.

pub(crate) mod confirmation;
pub(crate) mod session;
pub(crate) mod user;

use cais_domain::ids::AccountId;

use super::id;
use crate::error::Fault;

/// Returns the account of a merchant; `None` for an operator.
fn parse_account(table: &str, account: Option<&str>) -> Result<Option<AccountId>, Fault> {
    account.map(|account| id(table, account)).transpose()
}
