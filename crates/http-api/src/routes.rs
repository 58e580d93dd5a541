//! Every path that is served, in one table: the router, the metrics and the `OpenAPI` document all read it.
//!
//! To add an endpoint: a variant of [`Endpoint`], a line in [`ROUTES`], an arm in `dispatch`, its description in `openapi`.

mod router;

use cais_domain::api_key::Scope;

pub use router::{Found, Params, Router, needs_key};

/// A method that a route answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// GET, and HEAD with it.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// Whatever is sent.
    Any,
}

impl Verb {
    /// The methods of the header `Allow`.
    #[must_use]
    pub const fn allowed(self) -> &'static str {
        match self {
            Self::Get => "GET, HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Any => "",
        }
    }

    fn matches(self, method: &str) -> bool {
        match self {
            Self::Get => matches!(method, "GET" | "HEAD"),
            Self::Post => method == "POST",
            Self::Put => method == "PUT",
            Self::Patch => method == "PATCH",
            Self::Delete => method == "DELETE",
            Self::Any => true,
        }
    }
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Open,
    /// Everybody, on a path that holds a secret: other methods are answered as if nothing were there.
    SecretPath,
    /// Whoever has a key.
    AnyKey,
    /// Keys with the scope.
    Scoped(Scope),
}

/// What body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// None: whatever comes is left unread.
    Unread,
    /// JSON of at most 64 KiB.
    Json,
    /// Any bytes, at most 1 MiB.
    Callback,
}

/// Where a route is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// On the public address.
    Public,
    /// On the public address, with the built-in sandbox as upstream.
    PublicWithSandbox,
    /// On the admin address.
    Admin,
    /// On both.
    Both,
}

/// What a route does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// List charges.
    ListCharges,
    /// Create a charge.
    CreateCharge,
    /// Read a charge.
    GetCharge,
    /// Cancel a charge.
    CancelCharge,
    /// List a charge's refunds.
    ListRefunds,
    /// Refund a charge.
    CreateRefund,
    /// Read a refund.
    GetRefund,
    /// List payouts.
    ListPayouts,
    /// Create a payout.
    CreatePayout,
    /// Read a payout.
    GetPayout,
    /// Read the balance.
    GetBalance,
    /// Read the statement.
    ListEntries,
    /// Read the timeline.
    ListTransactions,
    /// Read an entry of the timeline.
    GetTransaction,
    /// List infractions.
    ListInfractions,
    /// Read an infraction.
    GetInfraction,
    /// Defend the account against an infraction.
    DefendInfraction,
    /// List webhook endpoints.
    ListWebhookEndpoints,
    /// Register a webhook endpoint.
    CreateWebhookEndpoint,
    /// Read a webhook endpoint.
    GetWebhookEndpoint,
    /// Change a webhook endpoint.
    ChangeWebhookEndpoint,
    /// Delete a webhook endpoint.
    DeleteWebhookEndpoint,
    /// Give a webhook endpoint another secret.
    RotateWebhookSecret,
    /// Send a webhook endpoint an event that means nothing.
    TestWebhookEndpoint,
    /// List what was delivered to a webhook endpoint.
    ListDeliveries,
    /// Deliver again.
    ResendDelivery,
    /// List events.
    ListEvents,
    /// Read an event.
    GetEvent,
    /// Deliver an event again.
    ResendEvent,
    /// Reserved.
    Reserved,
    /// Pay a charge in the sandbox.
    SandboxPay,
    /// End a charge's time in the sandbox.
    SandboxExpire,
    /// Bring a payout back in the sandbox.
    SandboxReverse,
    /// Let a refund fail in the sandbox.
    SandboxFailRefund,
    /// Dispute a charge in the sandbox.
    SandboxOpenInfraction,
    /// Settle an infraction in the sandbox.
    SandboxResolveInfraction,
    /// Make things go wrong in the sandbox.
    SandboxFaults,
    /// Move the clock.
    SandboxClock,
    /// Whether the process lives.
    Health,
    /// Whether it can serve.
    Ready,
    /// Numbers about itself.
    Metrics,
    /// The `OpenAPI` document.
    OpenApi,
    /// Redirects from the root to the documentation.
    Root,
    /// The way to the documentation pages.
    DocsRedirect,
    /// The documentation pages.
    Docs,
    /// What acquirers call.
    Callback,
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// What it does.
    pub endpoint: Endpoint,
    /// For which method.
    pub verb: Verb,
    /// At which path: `{name}` is one segment, `{*name}` all that follow.
    pub pattern: &'static str,
    /// For whom.
    pub access: Access,
    /// With which body.
    pub body: BodyRule,
    /// On which address.
    pub listener: Listener,
}

