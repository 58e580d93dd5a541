//! The second step of an action: the user confirms it by a fresh one-time code.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::ConfirmationId;
use cais_ports::{Confirmation, PendingAction};
use cais_use_cases::logins::confirm::{self, Confirmed};
use cais_use_cases::logins::{LoginError, begin};
use cais_use_cases::webhooks::list as endpoints;

use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::logins::recovery_codes::NewCodesPage;
use crate::pages::operator::accounts::terms;
use crate::pages::operator::decision::{self, DecisionView};
use crate::pages::webhooks::rotate::SecretPage;
use crate::texts::webhooks::WebhookTexts;

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage<'a> {
    page: Layout,
    error: Option<&'a str>,
    id: String,
    title: &'a str,
    subject: String,
    /// The labels and values of the action.
    details: Vec<(&'static str, String)>,
    /// The path of the page with the first step.
    back: String,
    until: When,
}

/// The page of an action that was confirmed before. If the action's result was shown only once, the text explains how
/// to replace it.
#[derive(Template)]
#[template(path = "confirmed.html")]
struct ConfirmedPage<'a> {
    page: Layout,
    title: &'a str,
    subject: String,
    text: &'a str,
    /// The path of the page with the first step.
    back: String,
}

/// An action as the pages show it.
struct Described {
    title: &'static str,
    subject: String,
    /// The labels and values of the action.
    details: Vec<(&'static str, String)>,
    /// The path of the page with the first step.
    back: String,
    /// The text of [`ConfirmedPage`].
    done: &'static str,
}

#[derive(Template)]
#[template(path = "keys/created.html")]
struct KeyCreatedPage {
    page: Layout,
    name: String,
    key: String,
}

#[derive(Template)]
#[template(path = "keys/revoked.html")]
struct KeyRevokedPage {
    page: Layout,
    prefix: String,
}

/// Shows the action and the field for the code.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let id = parse(&id)?;
    match begin::find(&context.dashboard.logins, context.logged_in()?, id).await {
        Ok(_) => confirmation_page(&context, id, StatusCode::OK, None).await,
        Err(LoginError::Over) => confirmed_before(&context, id, StatusCode::OK).await,
        Err(error) => Err(error.into()),
    }
}

