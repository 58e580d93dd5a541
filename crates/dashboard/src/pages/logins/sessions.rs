//! Lists the open sessions of the user, and ends one of them.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::SessionId;
use cais_use_cases::logins::sessions;

use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/sessions.html")]
struct SessionsPage {
    page: Layout,
    sessions: Vec<Row>,
}

struct Row {
    id: String,
    agent: String,
    address: String,
    begun: When,
    seen: When,
    is_this: bool,
}

/// Shows the list.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let visitor = context.logged_in()?;
    let listed = sessions::list(&context.dashboard.logins, visitor).await?;
    let sessions = listed.into_iter().map(|session| Row {
        id: session.id.to_string(),
        begun: When::of(session.created_at, context.language),
        seen: When::of(session.seen_at, context.language),
        is_this: session.id == visitor.session.id,
        agent: session.agent,
        address: session.address,
    });
    let sessions = sessions.collect();
    Ok(context.ok(&SessionsPage { page: context.layout(), sessions }))
}

/// Ends the session with the id in the path.
pub(crate) async fn end(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visitor = form.context.logged_in()?;
    let id = SessionId::parse(&id).map_err(|_| Failure::NotFound)?;
    sessions::end(&form.context.dashboard.logins, visitor, id).await?;
    Ok(redirect("/sessions"))
}
