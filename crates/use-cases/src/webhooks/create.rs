//! Registers an endpoint: checks its address, creates its secret, and reserves one of the account's [`MAX_ENDPOINTS`]
//! slots.

use cais_domain::ids::{AccountId, EndpointId};
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_domain::merchant::webhook::{Endpoint, MAX_ENDPOINTS, NewEndpoint, Subscription, WebhookUrl};
use cais_domain::text::Text;
use cais_ports::{Actor, ChangeSet, CommitError, PageRequest, ReservationKey, SigningSecret, UrlRefusal, Write};

use super::records::{audited, new_secret, reservation, slot_key, stored, url_key};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// A merchant's request to create an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateEndpoint {
    /// The address.
    pub url: WebhookUrl,
    /// The subscribed events.
    pub subscription: Subscription,
    /// The merchant's description of the endpoint.
    pub description: Option<Text>,
}

/// The reason why no endpoint was created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateEndpointError {
    /// The account is not permitted to write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// This service refuses to call the address.
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// Another endpoint of the account has the address.
    #[error("is registered already")]
    UrlTaken,
    /// The account has the largest permitted number of endpoints.
    #[error("an account has at most {MAX_ENDPOINTS} webhook endpoints")]
    LimitReached,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an endpoint, and returns it with its secret. The secret cannot be read later.
///
/// # Errors
/// [`CreateEndpointError`]. The variants are checked in their order, with one exception: the host name of the address
/// is resolved only after a free slot was found.
pub async fn create(
    ports: &Ports,
    account: &Account,
    request: CreateEndpoint,
) -> Result<(Endpoint, SigningSecret), CreateEndpointError> {
    run(ports, None, account, request).await
}

/// Works like [`create`], for a user of the dashboard. The creation has a row in the audit log.
///
/// # Errors
/// The errors of [`create`].
pub async fn create_by(
    ports: &Ports,
    actor: &Actor,
    account: &Account,
    request: CreateEndpoint,
) -> Result<(Endpoint, SigningSecret), CreateEndpointError> {
    run(ports, Some(actor), account, request).await
}

async fn run(
    ports: &Ports,
    actor: Option<&Actor>,
    account: &Account,
    request: CreateEndpoint,
) -> Result<(Endpoint, SigningSecret), CreateEndpointError> {
    account.permit_write()?;
    ports.webhooks.permits(&request.url)?;
    let slots = free_slots(ports, account.id).await?;
    if slots.is_empty() {
        return Err(nothing_left(ports, account.id, &request.url).await?);
    }
    ports.webhooks.vet(&request.url).await?;
    let id = EndpointId::new(ports.ids.next_uuid());
    let secret = new_secret(ports);
    let sealed = ports.secret_cipher.encrypt(&id.to_string(), &secret).map_err(StoreError::from)?;
    let CreateEndpoint { url, subscription, description } = request;
    let new = NewEndpoint { id, url, subscription, description, secret: sealed };
    let now = ports.clock.now();
    // The commit reserves a slot, so that concurrent requests cannot exceed the limit.
    for slot in slots {
        let endpoint = Endpoint::new(account.id, slot, new.clone(), now);
        let mut change = first_commit(&endpoint);
        let row = |actor| audited(ports, (actor, "webhook_endpoint.create"), None, &endpoint, now);
        change.writes.extend(actor.map(row));
        match ports.store.commit(change).await {
            Ok(_) => return Ok((stored(endpoint), secret)),
            // A concurrent request reserved the slot first.
            Err(CommitError::Taken { key: ReservationKey::EndpointSlot(..), .. }) => {}
            Err(CommitError::Taken { key: ReservationKey::EndpointUrl(..), .. }) => {
                return Err(CreateEndpointError::UrlTaken);
            }
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(nothing_left(ports, account.id, &new.url).await?)
}

/// Returns the error for an account without a free slot.
async fn nothing_left(ports: &Ports, account: AccountId, url: &WebhookUrl) -> Result<CreateEndpointError, StoreError> {
    let taken = ports.queries.find_owner(&url_key(account, url)).await?;
    Ok(taken.map_or(CreateEndpointError::LimitReached, |_| CreateEndpointError::UrlTaken))
}

/// Returns the account's free slots, in ascending order. A concurrent request can reserve them before this one does.
async fn free_slots(ports: &Ports, account: AccountId) -> Result<Vec<u8>, StoreError> {
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let taken: Vec<u8> =
        ports.queries.list_endpoints(account, all).await?.rows.iter().map(|endpoint| endpoint.slot).collect();
    Ok((0..MAX_ENDPOINTS).filter(|slot| !taken.contains(slot)).collect())
}

fn first_commit(endpoint: &Endpoint) -> ChangeSet {
    let mut change = ChangeSet::new(endpoint.created_at);
    change.reserve.push(reservation(endpoint, url_key(endpoint.account, &endpoint.url)));
    change.reserve.push(reservation(endpoint, slot_key(endpoint.account, endpoint.slot)));
    change.writes.push(Write::insert(endpoint.clone()));
    change
}
