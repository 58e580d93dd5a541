//! Refunds a payment of a charge.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RequestId;
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::ResponseKind;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::create::{self, CreateRefund, CreateRefundError, MAX_REASON, RefundRefusal};
use cais_use_cases::upstream_order::CreateError;

use super::show::{RefundForm, page, read};
use super::{fingerprint, key_of, not_permitted};
use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::brl;
use crate::input;
use crate::layout::redirect;
use crate::texts::Language;
use crate::texts::charges::ChargesTexts;

/// A refused form: the reason, and whether a repeat of the same form is safe and useful.
struct Refused {
    text: String,
    is_open: bool,
}

impl From<&str> for Refused {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), is_open: false }
    }
}

/// Refunds the payment, wholly or in part.
pub(crate) async fn refund(form: Form, id: web::Path<String>, request: HttpRequest) -> Result<HttpResponse, Failure> {
    let charge = read(&form.visit, &id).await?;
    let name = ChargeName::Id(charge.id);
    let refused = match send(&form, name, request.path()).await? {
        Ok(()) => return Ok(redirect(&format!("/charges/{}", charge.id))),
        Err(refused) => refused,
    };
    // A form with an unknown outcome keeps its key, so that a repeat resumes it.
    let key = if refused.is_open { form.get("key").to_owned() } else { form.visit.random() };
    let shown = RefundForm {
        key,
        payment: form.get("payment"),
        amount: form.get("amount"),
        reason: form.get("reason"),
        error: Some(refused.text),
        rest: None,
    };
    page(&form.visit, &request, &id, StatusCode::UNPROCESSABLE_ENTITY, shown).await
}

async fn send(form: &Form, charge: ChargeName, path: &str) -> Result<Result<(), Refused>, Failure> {
    let visit = &form.visit;
    let (_, account) = visit.merchant()?;
    let (ports, t) = (visit.dashboard.logins.ports.clone(), ChargesTexts::of(visit.language));
    let account = ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let Some(key) = key_of(form) else { return Err(Failure::BadForm("the form has no idempotency key")) };
    let terms = match terms(form, t) {
        Ok(terms) => terms,
        Err(text) => return Ok(Err(text.into())),
    };
    let (end_to_end_id, amount, reason) = terms;
    let command = CreateRefund {
        account,
        request: RequestId::new(ports.ids.next_uuid()),
        key,
        fingerprint: fingerprint(form, path, &["payment", "amount", "reason"]),
        charge,
        end_to_end_id,
        amount,
        reason,
        external_id: None,
    };
    let result = detached::run(async move { create::create(&ports, command).await }).await;
    Ok(match result {
        Ok(Ok(response)) => match response.kind {
            ResponseKind::Created | ResponseKind::Existing => Ok(()),
            ResponseKind::InsufficientBalance => Err(t.no_balance.into()),
        },
        Ok(Err(error)) => Err(refused(error, t, visit.language)),
        // The work goes on, and a repeat of the form has its result.
        Err(_) => Err(Refused { text: t.unknown.to_owned(), is_open: true }),
    })
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

fn refused(error: CreateRefundError, t: &'static ChargesTexts, language: Language) -> Refused {
    match error {
        CreateError::NotPermitted(reason) => not_permitted(t, reason).into(),
        CreateError::KeyConflict => t.used.into(),
        CreateError::Refused(refusal) => match refusal {
            RefundRefusal::NoSuchPayment => t.refund_pix_wrong.into(),
            RefundRefusal::NotFound | RefundRefusal::ChargeInProgress { .. } | RefundRefusal::InvalidState(_) => {
                t.refund_state.into()
            }
            RefundRefusal::InfractionOpen => t.refund_infraction.into(),
            RefundRefusal::DeadlinePassed => t.refund_deadline.into(),
            RefundRefusal::ExceedsAmount { rest } => {
                Refused { text: format!("{} {}.", t.refund_exceeds, brl(rest, language)), is_open: false }
            }
        },
        // The refund of an earlier submission may exist: the key stays.
        CreateError::AcquirerUnavailable => Refused { text: t.no_acquirer.to_owned(), is_open: true },
        CreateError::Internal(cause) => {
            tracing::error!(cause, "refund failed; the form can be sent again");
            Refused { text: t.unknown.to_owned(), is_open: true }
        }
        CreateError::ExternalIdConflict(_)
        | CreateError::ExternalIdInProgress { .. }
        | CreateError::KeyInProgress { .. }
        | CreateError::Unavailable { .. } => Refused { text: t.unknown.to_owned(), is_open: true },
    }
}
