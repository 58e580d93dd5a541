//! Shows the cost of a payout, and sends the payout. If the sum of payouts and refunds since the last code exceeds a
//! limit, the user must enter a one-time code.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::ConfirmationId;
use cais_domain::text::Text;
use cais_ports::{Confirmation, ConfirmationState, PendingAction};
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::orders::{self, LARGEST_WITHOUT_CODE, SendError, SentOrder};
use cais_use_cases::payouts::preview::preview;

use super::refusal;
use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl};
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::payouts::PayoutTexts;

#[derive(Template)]
#[template(path = "payouts/confirm.html")]
struct ConfirmPayoutPage {
    page: Layout,
    t: &'static PayoutTexts,
    error: Option<String>,
    id: String,
    amount: String,
    kind: &'static str,
    key: String,
    description: Option<String>,
    external_id: Option<String>,
    cost: Option<Cost>,
    needs_code: bool,
    is_approved: bool,
    code_above: String,
    until: When,
}

struct Cost {
    fee: String,
    total: String,
    available: String,
    after: String,
}

/// Shows the payout and its cost.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    confirmation_page(&context, parse(&id)?, StatusCode::OK, None).await
}

/// Approves and sends the payout. A form that is sent again leads to the same payout.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, _) = context.merchant()?;
    let id = parse(&id)?;
    let (logins, browser, visitor) = (context.dashboard.logins.clone(), context.browser.clone(), visitor.clone());
    let code = form.get("code").to_owned();
    let work = async move {
        let approved = orders::approve(&logins, &browser, &visitor, id, &code).await?;
        Ok::<_, LoginError>(orders::send_payout(&logins.ports, &approved).await)
    };
    let Ok(ended) = detached::run(work).await else {
        let text = PayoutTexts::of(context.language).in_progress.to_owned();
        return confirmation_page(context, id, StatusCode::SERVICE_UNAVAILABLE, Some(text)).await;
    };
    let (status, text) = match ended {
        Ok(Ok(SentOrder::Created(payout))) => return Ok(redirect(&format!("/payouts/{payout}"))),
        Ok(Ok(SentOrder::NotCovered)) => {
            (StatusCode::UNPROCESSABLE_ENTITY, PayoutTexts::of(context.language).not_covered.to_owned())
        }
        Ok(Err(SendError::Order(error))) => (StatusCode::UNPROCESSABLE_ENTITY, refusal(&error, context.language)?),
        Ok(Err(SendError::OtherAction)) => return Err(Failure::NotFound),
        Ok(Err(SendError::Query(error))) => return Err(error.into()),
        Err(LoginError::CodeNeeded) => {
            (StatusCode::UNPROCESSABLE_ENTITY, context.language.texts().code_needed.to_owned())
        }
        Err(LoginError::Refused) => (StatusCode::UNPROCESSABLE_ENTITY, context.language.texts().code_wrong.to_owned()),
        Err(error) => return Err(error.into()),
    };
    confirmation_page(context, id, status, Some(text)).await
}

fn parse(id: &str) -> Result<ConfirmationId, Failure> {
    ConfirmationId::parse(id).map_err(|_| Failure::NotFound)
}

async fn confirmation_page(
    context: &PageContext,
    id: ConfirmationId,
    status: StatusCode,
    error: Option<String>,
) -> Result<HttpResponse, Failure> {
    let (visitor, account) = context.merchant()?;
    let (logins, language) = (&context.dashboard.logins, context.language);
    let Confirmation { action, state, expires_at, .. } = orders::find(logins, visitor, id).await?;
    let is_approved = state == ConfirmationState::Done;
    let needs_code = orders::needs_code(&action, &visitor.session) && !is_approved;
    let PendingAction::SendPayout { amount, pix_key, description, external_id } = action else {
        return Err(Failure::NotFound);
    };
    let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let (cost, error) = match preview(&logins.ports, &account, amount).await {
        Ok(preview) => {
            let [fee, total, available, after] =
                [preview.fee, preview.total, preview.available, preview.available_after]
                    .map(|part| brl(part, language));
            (Some(Cost { fee, total, available, after }), error)
        }
        Err(reason) => (None, Some(error.map_or_else(|| refusal(&reason, language), Ok)?)),
    };
    let shown = ConfirmPayoutPage {
        page: context.layout(),
        t: PayoutTexts::of(language),
        error,
        id: id.to_string(),
        amount: brl(amount, language),
        kind: PayoutTexts::of(language).kind_of(pix_key.key_type()),
        key: pix_key.to_string(),
        description: description.map(Text::into_string),
        external_id: external_id.as_ref().map(ExternalId::to_string),
        cost,
        needs_code,
        is_approved,
        code_above: brl(LARGEST_WITHOUT_CODE, language),
        until: When::of(expires_at, language),
    };
    Ok(context.page(status, &shown))
}
