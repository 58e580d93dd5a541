//! The form of a new charge.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use cais_domain::charge::{MAX_EXPIRES_IN_S, MIN_AMOUNT, MIN_EXPIRES_IN_S, Origin};
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::RequestId;
use cais_domain::text::{LineBreaks, Text};
use cais_use_cases::charges::create::{
    self, ChargeRefusal, CreateCharge, CreateChargeError, MAX_DESCRIPTION, MAX_PAYER_DOCUMENT, MAX_PAYER_NAME,
    NewCharge,
};
use cais_use_cases::upstream_order::CreateError;

use super::json::member;
use super::{fingerprint, key_of, not_permitted};
use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::brl;
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::charges::ChargesTexts;

/// The lifetime that the form proposes, in minutes: the default of the API.
const DEFAULT_MINUTES: &str = "60";
/// The seconds of a minute.
const MINUTE_S: u32 = 60;
/// The fields that define the charge. The form's fingerprint covers their values.
const FIELDS: [&str; 6] = ["amount", "description", "minutes", "payer_name", "payer_document", "external_id"];

#[derive(Template)]
#[template(path = "charges/new.html")]
struct NewChargePage<'a> {
    page: Layout,
    t: &'static ChargesTexts,
    error: Option<&'a str>,
    key: String,
    amount: &'a str,
    description: &'a str,
    minutes: &'a str,
    payer_name: &'a str,
    payer_document: &'a str,
    external_id: &'a str,
}

/// Shows the form.
pub(crate) async fn form(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    Ok(context.ok(&NewChargePage {
        page: context.layout(),
        t: ChargesTexts::of(context.language),
        error: None,
        key: context.random_key(),
        amount: "",
        description: "",
        minutes: DEFAULT_MINUTES,
        payer_name: "",
        payer_document: "",
        external_id: "",
    }))
}

/// A refused form: the text for the user, and `true` if the form keeps its idempotency key. With the same key, a form
/// that is sent again resumes the same charge.
struct Refused(String, bool);

/// Creates the charge and redirects to its page.
pub(crate) async fn submit(form: Form, request: HttpRequest) -> Result<HttpResponse, Failure> {
    let Refused(error, is_open) = match send(&form, request.path()).await? {
        Ok(id) => return Ok(redirect(&format!("/charges/{id}"))),
        Err(refused) => refused,
    };
    let context = &form.context;
    // A form with an unknown outcome keeps its key, so that a repeat resumes the same creation.
    let key = if is_open { form.get("key").to_owned() } else { context.random_key() };
    let shown = NewChargePage {
        page: context.layout(),
        t: ChargesTexts::of(context.language),
        error: Some(&error),
        key,
        amount: form.get("amount"),
        description: form.get("description"),
        minutes: form.get("minutes"),
        payer_name: form.get("payer_name"),
        payer_document: form.get("payer_document"),
        external_id: form.get("external_id"),
    };
    Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

/// Creates the charge. Returns its id, or the reason of a refusal.
async fn send(form: &Form, path: &str) -> Result<Result<String, Refused>, Failure> {
    let context = &form.context;
    let (_, account) = context.merchant()?;
    let (ports, t) = (context.dashboard.logins.ports.clone(), ChargesTexts::of(context.language));
    let account = ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let Some(key) = key_of(form) else { return Err(Failure::BadForm("the form has no idempotency key")) };
    let terms = match terms(form, t) {
        Ok(terms) => terms,
        Err(text) => return Ok(Err(Refused(text.to_owned(), false))),
    };
    let command = CreateCharge {
        account,
        request: RequestId::new(ports.ids.next_uuid()),
        key,
        fingerprint: fingerprint(form, path, &FIELDS),
        terms,
    };
    Ok(match detached::run(async move { create::create(&ports, command).await }).await {
        Ok(Ok(response)) => {
            let id = member(&response.body, "id");
            Ok(id.ok_or_else(|| Failure::Unavailable("the new charge has no id".to_owned()))?)
        }
        Ok(Err(error)) => Err(refused(error, t, context.language)),
        // The work continues, and a repeat of the form returns its result.
        Err(_) => Err(Refused(t.unknown.to_owned(), true)),
    })
}

fn terms(form: &Form, t: &'static ChargesTexts) -> Result<NewCharge, &'static str> {
    let given = |name| Some(form.get(name)).filter(|text| !text.is_empty());
    let amount = input::amount(form.get("amount")).filter(|amount| *amount >= MIN_AMOUNT).ok_or(t.amount_wrong)?;
    let text = |name, most, breaks, wrong| {
        given(name).map(|text| Text::parse(text, most, breaks)).transpose().map_err(|_| wrong)
    };
    let minutes = given("minutes").unwrap_or(DEFAULT_MINUTES);
    let is_number = minutes.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = minutes.parse().ok().filter(|_| is_number).and_then(|minutes: u32| minutes.checked_mul(MINUTE_S));
    let seconds = seconds.filter(|seconds| (MIN_EXPIRES_IN_S..=MAX_EXPIRES_IN_S).contains(seconds));
    let document = given("payer_document").map(Document::parse).transpose().map_err(|_| t.payer_document_wrong)?;
    let document = document.map(|document| {
        Text::parse(document.as_str(), MAX_PAYER_DOCUMENT, LineBreaks::Refused).map_err(|_| t.payer_document_wrong)
    });
    Ok(NewCharge {
        amount,
        description: text("description", MAX_DESCRIPTION, LineBreaks::Allowed, t.description_wrong)?,
        payer_name: text("payer_name", MAX_PAYER_NAME, LineBreaks::Refused, t.payer_name_wrong)?,
        payer_document: document.transpose()?,
        expires_in_s: seconds.ok_or(t.minutes_wrong)?,
        external_id: given("external_id").map(ExternalId::parse).transpose().map_err(|_| t.external_id_wrong)?,
        postback_url: None,
        split: Vec::new(),
        origin: Origin::Manual,
    })
}

fn refused(error: CreateChargeError, t: &'static ChargesTexts, language: Language) -> Refused {
    let text = match error {
        CreateError::NotPermitted(reason) => not_permitted(t, reason),
        CreateError::KeyConflict => t.used,
        CreateError::Refused(ChargeRefusal::TransactionLimit { limit }) => {
            return Refused(format!("{} {}.", t.limit, brl(limit, language)), false);
        }
        CreateError::Refused(
            ChargeRefusal::SplitDisabled
            | ChargeRefusal::PostbackUrlNotRegistered
            | ChargeRefusal::SplitRecipientNotEligible { .. },
        ) => t.feature,
        CreateError::ExternalIdConflict(_) => t.external_id_used,
        // An earlier submission of the form may have created the charge, so the form keeps its key.
        CreateError::AcquirerUnavailable => return Refused(t.no_acquirer.to_owned(), true),
        CreateError::Internal(cause) => {
            tracing::error!(cause, "creation of a charge failed; the user can send the form again");
            return Refused(t.unknown.to_owned(), true);
        }
        CreateError::ExternalIdInProgress { .. }
        | CreateError::KeyInProgress { .. }
        | CreateError::Unavailable { .. } => return Refused(t.unknown.to_owned(), true),
    };
    Refused(text.to_owned(), false)
}
