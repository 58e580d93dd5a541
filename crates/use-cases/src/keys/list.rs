//! Lists the API keys of an account. Secrets are never listed.

use cais_ports::{ApiKeyRecord, KeyUse};

use crate::Ports;
use crate::accounts::{AccountEmail, ChangeAccountError, update};
use crate::store_error::StoreError;

/// Returns the newest keys of the account, at most 200. The newest come first.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn list(ports: &Ports, email: &AccountEmail) -> Result<Vec<ApiKeyRecord>, ChangeAccountError> {
    let account = update::get(ports, email).await?;
    Ok(ports.queries.list_keys(account.id).await.map_err(StoreError::from)?)
}

/// Returns the last uses of the newest keys of the account that owns `keys`, at most 200. Keys that were never used are
/// left out. If `keys` is empty, the result is empty.
///
/// # Errors
/// [`StoreError`].
pub async fn uses(ports: &Ports, keys: &[ApiKeyRecord]) -> Result<Vec<KeyUse>, StoreError> {
    let Some(key) = keys.first() else { return Ok(Vec::new()) };
    Ok(ports.queries.list_key_uses(key.account).await?)
}
