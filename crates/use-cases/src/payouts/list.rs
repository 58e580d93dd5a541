//! Lists an account's payouts. The newest come first.

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::Payout;
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::upstream_order;

/// Returns a page of the account's payouts as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(ports: &Ports, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, ListError> {
    upstream_order::list(ports, account, page, ports.queries.list_payouts(account, page)).await
}
