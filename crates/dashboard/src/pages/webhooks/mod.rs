//! Webhook endpoints and their deliveries.

pub(crate) mod actions;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deliveries;
mod fields;
mod health;
pub(crate) mod list;
mod refusals;
pub(crate) mod rotate;
pub(crate) mod show;

pub(crate) use refusals::send_again_refused;

use cais_domain::ids::EndpointId;
use cais_domain::merchant::webhook::Endpoint;
use cais_use_cases::webhooks::list as endpoints;

use crate::failure::Failure;
use crate::page_context::PageContext;

fn parse(id: &str) -> Result<EndpointId, Failure> {
    EndpointId::parse(id).map_err(|_| Failure::NotFound)
}

/// Returns the merchant's endpoint with this id, unless it is deleted.
async fn find_endpoint(context: &PageContext, id: &str) -> Result<Endpoint, Failure> {
    let (_, account) = context.merchant()?;
    let id = parse(id)?;
    endpoints::find(context.ports(), account, id).await?.ok_or(Failure::NotFound)
}
