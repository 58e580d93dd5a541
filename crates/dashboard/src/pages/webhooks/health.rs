//! The state of an endpoint for pages: active or not, and the result of its recent deliveries.

use cais_domain::merchant::webhook::{DisabledReason, Endpoint, EndpointState};
use cais_ports::{EndpointActivity, EndpointQueue};

use crate::failure::Failure;
use crate::format::When;
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

/// The state of an endpoint for a page.
pub(super) struct Health {
    pub(super) status: &'static str,
    pub(super) is_active: bool,
    pub(super) disabled_at: Option<When>,
    pub(super) last_success: Option<When>,
    pub(super) failing_since: Option<When>,
    pub(super) waiting: u64,
    /// `true` if `waiting` has reached [`EndpointActivity::MOST_WAITING`], where counting stops. The real number may
    /// then be higher.
    pub(super) is_counted_to_limit: bool,
}

/// Reads the state of an endpoint.
pub(super) async fn read(context: &PageContext, endpoint: &Endpoint) -> Result<Health, Failure> {
    let queue = EndpointQueue { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch };
    let queries = &context.ports().queries;
    let EndpointActivity { waiting, last_success } = queries.endpoint_activity(queue).await?;
    let failing_since = queries.failing_since(queue).await?;
    let when = |at| When::of(at, context.language);
    let disabled_at = match endpoint.state {
        EndpointState::Disabled { at, .. } => Some(when(at)),
        EndpointState::Active | EndpointState::Inactive | EndpointState::Deleted { .. } => None,
    };
    Ok(Health {
        status: status(endpoint.state, WebhookTexts::of(context.language)),
        is_active: endpoint.is_active(),
        disabled_at,
        last_success: last_success.map(when),
        failing_since: failing_since.map(when),
        waiting,
        is_counted_to_limit: waiting >= u64::from(EndpointActivity::MOST_WAITING),
    })
}

fn status(state: EndpointState, t: &'static WebhookTexts) -> &'static str {
    match state {
        EndpointState::Active => t.active,
        EndpointState::Inactive | EndpointState::Deleted { .. } => t.inactive,
        EndpointState::Disabled { reason: DisabledReason::Gone, .. } => t.disabled_gone,
        EndpointState::Disabled { reason: DisabledReason::Failing, .. } => t.disabled_failing,
    }
}
