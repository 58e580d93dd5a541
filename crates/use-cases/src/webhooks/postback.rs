//! The endpoint that a charge names for its events, besides those that are subscribed.

use cais_domain::ids::AccountId;
use cais_domain::webhook::{Endpoint, Postback, WebhookUrl};

use crate::ports::Ports;
use crate::trouble::Trouble;

/// The account's active endpoint at `url`, as a charge keeps it. `None` when there is none, or this service does not call the address.
///
/// # Errors
/// [`Trouble`].
pub async fn resolve(ports: &Ports, account: AccountId, url: &str) -> Result<Option<Postback>, Trouble> {
    let Ok(url) = WebhookUrl::parse(url) else { return Ok(None) };
    // It was allowed when it was registered; a rule that was tightened since counts all the same.
    if ports.webhooks.permits(&url).is_err() {
        return Ok(None);
    }
    let endpoint = ports.queries.find_endpoint_by_url(account, &url).await?;
    Ok(endpoint.filter(Endpoint::is_active).map(|endpoint| Postback { endpoint: endpoint.id, url }))
}
