//! Resolves the endpoint that a charge names for its events, besides the subscribed endpoints.

use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{Endpoint, Postback, WebhookUrl};

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Returns the account's active endpoint at `url`. `None`: no such endpoint exists, or this service does not call the
/// address.
///
/// # Errors
/// [`StoreError`].
pub async fn resolve(ports: &Ports, account: AccountId, url: &str) -> Result<Option<Postback>, StoreError> {
    let Ok(url) = WebhookUrl::parse(url) else { return Ok(None) };
    // The address was permitted at its registration. The rules may have become stricter since, and apply now.
    if ports.webhooks.permits(&url).is_err() {
        return Ok(None);
    }
    let endpoint = ports.queries.find_endpoint_by_url(account, &url).await?;
    Ok(endpoint.filter(Endpoint::is_active).map(|endpoint| Postback { endpoint: endpoint.id, url }))
}
