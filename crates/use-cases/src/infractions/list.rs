//! Reads stored infractions, for merchants and operators.

use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_ports::{InfractionFilter, Page, PageRequest};

use crate::ports::Ports;
use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's infractions, newest first. If `status` is `None`, infractions of every status are
/// listed.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    status: Option<InfractionStatus>,
    page: PageRequest<InfractionId>,
) -> Result<Page<Infraction>, ListError> {
    if let Some(cursor) = page.starting_after
        && find(ports, account, cursor).await?.is_none()
    {
        return Err(ListError::UnknownCursor);
    }
    let filter = InfractionFilter { account: Some(account), status };
    Ok(ports.queries.list_infractions(filter, page).await.map_err(StoreError::from)?)
}

/// Returns the account's infraction with this id.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: InfractionId) -> Result<Option<Infraction>, StoreError> {
    Ok(ports.queries.find_infraction(account, id).await?)
}

/// Returns a page of the infractions of one account, or of all accounts, for an operator. The newest come first.
///
/// # Errors
/// [`StoreError`].
pub async fn list_for_operator(
    ports: &Ports,
    filter: InfractionFilter,
    page: PageRequest<InfractionId>,
) -> Result<Page<Infraction>, StoreError> {
    Ok(ports.queries.list_infractions(filter, page).await?)
}

/// Returns a page of the infractions that an operator must decide. The newest come first.
///
/// # Errors
/// [`StoreError`].
pub async fn list_for_review(ports: &Ports, page: PageRequest<InfractionId>) -> Result<Page<Infraction>, StoreError> {
    Ok(ports.queries.list_infractions_for_review(page).await?)
}

/// Returns the infraction with this id for an operator, whichever account has it.
///
/// # Errors
/// [`StoreError`].
pub async fn find_for_operator(ports: &Ports, id: InfractionId) -> Result<Option<Infraction>, StoreError> {
    Ok(ports.queries.find_infraction_of_any(id).await?)
}
