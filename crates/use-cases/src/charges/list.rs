//! Lists an account's charges, newest first.

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, ChargeId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::upstream_order;

/// Returns a page of the account's charges as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(ports: &Ports, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, ListError> {
    upstream_order::list(ports, account, page, ports.queries.list_charges(account, page)).await
}
