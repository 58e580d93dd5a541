//! Confirms a withdrawal by a fresh one-time code, and sends it at the price of the shown quote.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::crypto::Side;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::fee::Operation;
use cais_domain::ids::{ConfirmationId, CryptoQuoteId};
use cais_domain::text::Text;
use cais_ports::{Confirmation, ConfirmationState, PendingAction};
use cais_use_cases::crypto::quotes::{self, PriceRefusal};
use cais_use_cases::crypto::withdrawals::create::WithdrawalRefusal;
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::orders::{self, SendError, SentOrder};
use cais_use_cases::upstream_order::CreateError;

use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl, decimal};
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::crypto::{quote_refusal, withdrawal_refusal};
use crate::query::Query;
use crate::texts::crypto::CryptoTexts;

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
    quote: CryptoQuoteId,
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

/// Shows the withdrawal, its quote and the field for the code.
pub(crate) async fn show(context: PageContext, query: Query, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    confirmation_page(&context, parse(&id)?, quote_of(&query)?, StatusCode::OK, None).await
}

/// Approves and sends the withdrawal. A form that is sent again leads to the same withdrawal. If the quote has expired
/// or another withdrawal used it, no withdrawal is sent, and the page shows a new quote.
pub(crate) async fn submit(form: Form, query: Query, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, _) = context.merchant()?;
    let (id, quote) = (parse(&id)?, quote_of(&query)?);
    let (logins, browser, visitor) = (context.dashboard.logins.clone(), context.browser.clone(), visitor.clone());
    let code = form.get("code").to_owned();
    let work = async move {
        let approved = orders::approve(&logins, &browser, &visitor, id, &code).await?;
        Ok::<_, LoginError>(orders::send_withdrawal(&logins.ports, &approved, quote).await)
    };
    let Ok(ended) = detached::run(work).await else {
        let text = CryptoTexts::of(context.language).in_progress.to_owned();
        return confirmation_page(context, id, quote, StatusCode::SERVICE_UNAVAILABLE, Some(text)).await;
    };
    let text = match ended {
        Ok(Ok(SentOrder::Created(withdrawal))) => return Ok(redirect(&format!("/crypto/withdrawals/{withdrawal}"))),
        Ok(Ok(SentOrder::NotCovered)) => CryptoTexts::of(context.language).not_covered.to_owned(),
        Ok(Err(SendError::Order(CreateError::Refused(WithdrawalRefusal::Price(
            PriceRefusal::QuoteNotFound | PriceRefusal::Quote(_),
        ))))) => match requote(context, id).await? {
            Ok(quote) => {
                let text = CryptoTexts::of(context.language).price_renewed.to_owned();
                return confirmation_page(context, id, quote, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await;
            }
            Err(text) => text,
        },
        Ok(Err(SendError::Order(error))) => withdrawal_refusal(&error, context.language)?,
        Ok(Err(SendError::OtherAction)) => return Err(Failure::NotFound),
        Ok(Err(SendError::Query(error))) => return Err(error.into()),
        Err(LoginError::CodeNeeded) => context.language.texts().code_needed.to_owned(),
        Err(LoginError::Refused) => context.language.texts().code_wrong.to_owned(),
        Err(error) => return Err(error.into()),
    };
    confirmation_page(context, id, quote, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
}

fn parse(id: &str) -> Result<ConfirmationId, Failure> {
    ConfirmationId::parse(id).map_err(|_| Failure::NotFound)
}

/// Returns the quote's id from the query of the URL.
fn quote_of(query: &Query) -> Result<CryptoQuoteId, Failure> {
    query.id("quote")?.ok_or(Failure::NotFound)
}

/// Creates a new quote for a withdrawal. If this is not possible, the inner error is the text for the user.
async fn requote(context: &PageContext, id: ConfirmationId) -> Result<Result<CryptoQuoteId, String>, Failure> {
    let (visitor, account) = context.merchant()?;
    let logins = &context.dashboard.logins;
    let PendingAction::SendWithdrawal { amount, address, .. } = orders::find(logins, visitor, id).await?.action else {
        return Err(Failure::NotFound);
    };
    let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let Some(crypto) = &logins.ports.crypto else {
        return Ok(Err(CryptoTexts::of(context.language).unavailable.to_owned()));
    };
    let terms = QuotedTerms { side: Side::Withdrawal, currency: address.currency(), amount };
    let quote = quotes::create(&logins.ports, crypto, &account, terms).await;
    Ok(quote.map(|quote| quote.id).map_err(|refusal| quote_refusal(&refusal, context.language)))
}

async fn confirmation_page(
    context: &PageContext,
    id: ConfirmationId,
    quote: CryptoQuoteId,
    status: StatusCode,
    error: Option<String>,
) -> Result<HttpResponse, Failure> {
    let (visitor, account) = context.merchant()?;
    let (logins, language) = (&context.dashboard.logins, context.language);
    let Confirmation { action, state, expires_at, .. } = orders::find(logins, visitor, id).await?;
    let PendingAction::SendWithdrawal { amount, address, description, external_id } = action else {
        return Err(Failure::NotFound);
    };
    let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let currency = address.currency();
    let terms = QuotedTerms { side: Side::Withdrawal, currency, amount };
    let found = quotes::find(&logins.ports, account.id, quote).await?.filter(|quote| quote.terms == terms);
    let sum = account.fees.get(Operation::CryptoOut).fee(amount).and_then(|fee| Ok((fee, amount.checked_add(fee)?)));
    let (fee, total) = sum.map_err(|error| Failure::Unavailable(error.to_string()))?;
    let shown = ConfirmWithdrawalPage {
        page: context.layout(),
        t: CryptoTexts::of(language),
        error,
        id: id.to_string(),
        currency: currency.code(),
        network: currency.network(),
        address: address.to_string(),
        amount: brl(amount, language),
        fee: brl(fee, language),
        total: brl(total, language),
        quote,
        estimate: found.map(|quote| Estimate {
            coins: decimal(&quote.prices.coins.to_string(), language),
            rate: decimal(&quote.prices.rate.to_string(), language),
        }),
        description: description.map(Text::into_string),
        external_id: external_id.as_ref().map(ToString::to_string),
        is_approved: state == ConfirmationState::Done,
        until: When::of(expires_at, language),
    };
    Ok(context.page(status, &shown))
}
