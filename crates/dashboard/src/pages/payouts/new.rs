//! The form of a payout. The next page shows the cost, and sends the payout.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::external_id::ExternalId;
use cais_domain::payout::MIN_AMOUNT;
use cais_domain::pix_key::PixKey;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::PendingAction;
use cais_use_cases::logins::begin;
use cais_use_cases::payouts::preview::preview;

use super::refusal;
use crate::failure::Failure;
use crate::form::Form;
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::payouts::PayoutTexts;

/// The longest description, in characters, as in the API.
const MAX_DESCRIPTION: usize = 140;

#[derive(Template)]
#[template(path = "payouts/new.html")]
struct NewPayoutPage<'a> {
    page: Layout,
    t: &'static PayoutTexts,
    error: Option<String>,
    amount: &'a str,
    key: &'a str,
    description: &'a str,
    external_id: &'a str,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    let (page, t) = (context.layout(), PayoutTexts::of(context.language));
    let empty = NewPayoutPage { page, t, error: None, amount: "", key: "", description: "", external_id: "" };
    Ok(context.ok(&empty))
}

/// Stores the intent to send the payout. The payout is sent after its confirmation.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, account) = context.merchant()?;
    let t = PayoutTexts::of(context.language);
    let logins = &context.dashboard.logins;
    let error = match request(&form, t) {
        Ok(action @ PendingAction::SendPayout { amount, .. }) => {
            let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
            match preview(&logins.ports, &account, amount).await {
                Ok(preview) if preview.available_after.is_negative() => t.not_covered.to_owned(),
                Ok(_) => {
                    let id = begin::begin(logins, visitor, action).await?;
                    return Ok(redirect(&format!("/payouts/confirm/{id}")));
                }
                Err(error) => refusal(&error, context.language)?,
            }
        }
        Ok(_) => return Err(Failure::NotFound),
        Err(text) => text.to_owned(),
    };
    let shown = NewPayoutPage {
        page: context.layout(),
        t,
        error: Some(error),
        amount: form.get("amount"),
        key: form.get("key"),
        description: form.get("description"),
        external_id: form.get("external_id"),
    };
    Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

/// Returns the payout of the form, or the text about the form's first mistake.
fn request(form: &Form, t: &'static PayoutTexts) -> Result<PendingAction, &'static str> {
    let amount = input::amount(form.get("amount")).filter(|amount| *amount >= MIN_AMOUNT).ok_or(t.amount_wrong)?;
    let pix_key = PixKey::parse(form.get("key")).map_err(|_| t.key_wrong)?;
    let description = match form.get("description") {
        "" => None,
        text => Some(Text::parse(text, MAX_DESCRIPTION, LineBreaks::Refused).map_err(|_| t.description_wrong)?),
    };
    let external_id = match form.get("external_id") {
        "" => None,
        text => Some(ExternalId::parse(text).map_err(|_| t.external_id_wrong)?),
    };
    Ok(PendingAction::SendPayout { amount, pix_key, description, external_id })
}
