//! Disables an endpoint that is gone or has failed for days. The change publishes one event.

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::{DisabledReason, Endpoint, EndpointError, EndpointStep, is_failing_for_good};
use cais_ports::NewEvent;

use super::records::{queue, update};
use crate::ports::Ports;
use crate::store_error::{StoreError, commit_unless_stale};

/// Disables an endpoint. `called` is the endpoint as it was read with the failed delivery. The endpoint stays active in
/// two cases:
/// - The merchant changed the endpoint since then. The next failure can disable it.
/// - The reason is `Failing`, and the endpoint accepted a delivery since then, from any node.
///
/// Returns `true` if this call disabled the endpoint.
pub(super) async fn disable(ports: &Ports, called: &Endpoint, reason: DisabledReason) -> Result<bool, StoreError> {
    let found = ports.queries.find_endpoint(called.account, called.id).await?;
    let Some(endpoint) = found.filter(|found| found.version == called.version) else { return Ok(false) };
    let now = ports.clock.now();
    // The claim read the start of the failures up to one lease ago, so the start is read again.
    if reason == DisabledReason::Failing
        && !is_failing_for_good(ports.queries.failing_since(queue(&endpoint)).await?, now)
    {
        return Ok(false);
    }
    let disabled = match endpoint.disable(reason, now) {
        Ok(EndpointStep::Taken(disabled)) => *disabled,
        Ok(EndpointStep::AlreadyTaken(_)) | Err(EndpointError::Deleted) => return Ok(false),
    };
    let mut change = update(&disabled, now);
    change.events.push(NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: disabled.account,
        kind: EventType::WebhookEndpointDisabled,
        at: now,
        resource: disabled.id.to_string(),
        data: ports.representation.endpoint(&disabled),
        postback: None,
    });
    commit_unless_stale(ports, change).await
}
