//! The unmatched callbacks: they match no charge, payout, infraction or crypto deposit.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::CallbackId;
use cais_ports::{CommitError, PageRequest};
use cais_use_cases::callbacks::retry::{RetryError, list_unmatched, named, retry};

use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::operator::OperatorTexts;

/// The number of callbacks on a page.
const PAGE: u32 = 50;
const PATH: &str = "/operator/callbacks";

#[derive(Template)]
#[template(path = "operator/callbacks.html")]
struct CallbacksPage {
    page: Layout,
    t: &'static OperatorTexts,
    callbacks: Vec<Row>,
    /// `true` after an operator has made a callback due again.
    is_retried: bool,
    next: Option<String>,
}

struct Row {
    id: String,
    acquirer: String,
    received: When,
    attempts: u32,
    names: Vec<String>,
}

/// Shows a page of the list, newest first.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let cursor = query.get(STARTING_AFTER).map(CallbackId::parse).transpose().map_err(|_| Failure::NotFound)?;
    let found = list_unmatched(context.ports(), PageRequest { limit: PAGE, starting_after: cursor }).await?;
    let last = found.rows.last().filter(|_| found.has_more).map(|callback| callback.id.to_string());
    let next = last.map(|last| path_with(PATH, &[(STARTING_AFTER, &last)]));
    let callbacks = found.rows.iter().map(|callback| Row {
        id: callback.id.to_string(),
        acquirer: callback.acquirer.to_string(),
        received: When::of(callback.received_at, context.language),
        attempts: callback.attempts,
        names: named(callback).lines().map(str::to_owned).collect(),
    });
    let (t, callbacks) = (OperatorTexts::of(context.language), callbacks.collect());
    let is_retried = query.get("retried").is_some();
    Ok(context.ok(&CallbacksPage { page: context.layout(), t, callbacks, is_retried, next }))
}

/// Makes a callback due again, so that a worker processes it. The acquirer's records decide the outcome, so the
/// operator enters no confirmation code.
pub(crate) async fn try_again(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let operator = context.operator()?.actor(&context.browser);
    let id = CallbackId::parse(&id).map_err(|_| Failure::NotFound)?;
    match retry(context.ports(), &operator, id).await {
        // `Stale`: another task of the service has just processed the callback.
        Ok(_) | Err(RetryError::Done(_) | RetryError::Commit(CommitError::Stale)) => {
            Ok(redirect(&path_with(PATH, &[("retried", "1")])))
        }
        Err(RetryError::NotFound(_)) => Err(Failure::NotFound),
        Err(RetryError::Query(error)) => Err(error.into()),
        Err(RetryError::Commit(error)) => Err(Failure::Unavailable(error.to_string())),
    }
}