const fn api(endpoint: Endpoint, verb: Verb, pattern: &'static str, scope: Scope, body: BodyRule) -> Route {
    Route { endpoint, verb, pattern, access: Access::Scoped(scope), body, listener: Listener::Public }
}

const fn read(endpoint: Endpoint, pattern: &'static str, scope: Scope) -> Route {
    api(endpoint, Verb::Get, pattern, scope, BodyRule::Unread)
}

const fn write(endpoint: Endpoint, pattern: &'static str, scope: Scope) -> Route {
    api(endpoint, Verb::Post, pattern, scope, BodyRule::Json)
}

const fn sandbox(endpoint: Endpoint, verb: Verb, pattern: &'static str, scope: Scope) -> Route {
    Route { listener: Listener::PublicWithSandbox, ..api(endpoint, verb, pattern, scope, BodyRule::Json) }
}

const fn reserved(pattern: &'static str) -> Route {
    Route {
        endpoint: Endpoint::Reserved,
        verb: Verb::Any,
        pattern,
        access: Access::AnyKey,
        body: BodyRule::Unread,
        listener: Listener::Public,
    }
}

const fn open(endpoint: Endpoint, pattern: &'static str, listener: Listener) -> Route {
    Route { endpoint, verb: Verb::Get, pattern, access: Access::Open, body: BodyRule::Unread, listener }
}

const fn callback(pattern: &'static str) -> Route {
    Route {
        endpoint: Endpoint::Callback,
        verb: Verb::Post,
        pattern,
        access: Access::SecretPath,
        body: BodyRule::Callback,
        listener: Listener::Public,
    }
}

