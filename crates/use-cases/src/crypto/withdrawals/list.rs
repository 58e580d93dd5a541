//! Lists an account's withdrawals. The newest come first.

use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::ids::{AccountId, CryptoWithdrawalId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::upstream_order;

/// Returns a page of the account's withdrawals as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<CryptoWithdrawalId>,
) -> Result<Page<Withdrawal>, ListError> {
    upstream_order::list(ports, account, page, ports.queries.list_crypto_withdrawals(account, page)).await
}
