//! The form of a refund. The next page confirms the refund and sends it.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::PendingAction;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::logins::begin;
use cais_use_cases::refunds::create::{CreateRefundError, MAX_REASON, RefundRefusal, preview};
use cais_use_cases::upstream_order::CreateError;

use super::not_permitted;
use super::show::{RefundForm, page, read};
use crate::failure::Failure;
use crate::form::Form;
use crate::format::brl;
use crate::input;
use crate::layout::redirect;
use crate::texts::Language;
use crate::texts::charges::ChargesTexts;

/// Stores the intent to refund the payment, wholly or in part. The refund is sent after its confirmation.
pub(crate) async fn refund(form: Form, id: web::Path<String>, request: HttpRequest) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let charge = read(context, &id).await?;
    let (account, t) = (context.account().await?, ChargesTexts::of(context.language));
    let refused = match terms(&form, t) {
        Ok((payment, amount, reason)) => {
            let name = ChargeName::Id(charge.id);
            match preview(context.ports(), &account, &name, payment.as_ref(), amount).await {
                Ok(amount) => {
                    let action = PendingAction::SendRefund { charge: charge.id, payment, amount, reason };
                    let id = begin::begin(&context.dashboard.logins, context.logged_in()?, action).await?;
                    return Ok(redirect(&format!("/refunds/confirm/{id}")));
                }
                Err(error) => refusal(error, t, context.language),
            }
        }
        Err(text) => text.to_owned(),
    };
    let shown = RefundForm {
        payment: form.get("payment"),
        amount: form.get("amount"),
        reason: form.get("reason"),
        error: Some(refused),
        rest: None,
    };
    page(context, &request, &id, StatusCode::UNPROCESSABLE_ENTITY, shown).await
}

type Terms = (Option<EndToEndId>, Option<Money>, Option<Text>);

fn terms(form: &Form, t: &'static ChargesTexts) -> Result<Terms, &'static str> {
    let pix = Some(form.get("payment")).filter(|text| !text.is_empty());
    let pix = pix.map(EndToEndId::parse).transpose().map_err(|_| t.refund_pix_wrong)?;
    let amount = match form.get("amount") {
        "" => None,
        text => Some(input::amount(text).filter(|amount| *amount > Money::ZERO).ok_or(t.refund_amount_wrong)?),
    };
    let reason = Some(form.get("reason")).filter(|text| !text.is_empty());
    let reason = reason.map(|text| Text::parse(text, MAX_REASON, LineBreaks::Allowed)).transpose();
    Ok((pix, amount, reason.map_err(|_| t.refund_reason_wrong)?))
}

/// Returns the text for the user about a refund that was not sent.
pub(super) fn refusal(error: CreateRefundError, t: &'static ChargesTexts, language: Language) -> String {
    let text = match error {
        CreateError::NotPermitted(reason) => not_permitted(t, reason),
        CreateError::KeyConflict => t.used,
        CreateError::Refused(refusal) => match refusal {
            RefundRefusal::NoSuchPayment => t.refund_pix_wrong,
            RefundRefusal::NotFound | RefundRefusal::ChargeInProgress { .. } | RefundRefusal::InvalidState(_) => {
                t.refund_state
            }
            RefundRefusal::InfractionOpen => t.refund_infraction,
            RefundRefusal::DeadlinePassed => t.refund_deadline,
            RefundRefusal::ExceedsAmount { rest } => return format!("{} {}.", t.refund_exceeds, brl(rest, language)),
        },
        CreateError::AcquirerUnavailable => t.no_acquirer,
        CreateError::Internal(cause) => {
            tracing::error!(cause, "creation of a refund failed; the user can send the form again");
            t.unknown
        }
        CreateError::ExternalIdConflict(_)
        | CreateError::ExternalIdInProgress { .. }
        | CreateError::KeyInProgress { .. }
        | CreateError::Unavailable { .. } => t.unknown,
    };
    text.to_owned()
}
