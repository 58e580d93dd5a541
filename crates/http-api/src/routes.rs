//! Every served path in one table, which the router, the metrics and the `OpenAPI` document use.
//!
//! A new endpoint is one file with its [`Route`], handler and description, and one line in [`ROUTES`].

mod router;

use std::future::ready;
use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_use_cases::keys::authenticate::Caller;
use futures_util::future::LocalBoxFuture;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::operation::Description;
use crate::reply::Reply;
use crate::{
    balance, callbacks, charges, docs, events, health, infractions, payouts, refunds, sandbox, statement, transactions,
    webhooks,
};

pub use router::{Found, Params, Router, needs_key};

/// An HTTP method of a route.
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
    /// Returns the methods of the header `Allow`.
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

/// The permitted callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Open,
    /// Everybody, on a path that contains a secret: other methods return the same error as an unknown path.
    SecretPath,
    /// Whoever has a key.
    AnyKey,
    /// Keys with the scope.
    Scoped(Scope),
}

/// The rule for the request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// None: a body stays unread.
    Unread,
    /// JSON of at most 64 KiB.
    Json,
    /// Any bytes, at most 1 MiB.
    Callback,
}

/// The listener of a route.
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

/// The work of a handler.
pub type Handling<'c> = LocalBoxFuture<'c, Result<Reply, ApiError>>;

/// The handler of a route.
#[derive(Debug, Clone, Copy)]
pub enum Handler {
    /// Serves every caller.
    Open(for<'c> fn(&'c Call<'c>) -> Handling<'c>),
    /// Serves callers with a key.
    Keyed(for<'c> fn(&'c Call<'c>, &'c Arc<Caller>) -> Handling<'c>),
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The method.
    pub verb: Verb,
    /// The path: `{name}` is one segment, `{*name}` is the rest.
    pub pattern: &'static str,
    /// The permitted callers.
    pub access: Access,
    /// The rule for the body.
    pub body: BodyRule,
    /// The listener.
    pub listener: Listener,
    /// The handler.
    pub handler: Handler,
    /// Returns its description for the `OpenAPI` document; `None` where merchants do not call it.
    pub describe: Option<fn() -> Description>,
}

impl Route {
    /// Returns a `GET` for keys with `scope`.
    #[must_use]
    pub const fn read(
        pattern: &'static str,
        scope: Scope,
        handler: for<'c> fn(&'c Call<'c>, &'c Arc<Caller>) -> Handling<'c>,
        describe: fn() -> Description,
    ) -> Self {
        Self {
            verb: Verb::Get,
            pattern,
            access: Access::Scoped(scope),
            body: BodyRule::Unread,
            listener: Listener::Public,
            handler: Handler::Keyed(handler),
            describe: Some(describe),
        }
    }

    /// Returns a `POST` with a JSON body for keys with `scope`.
    #[must_use]
    pub const fn write(
        pattern: &'static str,
        scope: Scope,
        handler: for<'c> fn(&'c Call<'c>, &'c Arc<Caller>) -> Handling<'c>,
        describe: fn() -> Description,
    ) -> Self {
        Self { verb: Verb::Post, body: BodyRule::Json, ..Self::read(pattern, scope, handler, describe) }
    }

    /// Returns a `GET` for everybody.
    #[must_use]
    pub const fn open(
        pattern: &'static str,
        listener: Listener,
        handler: for<'c> fn(&'c Call<'c>) -> Handling<'c>,
    ) -> Self {
        Self {
            verb: Verb::Get,
            pattern,
            access: Access::Open,
            body: BodyRule::Unread,
            listener,
            handler: Handler::Open(handler),
            describe: None,
        }
    }

    /// Returns the same route, served with the built-in sandbox alone.
    #[must_use]
    pub const fn with_sandbox(self) -> Self {
        Self { listener: Listener::PublicWithSandbox, ..self }
    }
}

const fn reserved(pattern: &'static str) -> Route {
    Route {
        verb: Verb::Any,
        pattern,
        access: Access::AnyKey,
        body: BodyRule::Unread,
        listener: Listener::Public,
        handler: Handler::Keyed(|_, _| Box::pin(ready(Err(ApiError::new(ErrorCode::NotImplemented))))),
        describe: None,
    }
}

/// Every route, in the order of comparison with a path.
pub const ROUTES: &[Route] = &[
    charges::get::ROUTE,
    charges::create::ROUTE,
    charges::list::ROUTE,
    charges::cancel::ROUTE,
    refunds::create::ROUTE,
    refunds::list::ROUTE,
    refunds::get::ROUTE,
    payouts::get::ROUTE,
    payouts::create::ROUTE,
    payouts::list::ROUTE,
    balance::ROUTE,
    statement::ROUTE,
    transactions::get::ROUTE,
    transactions::list::ROUTE,
    infractions::get::ROUTE,
    infractions::list::ROUTE,
    infractions::defend::ROUTE,
    webhooks::get::ROUTE,
    webhooks::change::ROUTE,
    webhooks::delete::ROUTE,
    webhooks::create::ROUTE,
    webhooks::list::ROUTE,
    webhooks::rotate::ROUTE,
    webhooks::test::ROUTE,
    webhooks::deliveries::ROUTE,
    webhooks::resend::ROUTE,
    events::get::ROUTE,
    events::list::ROUTE,
    events::resend::ROUTE,
    reserved("/v1/boletos"),
    reserved("/v1/boletos/{*path}"),
    reserved("/v1/cards"),
    reserved("/v1/cards/{*path}"),
    sandbox::PAY,
    sandbox::EXPIRE,
    sandbox::money_out::REVERSE,
    sandbox::money_out::FAIL_REFUND,
    sandbox::infractions::OPEN,
    sandbox::infractions::RESOLVE,
    sandbox::FAULTS,
    sandbox::CLOCK,
    docs::ROOT,
    docs::OPENAPI,
    docs::REDIRECT,
    docs::PAGE,
    health::LIVE,
    health::READY,
    health::METRICS,
    callbacks::BARE,
    callbacks::PIX,
];
