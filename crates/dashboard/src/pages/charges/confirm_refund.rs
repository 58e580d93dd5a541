//! Shows a refund before it is sent, and sends it. If the sum of payouts and refunds since the last code exceeds a
//! limit, the user must enter a one-time code.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::{ChargeId, ConfirmationId};
use cais_domain::text::Text;
use cais_ports::{Confirmation, ConfirmationState, PendingAction};
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::orders::{self, LARGEST_WITHOUT_CODE, SendError, SentOrder};

use super::refund::refusal;
use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl};
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::charges::ChargesTexts;

#[derive(Template)]
#[template(path = "charges/confirm_refund.html")]
struct ConfirmRefundPage {
    page: Layout,
    t: &'static ChargesTexts,
    error: Option<String>,
    id: String,
    charge: String,
    payment: Option<String>,
    amount: String,
    reason: Option<String>,
    needs_code: bool,
    is_approved: bool,
    code_above: String,
    until: When,
}

/// Shows the refund.
pub(crate) async fn confirm_refund(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    confirmation_page(&context, parse(&id)?, StatusCode::OK, None).await
}

/// Approves and sends the refund. A form that is sent again leads to the same refund.
pub(crate) async fn send_refund(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, _) = context.merchant()?;
    let id = parse(&id)?;
    let charge = find(context, id).await?.1;
    let (logins, browser, visitor) = (context.dashboard.logins.clone(), context.browser.clone(), visitor.clone());
    let code = form.get("code").to_owned();
    let work = async move {
        let approved = orders::approve(&logins, &browser, &visitor, id, &code).await?;
        Ok::<_, LoginError>(orders::send_refund(&logins.ports, &approved).await)
    };
    let t = ChargesTexts::of(context.language);
    let Ok(ended) = detached::run(work).await else {
        return confirmation_page(context, id, StatusCode::SERVICE_UNAVAILABLE, Some(t.unknown.to_owned())).await;
    };
    let text = match ended {
        Ok(Ok(SentOrder::Created(_))) => return Ok(redirect(&format!("/charges/{charge}"))),
        Ok(Ok(SentOrder::NotCovered)) => t.no_balance.to_owned(),
        Ok(Err(SendError::Order(error))) => refusal(error, t, context.language),
        Ok(Err(SendError::OtherAction)) => return Err(Failure::NotFound),
        Ok(Err(SendError::Query(error))) => return Err(error.into()),
        Err(LoginError::CodeNeeded) => context.language.texts().code_needed.to_owned(),
        Err(LoginError::Refused) => context.language.texts().code_wrong.to_owned(),
        Err(error) => return Err(error.into()),
    };
    confirmation_page(context, id, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
}

fn parse(id: &str) -> Result<ConfirmationId, Failure> {
    ConfirmationId::parse(id).map_err(|_| Failure::NotFound)
}

/// Returns the confirmation of a refund in this session, and the charge of the refund.
async fn find(context: &PageContext, id: ConfirmationId) -> Result<(Confirmation, ChargeId), Failure> {
    let (visitor, _) = context.merchant()?;
    let confirmation = orders::find(&context.dashboard.logins, visitor, id).await?;
    let PendingAction::SendRefund { charge, .. } = confirmation.action else { return Err(Failure::NotFound) };
    Ok((confirmation, charge))
}

async fn confirmation_page(
    context: &PageContext,
    id: ConfirmationId,
    status: StatusCode,
    error: Option<String>,
) -> Result<HttpResponse, Failure> {
    let (Confirmation { action, state, expires_at, .. }, _) = find(context, id).await?;
    let language = context.language;
    let is_approved = state == ConfirmationState::Done;
    let needs_code = orders::needs_code(&action, &context.logged_in()?.session) && !is_approved;
    let PendingAction::SendRefund { charge, payment, amount, reason } = action else { return Err(Failure::NotFound) };
    let shown = ConfirmRefundPage {
        page: context.layout(),
        t: ChargesTexts::of(language),
        error,
        id: id.to_string(),
        charge: charge.to_string(),
        payment: payment.as_ref().map(ToString::to_string),
        amount: brl(amount, language),
        reason: reason.map(Text::into_string),
        needs_code,
        is_approved,
        code_above: brl(LARGEST_WITHOUT_CODE, language),
        until: When::of(expires_at, language),
    };
    Ok(context.page(status, &shown))
}
