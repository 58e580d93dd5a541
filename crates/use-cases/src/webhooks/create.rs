//! Registering an endpoint: its address is judged, its secret made, and its place among the account's endpoints taken.

use cais_domain::account::{Account, NotPermitted};
use cais_domain::ids::{AccountId, EndpointId};
use cais_domain::text::Text;
use cais_domain::webhook::{Endpoint, MAX_ENDPOINTS, NewEndpoint, Subscription, WebhookUrl};
use cais_ports::{ChangeSet, CommitError, PageRequest, ReservationKey, SigningSecret, UrlRefusal, Write};

use super::records::{new_secret, of, slot_key, stored, url_key};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// What a merchant asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateEndpoint {
    /// Where it is.
    pub url: WebhookUrl,
    /// What it wants.
    pub subscription: Subscription,
    /// What people call it.
    pub description: Option<Text>,
}

/// Why no endpoint was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateEndpointError {
    /// The account may not write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// This service does not call the address.
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// Another endpoint of the account has the address.
    #[error("is registered already")]
    UrlTaken,
    /// The account has as many as it may have.
    #[error("an account has at most {MAX_ENDPOINTS} webhook endpoints")]
    LimitReached,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Makes an endpoint; its secret is shown this once.
///
/// # Errors
/// [`CreateEndpointError`]; the checks come in the order of its variants, but names are resolved only for who has a place left.
pub async fn create(
    ports: &Ports,
    account: &Account,
    asked: CreateEndpoint,
) -> Result<(Endpoint, SigningSecret), CreateEndpointError> {
    account.permit_write()?;
    ports.webhooks.permits(&asked.url)?;
    let slots = free_slots(ports, account.id).await?;
    if slots.is_empty() {
        return Err(nothing_left(ports, account.id, &asked.url).await?);
    }
    ports.webhooks.vet(&asked.url).await?;
    let id = EndpointId::new(ports.ids.next_uuid());
    let secret = new_secret(ports);
    let sealed = ports.secret_cipher.encrypt(&id.to_string(), &secret).map_err(Trouble::from)?;
    let CreateEndpoint { url, subscription, description } = asked;
    let new = NewEndpoint { id, url, subscription, description, secret: sealed };
    let now = ports.clock.now();
    // A place is reserved, so that however many are made at once there are never more than there are places.
    for slot in slots {
        let endpoint = Endpoint::new(account.id, slot, new.clone(), now);
        match ports.store.commit(first_commit(&endpoint)).await {
            Ok(_) => return Ok((stored(endpoint), secret)),
            // Another call took the place just now.
            Err(CommitError::Taken { key: ReservationKey::EndpointSlot(..), .. }) => {}
            Err(CommitError::Taken { key: ReservationKey::EndpointUrl(..), .. }) => {
                return Err(CreateEndpointError::UrlTaken);
            }
            Err(error) => return Err(Trouble::from(error).into()),
        }
    }
    Err(nothing_left(ports, account.id, &new.url).await?)
}

/// Why there is no endpoint where there is no place for one.
async fn nothing_left(ports: &Ports, account: AccountId, url: &WebhookUrl) -> Result<CreateEndpointError, Trouble> {
    let taken = ports.queries.find_owner(&url_key(account, url)).await?;
    Ok(taken.map_or(CreateEndpointError::LimitReached, |_| CreateEndpointError::UrlTaken))
}

/// The places that no endpoint of the account had a moment ago, in order.
async fn free_slots(ports: &Ports, account: AccountId) -> Result<Vec<u8>, Trouble> {
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let taken: Vec<u8> =
        ports.queries.list_endpoints(account, all).await?.rows.iter().map(|endpoint| endpoint.slot).collect();
    Ok((0..MAX_ENDPOINTS).filter(|slot| !taken.contains(slot)).collect())
}

fn first_commit(endpoint: &Endpoint) -> ChangeSet {
    let mut change = ChangeSet::new(endpoint.created_at);
    change.reserve.push(of(endpoint, url_key(endpoint.account, &endpoint.url)));
    change.reserve.push(of(endpoint, slot_key(endpoint.account, endpoint.slot)));
    change.writes.push(Write::InsertEndpoint(Box::new(endpoint.clone())));
    change
}
