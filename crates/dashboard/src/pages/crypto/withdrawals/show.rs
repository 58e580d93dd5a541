//! Shows a withdrawal, as a whole page and as the part that refreshes an open page.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::crypto::Withdrawal;
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::ids::CryptoWithdrawalId;
use cais_use_cases::crypto::withdrawals::{WithdrawalName, fetch};

use crate::failure::Failure;
use crate::format::{When, brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;

#[derive(Template)]
#[template(path = "crypto/withdrawal.html")]
struct WithdrawalPage {
    page: Layout,
    t: &'static CryptoTexts,
    withdrawal: View,
}

/// The part of the page that is refreshed.
#[derive(Template)]
#[template(path = "crypto/withdrawal_live.html")]
struct LivePart {
    t: &'static CryptoTexts,
    withdrawal: View,
}

struct View {
    id: String,
    is_open: bool,
    needs_review: bool,
    status: &'static str,
    status_name: &'static str,
    currency: &'static str,
    network: &'static str,
    address: String,
    amount: String,
    fee: String,
    total: String,
    rate: String,
    coins: String,
    network_fee: Option<String>,
    description: Option<String>,
    external_id: Option<String>,
    tx_hash: Option<String>,
    failure: Option<String>,
    created: When,
    completed: Option<When>,
    raw: String,
}

/// Shows the withdrawal.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let withdrawal = read(&context, &id).await?;
    Ok(context.ok(&WithdrawalPage { page: context.layout(), t: CryptoTexts::of(context.language), withdrawal }))
}

/// Shows the refreshed part.
pub(crate) async fn live(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let withdrawal = read(&context, &id).await?;
    Ok(context.ok(&LivePart { t: CryptoTexts::of(context.language), withdrawal }))
}

async fn read(context: &PageContext, id: &str) -> Result<View, Failure> {
    let (_, account) = context.merchant()?;
    let name = WithdrawalName::Id(CryptoWithdrawalId::parse(id).map_err(|_| Failure::NotFound)?);
    let (ports, syncs) = (&context.dashboard.logins.ports, &context.dashboard.syncs);
    let withdrawal = fetch::fetch(ports, syncs, account, &name).await?;
    let raw = String::from_utf8_lossy(&ports.representation.crypto_withdrawal(&withdrawal)).into_owned();
    Ok(view(&withdrawal, raw, context.language))
}

fn view(withdrawal: &Withdrawal, raw: String, language: Language) -> View {
    let (t, terms, price) = (CryptoTexts::of(language), &withdrawal.terms, &withdrawal.price);
    let (status, currency) = (withdrawal.state.status(), terms.address.currency());
    View {
        id: withdrawal.id.to_string(),
        is_open: status == WithdrawalStatus::Processing,
        needs_review: withdrawal.state.review_since().is_some(),
        status: status.as_str(),
        status_name: t.withdrawal(status),
        currency: currency.code(),
        network: currency.network(),
        address: terms.address.to_string(),
        amount: brl(terms.amount, language),
        fee: brl(price.fee, language),
        total: withdrawal.gross().map(|total| brl(total, language)).unwrap_or_default(),
        rate: decimal(&price.rate.to_string(), language),
        coins: decimal(&price.coins.to_string(), language),
        network_fee: withdrawal.network_fee.map(|fee| decimal(&fee.to_string(), language)),
        description: terms.description.as_ref().map(ToString::to_string),
        external_id: terms.external_id.as_ref().map(ToString::to_string),
        tx_hash: withdrawal.tx_hash.clone(),
        failure: withdrawal.state.failure().map(str::to_owned),
        created: When::of(withdrawal.created_at, language),
        completed: withdrawal.state.completed_at().map(|at| When::of(at, language)),
        raw,
    }
}
