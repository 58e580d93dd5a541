//! The form of a deposit. The next page shows its quote.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, Side};
use cais_use_cases::crypto::quotes;

use crate::failure::Failure;
use crate::form::Form;
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::crypto::{CurrencyChoice, choices, quote_refusal};
use crate::texts::crypto::CryptoTexts;

#[derive(Template)]
#[template(path = "crypto/new_deposit.html")]
struct NewDepositPage<'a> {
    page: Layout,
    t: &'static CryptoTexts,
    error: Option<String>,
    amount: &'a str,
    currencies: Vec<CurrencyChoice>,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    let (page, t) = (context.layout(), CryptoTexts::of(context.language));
    Ok(context.ok(&NewDepositPage { page, t, error: None, amount: "", currencies: choices("") }))
}

/// Creates a quote, and redirects to its page.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (_, account) = context.merchant()?;
    let (ports, t) = (&context.dashboard.logins.ports, CryptoTexts::of(context.language));
    let account = ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let error = match (terms(&form, t), &ports.crypto) {
        (Err(text), _) => text.to_owned(),
        (Ok(_), None) => t.unavailable.to_owned(),
        (Ok(terms), Some(sources)) => match quotes::create(ports, sources, &account, terms).await {
            Ok(quote) => return Ok(redirect(&format!("/crypto/deposits/quotes/{}", quote.id))),
            Err(refusal) => quote_refusal(&refusal, context.language),
        },
    };
    let (amount, currencies) = (form.get("amount"), choices(form.get("currency")));
    let shown = NewDepositPage { page: context.layout(), t, error: Some(error), amount, currencies };
    Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

fn terms(form: &Form, t: &CryptoTexts) -> Result<QuotedTerms, &'static str> {
    let amount = input::amount(form.get("amount")).filter(|amount| amount.is_positive()).ok_or(t.amount_wrong)?;
    let currency = Currency::parse(form.get("currency")).map_err(|_| t.currency_wrong)?;
    Ok(QuotedTerms { side: Side::Deposit, currency, amount })
}
