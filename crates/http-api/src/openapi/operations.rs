//! What is said of each endpoint in the `OpenAPI` document, beyond what the table of routes knows.

mod account;
mod charges;
mod events;
mod infractions;
mod money_out;
mod parameters;
mod sandbox;
mod webhooks;

use serde_json::Value;
use utoipa::openapi::path::Parameter;

pub use parameters::in_path;

use crate::error::ErrorCode;
use crate::routes::Endpoint;

/// The type of nearly every body.
pub const JSON: &str = "application/json";

/// What is said of an endpoint.
pub struct Description {
    /// Names it in generated clients.
    pub id: &'static str,
    /// Its chapter.
    pub tag: &'static str,
    /// One line.
    pub summary: &'static str,
    /// More.
    pub details: &'static str,
    /// Parameters beyond those of the path.
    pub parameters: Vec<Parameter>,
    /// The schema and an example of its body.
    pub request: Option<(&'static str, Option<Value>)>,
    /// Its answers when all is well.
    pub answers: Vec<Success>,
    /// What goes wrong beyond what goes wrong everywhere.
    pub errors: &'static [ErrorCode],
}

/// An answer when all is well.
pub struct Success {
    /// The status.
    pub status: &'static str,
    /// When it is given.
    pub when: &'static str,
    /// What the body may be; none when there is none.
    pub bodies: Vec<Body>,
}

/// A form in which a body is sent.
pub struct Body {
    /// Its type.
    pub content_type: &'static str,
    /// The name of its schema.
    pub schema: Option<&'static str>,
    /// How it looks.
    pub example: Option<Value>,
}

fn json(status: &'static str, when: &'static str, schema: &'static str, example: Option<Value>) -> Success {
    Success { status, when, bodies: vec![Body { content_type: JSON, schema: Some(schema), example }] }
}

/// An answer without a body.
fn empty(status: &'static str, when: &'static str) -> Success {
    Success { status, when, bodies: Vec::new() }
}

/// A list as a file.
fn csv(example: Option<Value>) -> Body {
    Body { content_type: "text/csv", schema: None, example }
}

fn plain(
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    details: &'static str,
    answers: Vec<Success>,
) -> Description {
    Description { id, tag, summary, details, parameters: Vec::new(), request: None, answers, errors: &[] }
}

/// Returns the description of an endpoint, or nothing for one that merchants do not call.
pub fn describe(endpoint: Endpoint) -> Option<Description> {
    let description = match endpoint {
        Endpoint::ListCharges => charges::list_charges(),
        Endpoint::CreateCharge => charges::create_charge(),
        Endpoint::GetCharge => charges::get_charge(),
        Endpoint::CancelCharge => charges::cancel_charge(),
        Endpoint::ListRefunds => money_out::list_refunds(),
        Endpoint::CreateRefund => money_out::create_refund(),
        Endpoint::ListPayouts => money_out::list_payouts(),
        Endpoint::CreatePayout => money_out::create_payout(),
        Endpoint::GetRefund => money_out::get_refund(),
        Endpoint::GetPayout => money_out::get_payout(),
        Endpoint::GetBalance => account::get_balance(),
        Endpoint::ListEntries => account::list_entries(),
        Endpoint::ListTransactions => account::list_transactions(),
        Endpoint::GetTransaction => account::get_transaction(),
        Endpoint::ListInfractions => infractions::list_infractions(),
        Endpoint::GetInfraction => infractions::get_infraction(),
        Endpoint::DefendInfraction => infractions::defend_infraction(),
        Endpoint::ListWebhookEndpoints => webhooks::list_endpoints(),
        Endpoint::CreateWebhookEndpoint => webhooks::create_endpoint(),
        Endpoint::GetWebhookEndpoint => webhooks::get_endpoint(),
        Endpoint::ChangeWebhookEndpoint => webhooks::change_endpoint(),
        Endpoint::DeleteWebhookEndpoint => webhooks::delete_endpoint(),
        Endpoint::RotateWebhookSecret => webhooks::rotate_secret(),
        Endpoint::TestWebhookEndpoint => webhooks::test_endpoint(),
        Endpoint::ListDeliveries => webhooks::list_deliveries(),
        Endpoint::ResendDelivery => webhooks::resend_delivery(),
        Endpoint::ListEvents => events::list_events(),
        Endpoint::GetEvent => events::get_event(),
        Endpoint::ResendEvent => events::resend_event(),
        Endpoint::SandboxPay => sandbox::sandbox_pay(),
        Endpoint::SandboxExpire => sandbox::sandbox_expire(),
        Endpoint::SandboxReverse => sandbox::sandbox_reverse(),
        Endpoint::SandboxFailRefund => sandbox::sandbox_fail_refund(),
        Endpoint::SandboxOpenInfraction => sandbox::sandbox_open_infraction(),
        Endpoint::SandboxResolveInfraction => sandbox::sandbox_resolve_infraction(),
        Endpoint::SandboxFaults => sandbox::sandbox_faults(),
        Endpoint::SandboxClock => sandbox::sandbox_clock(),
        Endpoint::Reserved
        | Endpoint::Health
        | Endpoint::Ready
        | Endpoint::Metrics
        | Endpoint::Root
        | Endpoint::OpenApi
        | Endpoint::DocsRedirect
        | Endpoint::Docs
        | Endpoint::Callback => return None,
    };
    Some(description)
}
