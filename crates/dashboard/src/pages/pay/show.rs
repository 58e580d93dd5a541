//! The payment page, its live status, and the payment in the sandbox.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::{self, Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{NO_CRAWLERS, PayState, Payment, find, pay_in_sandbox};
use crate::failure::Failure;
use crate::form::check_origin;
use crate::format::{When, brl};
use crate::layout::{self, Layout, redirect};
use crate::qr::Qr;
use crate::query::Query;
use crate::state::Dashboard;
use crate::texts::Language;
use crate::texts::pay::PayTexts;

/// The header with which a response makes the script library htmx load the page again.
const REFRESH: HeaderName = HeaderName::from_static("hx-refresh");

#[derive(Template)]
#[template(path = "pay.html")]
struct PayPage {
    page: Layout,
    t: &'static PayTexts,
    merchant: String,
    amount: String,
    description: String,
    token: String,
    state: &'static str,
    title: &'static str,
    text: &'static str,
    paid: Option<When>,
    open: Option<Open>,
    can_pay: bool,
}

/// The part of the page that only a payable charge has.
struct Open {
    qr: Option<Qr>,
    code: String,
    until: When,
}

/// Shows the page.
pub(crate) async fn show(
    dashboard: Data<Dashboard>,
    token: web::Path<String>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let Payment { account, charge, state } = find(&dashboard, &request, &token).await?;
    let mut page = Layout::without_session(&request);
    if let Some(language) = query.get("lang").and_then(Language::of_code) {
        page.language = language;
        page.t = language.texts();
    }
    let (language, t) = (page.language, PayTexts::of(page.language));
    let (title, text) = match state {
        PayState::Open => ("", t.waits),
        PayState::Paid => (t.paid, ""),
        PayState::Refunded => (t.refunded, ""),
        PayState::Expired => (t.expired, t.expired_text),
        PayState::Cancelled => (t.cancelled, t.cancelled_text),
    };
    let shown = PayPage {
        t,
        merchant: account.name,
        amount: brl(charge.terms.amount, language),
        description: charge.terms.description.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
        token: token.into_inner(),
        state: state.as_str(),
        title,
        text,
        paid: charge.state.settlement().map(|paid| When::of(paid.paid_at, language)),
        open: charge.state.issued().filter(|_| state == PayState::Open).map(|issued| Open {
            qr: Qr::of(&issued.copy_paste),
            code: issued.copy_paste.clone(),
            until: When::of(issued.expires_at, language),
        }),
        can_pay: dashboard.sandbox_pay.is_some(),
        page,
    };
    let mut response = layout::html(StatusCode::OK, &shown);
    let (name, value) = NO_CRAWLERS;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    Ok(response)
}

/// Answers 204 while the charge is in the state that the open page shows. Afterwards answers 200 with a header that
/// makes the page load again.
pub(crate) async fn live(
    dashboard: Data<Dashboard>,
    token: web::Path<String>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let payment = find(&dashboard, &request, &token).await?;
    if query.get("was") == Some(payment.state.as_str()) {
        return Ok(HttpResponse::NoContent().finish());
    }
    Ok(HttpResponse::Ok().insert_header((REFRESH, "true")).finish())
}

/// Pays the charge at the built-in sandbox. The token in the URL replaces the token of a form.
pub(crate) async fn pay(
    dashboard: Data<Dashboard>,
    token: web::Path<String>,
    request: HttpRequest,
    _body: Bytes,
) -> Result<HttpResponse, Failure> {
    check_origin(&request)?;
    let payment = find(&dashboard, &request, &token).await?;
    if payment.state == PayState::Open {
        pay_in_sandbox(&dashboard, &payment.charge).await?;
    }
    Ok(redirect(&format!("/pay/{token}")))
}