/// Every route.
pub const ROUTES: &[Route] = &[
    read(Endpoint::GetCharge, "/v1/charges/{id}", Scope::ChargesRead),
    write(Endpoint::CreateCharge, "/v1/charges", Scope::ChargesWrite),
    read(Endpoint::ListCharges, "/v1/charges", Scope::ChargesRead),
    write(Endpoint::CancelCharge, "/v1/charges/{id}/cancel", Scope::ChargesWrite),
    write(Endpoint::CreateRefund, "/v1/charges/{id}/refunds", Scope::ChargesWrite),
    read(Endpoint::ListRefunds, "/v1/charges/{id}/refunds", Scope::ChargesRead),
    read(Endpoint::GetRefund, "/v1/refunds/{id}", Scope::ChargesRead),
    read(Endpoint::GetPayout, "/v1/payouts/{id}", Scope::PayoutsRead),
    write(Endpoint::CreatePayout, "/v1/payouts", Scope::PayoutsWrite),
    read(Endpoint::ListPayouts, "/v1/payouts", Scope::PayoutsRead),
    read(Endpoint::GetBalance, "/v1/balance", Scope::BalanceRead),
    read(Endpoint::ListEntries, "/v1/balance/entries", Scope::BalanceRead),
    read(Endpoint::GetTransaction, "/v1/transactions/{id}", Scope::TransactionsRead),
    read(Endpoint::ListTransactions, "/v1/transactions", Scope::TransactionsRead),
    read(Endpoint::GetInfraction, "/v1/infractions/{id}", Scope::InfractionsRead),
    read(Endpoint::ListInfractions, "/v1/infractions", Scope::InfractionsRead),
    write(Endpoint::DefendInfraction, "/v1/infractions/{id}/defense", Scope::InfractionsWrite),
    read(Endpoint::GetWebhookEndpoint, "/v1/webhook-endpoints/{id}", Scope::WebhooksRead),
    api(
        Endpoint::ChangeWebhookEndpoint,
        Verb::Patch,
        "/v1/webhook-endpoints/{id}",
        Scope::WebhooksWrite,
        BodyRule::Json,
    ),
    api(
        Endpoint::DeleteWebhookEndpoint,
        Verb::Delete,
        "/v1/webhook-endpoints/{id}",
        Scope::WebhooksWrite,
        BodyRule::Unread,
    ),
    write(Endpoint::CreateWebhookEndpoint, "/v1/webhook-endpoints", Scope::WebhooksWrite),
    read(Endpoint::ListWebhookEndpoints, "/v1/webhook-endpoints", Scope::WebhooksRead),
    write(Endpoint::RotateWebhookSecret, "/v1/webhook-endpoints/{id}/rotate-secret", Scope::WebhooksWrite),
    write(Endpoint::TestWebhookEndpoint, "/v1/webhook-endpoints/{id}/test", Scope::WebhooksWrite),
    read(Endpoint::ListDeliveries, "/v1/webhook-endpoints/{id}/deliveries", Scope::WebhooksRead),
    write(Endpoint::ResendDelivery, "/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend", Scope::WebhooksWrite),
    read(Endpoint::GetEvent, "/v1/events/{id}", Scope::EventsRead),
    read(Endpoint::ListEvents, "/v1/events", Scope::EventsRead),
    write(Endpoint::ResendEvent, "/v1/events/{id}/resend", Scope::WebhooksWrite),
    reserved("/v1/boletos"),
    reserved("/v1/boletos/{*path}"),
    reserved("/v1/cards"),
    reserved("/v1/cards/{*path}"),
    sandbox(Endpoint::SandboxPay, Verb::Post, "/v1/sandbox/charges/{id}/pay", Scope::ChargesWrite),
    sandbox(Endpoint::SandboxExpire, Verb::Post, "/v1/sandbox/charges/{id}/expire", Scope::ChargesWrite),
    sandbox(Endpoint::SandboxReverse, Verb::Post, "/v1/sandbox/payouts/{id}/reverse", Scope::PayoutsWrite),
    sandbox(Endpoint::SandboxFailRefund, Verb::Post, "/v1/sandbox/refunds/{id}/fail", Scope::ChargesWrite),
    sandbox(Endpoint::SandboxOpenInfraction, Verb::Post, "/v1/sandbox/charges/{id}/infraction", Scope::ChargesWrite),
    sandbox(
        Endpoint::SandboxResolveInfraction,
        Verb::Post,
        "/v1/sandbox/infractions/{id}/resolve",
        Scope::InfractionsWrite,
    ),
    sandbox(Endpoint::SandboxFaults, Verb::Put, "/v1/sandbox/faults", Scope::ChargesWrite),
    sandbox(Endpoint::SandboxClock, Verb::Put, "/v1/sandbox/clock", Scope::ChargesWrite),
    open(Endpoint::Root, "/", Listener::Public),
    open(Endpoint::OpenApi, "/v1/openapi.json", Listener::Public),
    open(Endpoint::DocsRedirect, "/docs", Listener::Public),
    open(Endpoint::Docs, "/docs/{*file}", Listener::Public),
    open(Endpoint::Health, "/healthz", Listener::Both),
    open(Endpoint::Ready, "/readyz", Listener::Both),
    open(Endpoint::Metrics, "/metrics", Listener::Admin),
    callback("/callbacks/{acquirer}/{token}"),
    callback("/callbacks/{acquirer}/{token}/pix"),
];
