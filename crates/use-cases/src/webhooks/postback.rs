//! Resolves the `postback_url` of a charge or crypto deposit to an endpoint. The endpoint receives the events of that
//! charge or deposit, as the subscribed endpoints do.

use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{Endpoint, Postback, WebhookUrl};

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Returns the account's active endpoint at `url`. Returns `None` if there is no such endpoint, or this service refuses
/// to call the address.
///
/// # Errors
/// [`StoreError`].
pub async fn resolve(ports: &Ports, account: AccountId, url: &str) -> Result<Option<Postback>, StoreError> {
    let Ok(url) = WebhookUrl::parse(url) else { return Ok(None) };
    // The address was permitted when it was registered. The rules may be stricter now, so the address is checked again.
    if ports.webhooks.permits(&url).is_err() {
        return Ok(None);
    }
    let endpoint = ports.queries.find_endpoint_by_url(account, &url).await?;
    Ok(endpoint.filter(Endpoint::is_active).map(|endpoint| Postback { endpoint: endpoint.id, url }))
}