/// Checks the code and performs the action. A new key, secret or set of recovery codes is shown only in this response.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let id = parse(&id)?;
    let logins = &context.dashboard.logins;
    // Payouts, refunds and withdrawals have confirmation pages of their own, which show the cost.
    match begin::find(logins, context.logged_in()?, id).await {
        Ok(found) if found.action.is_order() => return Err(Failure::NotFound),
        Ok(_) => {}
        // The form was sent twice, for example by a double click. The browser drops the answer to the first form.
        Err(LoginError::Over) => return confirmed_before(context, id, StatusCode::CONFLICT).await,
        Err(error) => return Err(error.into()),
    }
    match confirm::confirm(logins, &context.browser, context.logged_in()?, id, form.get("code")).await {
        Ok(Confirmed::Created(created)) => {
            let (name, key) = (created.record.name.clone(), created.token.expose());
            Ok(context.ok(&KeyCreatedPage { page: context.layout(), name, key }))
        }
        Ok(Confirmed::Revoked(prefix)) => {
            context.dashboard.keys.forget(&prefix);
            Ok(context.ok(&KeyRevokedPage { page: context.layout(), prefix: prefix.to_string() }))
        }
        Ok(Confirmed::SecretRotated(rotated)) => {
            let (endpoint, secret) = *rotated;
            Ok(context.ok(&SecretPage::new(context, &endpoint, &secret)))
        }
        Ok(Confirmed::RecoveryCodesRenewed(codes)) => Ok(context.ok(&NewCodesPage { page: context.layout(), codes })),
        Ok(Confirmed::EndpointMoved(endpoint)) => Ok(redirect(&format!("/webhooks/{endpoint}"))),
        Ok(Confirmed::Approved) => Err(Failure::NotFound),
        Ok(Confirmed::AccountChanged(account)) => Ok(redirect(&format!("/operator/accounts/{account}?changed"))),
        Ok(Confirmed::InfractionResolved(resolved)) => {
            Ok(redirect(&format!("/operator/infractions/{}?changed", resolved.infraction.id)))
        }
        Ok(Confirmed::CryptoResolved) => Ok(redirect("/operator/crypto?changed")),
        Err(LoginError::Decision(error)) => {
            let text = decision::refusal(error, context.language)?;
            confirmation_page(context, id, StatusCode::UNPROCESSABLE_ENTITY, Some(&text)).await
        }
        Err(LoginError::CodeNeeded) => {
            let text = context.language.texts().code_needed;
            confirmation_page(context, id, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
        }
        Err(LoginError::Refused) => {
            let text = context.language.texts().code_wrong;
            confirmation_page(context, id, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
        }
        Err(LoginError::Over) => confirmed_before(context, id, StatusCode::CONFLICT).await,
        Err(error) => Err(error.into()),
    }
}

fn parse(id: &str) -> Result<ConfirmationId, Failure> {
    ConfirmationId::parse(id).map_err(|_| Failure::NotFound)
}

async fn confirmation_page(
    context: &PageContext,
    id: ConfirmationId,
    status: StatusCode,
    error: Option<&str>,
) -> Result<HttpResponse, Failure> {
    let Confirmation { action, expires_at, .. } =
        begin::find(&context.dashboard.logins, context.logged_in()?, id).await?;
    let Described { title, subject, details, back, .. } = described(context, action).await?;
    let (page, id, until) = (context.layout(), id.to_string(), When::of(expires_at, context.language));
    Ok(context.page(status, &ConfirmPage { page, error, id, title, subject, details, back, until }))
}

/// Shows that the action was confirmed before.
async fn confirmed_before(
    context: &PageContext,
    id: ConfirmationId,
    status: StatusCode,
) -> Result<HttpResponse, Failure> {
    let found = begin::find_done(&context.dashboard.logins, context.logged_in()?, id).await?;
    let Described { title, subject, back, done, .. } = described(context, found.action).await?;
    Ok(context.page(status, &ConfirmedPage { page: context.layout(), title, subject, text: done, back }))
}

async fn described(context: &PageContext, action: PendingAction) -> Result<Described, Failure> {
    let t = context.language.texts();
    let keys = "/keys".to_owned();
    let done = match &action {
        PendingAction::CreateKey { .. } => t.done_key,
        PendingAction::RotateSecret { .. } => t.done_secret,
        PendingAction::RenewRecoveryCodes => t.done_codes,
        PendingAction::RevokeKey { .. }
        | PendingAction::MoveEndpoint { .. }
        | PendingAction::ChangeAccount { .. }
        | PendingAction::Decide { .. }
        | PendingAction::SendPayout { .. }
        | PendingAction::SendRefund { .. }
        | PendingAction::SendWithdrawal { .. } => t.done_other,
    };
    let (title, subject, details, back) = match action {
        PendingAction::CreateKey { name, scopes, expires_in_days, allowed_addresses } => {
            let mut details = vec![(t.key_scopes, scopes.to_string().replace(',', ", "))];
            details.extend(expires_in_days.map(|days| (t.key_days, days.to_string())));
            if !allowed_addresses.is_empty() {
                details.push((t.key_addresses_list, allowed_addresses.join(", ")));
            }
            (t.confirm_create, name.into_string(), details, keys)
        }
        PendingAction::RevokeKey { prefix } => (t.key_revoke_title, prefix.to_string(), Vec::new(), keys),
        PendingAction::RotateSecret { endpoint, .. } => {
            let (_, account) = context.merchant()?;
            let found = endpoints::find(context.ports(), account, endpoint).await?.ok_or(Failure::NotFound)?;
            let title = WebhookTexts::of(context.language).rotate;
            (title, found.url.to_string(), Vec::new(), format!("/webhooks/{endpoint}"))
        }
        PendingAction::MoveEndpoint { endpoint, url, subscription, .. } => {
            let t = WebhookTexts::of(context.language);
            let details = vec![(t.subscription, subscription.names().join(", "))];
            (t.move_title, url.to_string(), details, format!("/webhooks/{endpoint}"))
        }
        PendingAction::RenewRecoveryCodes => {
            let user = context.logged_in()?.user.email.clone();
            (t.recovery_renew, user, Vec::new(), "/recovery-codes".to_owned())
        }
        PendingAction::ChangeAccount { account, change, .. } => {
            let found = context.ports().queries.find_account(account).await?.ok_or(Failure::NotFound)?;
            let details = terms::details(&change, context.language);
            (terms::title(&change, context.language), found.email, details, format!("/operator/accounts/{account}"))
        }
        PendingAction::Decide { decision, note } => {
            let DecisionView { title, subject, details, back } =
                decision::decision_view(context, decision, note).await?;
            (title, subject, details, back)
        }
        PendingAction::SendPayout { .. } | PendingAction::SendRefund { .. } | PendingAction::SendWithdrawal { .. } => {
            return Err(Failure::NotFound);
        }
    };
    Ok(Described { title, subject, details, back, done })
}
