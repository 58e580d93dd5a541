//! The form of a withdrawal. On the next page, the user confirms the withdrawal by a one-time code.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Address, Currency, Side};
use cais_ports::PendingAction;
use cais_use_cases::crypto::quotes;
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::crypto::{CurrencyChoice, choices, free_texts, quote_refusal};
use crate::texts::crypto::CryptoTexts;

#[derive(Template)]
#[template(path = "crypto/new_withdrawal.html")]
struct NewWithdrawalPage<'a> {
    page: Layout,
    t: &'static CryptoTexts,
    error: Option<String>,
    amount: &'a str,
    address: &'a str,
    description: &'a str,
    external_id: &'a str,
    currencies: Vec<CurrencyChoice>,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    let shown = NewWithdrawalPage {
        page: context.layout(),
        t: CryptoTexts::of(context.language),
        error: None,
        amount: "",
        address: "",
        description: "",
        external_id: "",
        currencies: choices(""),
    };
    Ok(context.ok(&shown))
}

/// Creates a quote, and stores the intent to send the withdrawal. The withdrawal is sent after its confirmation.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, account) = context.merchant()?;
    let t = CryptoTexts::of(context.language);
    let logins = &context.dashboard.logins;
    let account = logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let error = match (request(&form, t), &logins.ports.crypto) {
        (Err(text), _) => text.to_owned(),
        (Ok(_), None) => t.unavailable.to_owned(),
        (Ok((terms, action)), Some(sources)) => match quotes::create(&logins.ports, sources, &account, terms).await {
            Ok(quote) => {
                let id = begin::begin(logins, visitor, action).await?;
                return Ok(redirect(&format!("/crypto/withdrawals/confirm/{id}?quote={}", quote.id)));
            }
            Err(refusal) => quote_refusal(&refusal, context.language),
        },
    };
    let shown = NewWithdrawalPage {
        page: context.layout(),
        t,
        error: Some(error),
        amount: form.get("amount"),
        address: form.get("address"),
        description: form.get("description"),
        external_id: form.get("external_id"),
        currencies: choices(form.get("currency")),
    };
    Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

/// Reads the form. Returns the terms to quote, and the withdrawal that the user must confirm. The error is the message
/// about the form's first mistake.
fn request(form: &Form, t: &CryptoTexts) -> Result<(QuotedTerms, PendingAction), &'static str> {
    let amount = input::amount(form.get("amount")).filter(|amount| amount.is_positive()).ok_or(t.amount_wrong)?;
    let currency = Currency::parse(form.get("currency")).map_err(|_| t.currency_wrong)?;
    let address = Address::parse(currency, form.get("address")).map_err(|_| t.address_wrong)?;
    let (description, external_id) = free_texts(form, t)?;
    let terms = QuotedTerms { side: Side::Withdrawal, currency, amount };
    Ok((terms, PendingAction::SendWithdrawal { amount, address, description, external_id }))
}
