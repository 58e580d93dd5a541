//! The frame of every page, and the functions that build a response.

use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, LOCATION};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use cais_ports::{Role, SessionStage};

use crate::assets::{self, Paths};
use crate::cookies::{self, Purpose};
use crate::page_context::PageContext;
use crate::state::Dashboard;
use crate::texts::operator::OperatorTexts;
use crate::texts::{Language, Texts};

/// The parts of a page that `layout.html` shows.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The texts in the user's language.
    pub(crate) t: &'static Texts,
    /// The user's language.
    pub(crate) language: Language,
    /// The paths of style sheet and scripts.
    pub(crate) assets: &'static Paths,
    /// The token of the page's forms; empty if the page loads no session.
    pub(crate) token: String,
    /// The user's e-mail; `None` unless the login is complete.
    pub(crate) user: Option<String>,
    /// `true` if a merchant is logged in.
    pub(crate) is_merchant: bool,
    /// The texts of the operators' menu; `None` unless the user is an operator.
    pub(crate) operator: Option<&'static OperatorTexts>,
    /// `true` if the service runs on the built-in sandbox.
    pub(crate) is_sandbox: bool,
}

impl Layout {
    /// Returns the frame of the page with this context.
    pub(crate) fn of(context: &PageContext) -> Self {
        let complete = context.visitor.as_ref().filter(|visitor| visitor.session.stage == SessionStage::Complete);
        Self {
            t: context.language.texts(),
            language: context.language,
            assets: assets::paths(),
            token: context.token(),
            user: complete.map(|visitor| visitor.user.email.clone()),
            is_merchant: complete.is_some_and(|visitor| matches!(visitor.user.role, Role::Merchant(_))),
            operator: complete
                .filter(|visitor| visitor.user.role == Role::Operator)
                .map(|_| OperatorTexts::of(context.language)),
            is_sandbox: context.dashboard.site.is_sandbox,
        }
    }

    /// Returns the frame of a page that loads no session: a failure page, or the public payment page.
    pub(crate) fn without_session(request: &HttpRequest) -> Self {
        let dashboard = request.app_data::<Data<Dashboard>>();
        let chosen = dashboard.and_then(|dashboard| cookies::read(request, &dashboard.site, Purpose::Language));
        let language = Language::of_cookie(chosen.as_deref());
        Self {
            t: language.texts(),
            language,
            assets: assets::paths(),
            token: String::new(),
            user: None,
            is_merchant: false,
            operator: None,
            is_sandbox: dashboard.is_some_and(|dashboard| dashboard.site.is_sandbox),
        }
    }
}

/// Returns a page, or an empty response with the status 500 if the template fails.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> HttpResponse {
    match template.render() {
        Ok(text) => HttpResponse::build(status).insert_header(ContentType::html()).body(text),
        Err(error) => {
            tracing::error!(%error, "template could not be rendered; the user sees an empty page");
            HttpResponse::InternalServerError().finish()
        }
    }
}

/// Returns 303 to another page of this site. `to` contains no text of a request, except parsed ids and verified tokens
/// of payment pages. So the redirect cannot lead to another site.
pub(crate) fn redirect(to: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, to)).finish()
}
