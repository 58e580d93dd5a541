//! Confirms a withdrawal by a fresh one-time code, and sends it.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::crypto::Side;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::fee::Operation;
use cais_domain::ids::{ConfirmationId, CryptoQuoteId};
use cais_domain::text::Text;
use cais_ports::{Confirmation, ConfirmationState, PendingAction};
use cais_use_cases::crypto::quotes;
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::orders::{self, SendError, SentOrder};

use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl, decimal};
use crate::layout::{Layout, redirect};
use crate::pages::crypto::withdrawal_refusal;
use crate::query::Query;
use crate::texts::crypto::CryptoTexts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "crypto/confirm.html")]
struct ConfirmWithdrawalPage {
    page: Layout,
    t: &'static CryptoTexts,
    error: Option<String>,
    id: String,
    currency: &'static str,
    network: &'static str,
    address: String,
    amount: String,
    fee: String,
    total: String,
    estimate: Option<Estimate>,
    description: Option<String>,
    external_id: Option<String>,
    is_approved: bool,
    until: When,
}

struct Estimate {
    coins: String,
    rate: String,
}

/// Shows the withdrawal and the field for the code. The address may name the quote of the estimate.
pub(crate) async fn show(visit: Visit, query: Query, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    visit.merchant()?;
    let quote = query.id("quote")?;
    waiting(&visit, parse(&id)?, quote, StatusCode::OK, None).await
}

/// Approves and sends the withdrawal. A repeat leads to the same withdrawal.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let (visitor, _) = visit.merchant()?;
    let id = parse(&id)?;
    let (logins, browser, visitor) = (visit.dashboard.logins.clone(), visit.browser.clone(), visitor.clone());
    let code = form.get("code").to_owned();
    let work = async move {
        let approved = orders::approve(&logins, &browser, &visitor, id, &code).await?;
        Ok::<_, LoginError>(orders::send_withdrawal(&logins.ports, &approved).await)
    };
    let Ok(ended) = detached::run(work).await else {
        let text = CryptoTexts::of(visit.language).in_progress.to_owned();
        return waiting(visit, id, None, StatusCode::SERVICE_UNAVAILABLE, Some(text)).await;
    };
    let text = match ended {
        Ok(Ok(SentOrder::Created(withdrawal))) => return Ok(redirect(&format!("/crypto/withdrawals/{withdrawal}"))),
        Ok(Ok(SentOrder::NotCovered)) => CryptoTexts::of(visit.language).not_covered.to_owned(),
        Ok(Err(SendError::Order(error))) => withdrawal_refusal(&error, visit.language)?,
        Ok(Err(SendError::OtherAction)) => return Err(Failure::NotFound),
        Ok(Err(SendError::Query(error))) => return Err(error.into()),
        Err(LoginError::Refused) => visit.language.texts().code_wrong.to_owned(),
        Err(error) => return Err(error.into()),
    };
    waiting(visit, id, None, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
}

fn parse(id: &str) -> Result<ConfirmationId, Failure> {
    ConfirmationId::parse(id).map_err(|_| Failure::NotFound)
}

async fn waiting(
    visit: &Visit,
    id: ConfirmationId,
    quote: Option<CryptoQuoteId>,
    status: StatusCode,
    error: Option<String>,
) -> Result<HttpResponse, Failure> {
    let (visitor, account) = visit.merchant()?;
    let (logins, language) = (&visit.dashboard.logins, visit.language);
    let Confirmation { action, state, expires_at, .. } = orders::find(logins, visitor, id).await?;
    let PendingAction::SendWithdrawal { amount, address, description, external_id } = action else {
        return Err(Failure::NotFound);
    };
    let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let currency = address.currency();
    let terms = QuotedTerms { side: Side::Withdrawal, currency, amount };
    let quote = match quote {
        Some(quote) => quotes::find(&logins.ports, account.id, quote).await?.filter(|quote| quote.terms == terms),
        None => None,
    };
    let sum = account.fees.get(Operation::CryptoOut).fee(amount).and_then(|fee| Ok((fee, amount.checked_add(fee)?)));
    let (fee, total) = sum.map_err(|error| Failure::Unavailable(error.to_string()))?;
    let shown = ConfirmWithdrawalPage {
        page: visit.layout(),
        t: CryptoTexts::of(language),
        error,
        id: id.to_string(),
        currency: currency.code(),
        network: currency.network(),
        address: address.to_string(),
        amount: brl(amount, language),
        fee: brl(fee, language),
        total: brl(total, language),
        estimate: quote.map(|quote| Estimate {
            coins: quote.prices.coins.to_string(),
            rate: decimal(&quote.prices.rate.to_string(), language),
        }),
        description: description.map(Text::into_string),
        external_id: external_id.as_ref().map(ToString::to_string),
        is_approved: state == ConfirmationState::Done,
        until: When::of(expires_at, language),
    };
    Ok(visit.page(status, &shown))
}
