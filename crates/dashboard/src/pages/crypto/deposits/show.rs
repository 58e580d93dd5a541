//! Shows a deposit with its payments: as a whole page, and as the part with which an open page refreshes itself.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::crypto::Deposit;
use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, DepositStatus, PaymentState};
use cais_domain::ids::CryptoDepositId;
use cais_use_cases::crypto::deposits::{DepositName, payments};

use crate::failure::Failure;
use crate::format::{When, brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::qr::Qr;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;

#[derive(Template)]
#[template(path = "crypto/deposit.html")]
struct DepositPage {
    page: Layout,
    t: &'static CryptoTexts,
    deposit: View,
}

/// The part of the page that is refreshed.
#[derive(Template)]
#[template(path = "crypto/deposit_live.html")]
struct LivePart {
    t: &'static CryptoTexts,
    deposit: View,
}

struct View {
    id: String,
    is_open: bool,
    status: &'static str,
    status_name: &'static str,
    currency: &'static str,
    network: &'static str,
    amount: String,
    fee: String,
    net: String,
    rate: String,
    coins: String,
    /// The coins with a decimal point, as wallets read them.
    coins_to_copy: String,
    received: String,
    address: Option<String>,
    memo: Option<String>,
    qr: Option<Qr>,
    expires: Option<When>,
    resolution: Option<&'static str>,
    description: Option<String>,
    external_id: Option<String>,
    tx_hash: Option<String>,
    created: When,
    confirmed: Option<When>,
    completed: Option<When>,
    payments: Vec<PaymentRow>,
    raw: String,
}

struct PaymentRow {
    at: When,
    coins: String,
    credited: String,
    resolution: &'static str,
    state: String,
    tx_hash: String,
}

/// Shows the deposit.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let deposit = read(&context, &id).await?;
    Ok(context.ok(&DepositPage { page: context.layout(), t: CryptoTexts::of(context.language), deposit }))
}

/// Shows the refreshed part.
pub(crate) async fn live(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let deposit = read(&context, &id).await?;
    Ok(context.ok(&LivePart { t: CryptoTexts::of(context.language), deposit }))
}

async fn read(context: &PageContext, id: &str) -> Result<View, Failure> {
    let (_, account) = context.merchant()?;
    let name = DepositName::Id(CryptoDepositId::parse(id).map_err(|_| Failure::NotFound)?);
    let (ports, syncs) = (&context.dashboard.logins.ports, &context.dashboard.syncs);
    let (deposit, payments) = payments::list(ports, syncs, account, &name).await?;
    let raw = String::from_utf8_lossy(&ports.representation.crypto_deposit(&deposit)).into_owned();
    Ok(view(&deposit, &payments, raw, context.language))
}

fn view(deposit: &Deposit, payments: &[DepositPayment], raw: String, language: Language) -> View {
    let (t, terms, status) = (CryptoTexts::of(language), &deposit.terms, deposit.state.status());
    let issued = deposit.state.issued();
    let is_pending = status == DepositStatus::Pending;
    // Only a pending deposit has a QR code, so that no payer pays twice or too late.
    let uri = deposit.pay_uri().filter(|_| is_pending);
    View {
        id: deposit.id.to_string(),
        is_open: matches!(status, DepositStatus::Pending | DepositStatus::Confirming),
        status: status.as_str(),
        status_name: t.deposit(status),
        currency: terms.currency.code(),
        network: terms.currency.network(),
        amount: brl(terms.amount, language),
        fee: deposit.fee().map(|fee| brl(fee, language)).unwrap_or_default(),
        net: deposit.net_amount().map(|net| brl(net, language)).unwrap_or_default(),
        rate: decimal(&deposit.price.rate.to_string(), language),
        coins: decimal(&deposit.price.coins.to_string(), language),
        coins_to_copy: deposit.price.coins.to_string(),
        received: decimal(&deposit.credited.coins.to_string(), language),
        address: issued.map(|issued| issued.address.clone()),
        memo: issued.and_then(|issued| issued.extra_id.clone()),
        qr: uri.and_then(|uri| Qr::of(&uri)),
        expires: issued.filter(|_| is_pending).map(|issued| When::of(issued.expires_at, language)),
        resolution: deposit.resolution.map(|resolution| t.resolution_of(resolution)),
        description: terms.description.as_ref().map(ToString::to_string),
        external_id: terms.external_id.as_ref().map(ToString::to_string),
        tx_hash: deposit.tx_hash.clone(),
        created: When::of(deposit.created_at, language),
        confirmed: deposit.confirmed_at.map(|at| When::of(at, language)),
        completed: deposit.state.completed_at().map(|at| When::of(at, language)),
        payments: payments.iter().map(|payment| row(deposit, payment, language)).collect(),
        raw,
    }
}

fn row(deposit: &Deposit, payment: &DepositPayment, language: Language) -> PaymentRow {
    let t = CryptoTexts::of(language);
    PaymentRow {
        at: When::of(payment.created_at, language),
        coins: match &payment.coins {
            ArrivedCoins::Supported(coins) => format!("{} {}", decimal(&coins.to_string(), language), coins.currency()),
            ArrivedCoins::Unsupported { currency, amount } => {
                format!("{} {currency}", decimal(amount, language))
            }
        },
        credited: brl(payment.gross, language),
        resolution: t.payment(deposit.resolution_of(payment)),
        state: match payment.state {
            PaymentState::Credited => t.payment_credited.to_owned(),
            PaymentState::Review(reason) => format!("{} {}", t.payment_in_review, t.review_of(reason)),
            PaymentState::Dismissed(_) => t.payment_dismissed.to_owned(),
        },
        tx_hash: payment.tx_hash.clone().unwrap_or_default(),
    }
}
