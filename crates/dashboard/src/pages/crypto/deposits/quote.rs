//! Shows the quote of a deposit, and creates the deposit.
//!
//! A quote is used once, and its id is the idempotency key. So a form that is sent twice creates one deposit.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::charge::Origin;
use cais_domain::crypto::{Quote, Side};
use cais_domain::ids::{CryptoQuoteId, RequestId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_ports::{Fingerprint, IdempotencyRef};
use cais_use_cases::Ports;
use cais_use_cases::crypto::deposits::create::{CreateDeposit, NewDeposit, create};
use cais_use_cases::crypto::quotes;

use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl, decimal};
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::crypto::{deposit_refusal, free_texts};
use crate::texts::crypto::CryptoTexts;

/// The purpose of the keyed hash that identifies the terms of a deposit.
const TERMS_PURPOSE: &str = "dashboard-deposit";

#[derive(Template)]
#[template(path = "crypto/quote.html")]
struct QuotePage<'a> {
    page: Layout,
    t: &'static CryptoTexts,
    error: Option<String>,
    id: String,
    currency: &'static str,
    network: &'static str,
    amount: String,
    fee: String,
    net: String,
    rate: String,
    coins: String,
    expires: When,
    is_open: bool,
    description: &'a str,
    external_id: &'a str,
}

/// Shows the quote.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let quote = find(&context, &id).await?;
    page(&context, &quote, None, ("", ""))
}

/// Creates the deposit. A form that is sent again leads to the same deposit.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let quote = find(context, &id).await?;
    let written = (form.get("description"), form.get("external_id"));
    let t = CryptoTexts::of(context.language);
    let (description, external_id) = match free_texts(&form, t) {
        Ok(texts) => texts,
        Err(text) => return page(context, &quote, Some(text.to_owned()), written),
    };
    let ports = context.dashboard.logins.ports.clone();
    let account = ports.queries.find_account(quote.account).await?.ok_or(Failure::NotFound)?;
    let terms = NewDeposit {
        amount: quote.terms.amount,
        currency: quote.terms.currency,
        description,
        external_id,
        origin: Origin::Manual,
        postback_url: None,
        quote: Some(quote.id),
    };
    let (name, command) = command(&ports, account, terms, quote.id)?;
    let working = ports.clone();
    match detached::run(async move { create(&working, command).await }).await? {
        Ok(_) => {
            let record = ports.queries.find_idempotency_record(&name).await?.ok_or(Failure::NotFound)?;
            Ok(redirect(&format!("/crypto/deposits/{}", record.resource)))
        }
        Err(error) => page(context, &quote, Some(deposit_refusal(&error, context.language)?), written),
    }
}

fn command(
    ports: &Ports,
    account: Account,
    terms: NewDeposit,
    quote: CryptoQuoteId,
) -> Result<(IdempotencyRef, CreateDeposit), Failure> {
    let key = IdempotencyKey::parse(&format!("dashboard:{quote}"));
    let key = key.map_err(|error| Failure::Unavailable(error.to_string()))?;
    let written = format!("{quote}\n{:?}\n{:?}", terms.description, terms.external_id);
    let fingerprint = Fingerprint(ports.keyed_hash.hash(TERMS_PURPOSE, written.as_bytes()).0);
    let (request, name) =
        (RequestId::new(ports.ids.next_uuid()), IdempotencyRef { account: account.id, key: key.clone() });
    Ok((name, CreateDeposit { account, request, key, fingerprint, terms }))
}

/// Returns the account's quote for a deposit, even if the quote is used or expired.
async fn find(context: &PageContext, id: &str) -> Result<Quote, Failure> {
    let (_, account) = context.merchant()?;
    let id = CryptoQuoteId::parse(id).map_err(|_| Failure::NotFound)?;
    let found = quotes::find(&context.dashboard.logins.ports, account, id).await?;
    found.filter(|quote| quote.terms.side == Side::Deposit).ok_or(Failure::NotFound)
}

fn page(
    context: &PageContext,
    quote: &Quote,
    error: Option<String>,
    (description, external_id): (&str, &str),
) -> Result<HttpResponse, Failure> {
    let (language, t, terms) = (context.language, CryptoTexts::of(context.language), quote.terms);
    let sum = |sum: Result<_, _>| {
        sum.map_err(|error: cais_domain::money::MoneyError| Failure::Unavailable(error.to_string()))
    };
    let status = if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let shown = QuotePage {
        page: context.layout(),
        t,
        error,
        id: quote.id.to_string(),
        currency: terms.currency.code(),
        network: terms.currency.network(),
        amount: brl(terms.amount, language),
        fee: brl(sum(quote.fee())?, language),
        net: brl(sum(quote.net_amount())?, language),
        rate: decimal(&quote.prices.rate.to_string(), language),
        coins: decimal(&quote.prices.coins.to_string(), language),
        expires: When::of(quote.expires_at, language),
        is_open: quote.used_by.is_none() && context.dashboard.logins.ports.clock.now() < quote.expires_at,
        description,
        external_id,
    };
    Ok(context.page(status, &shown))
}
