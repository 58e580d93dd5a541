//! The crypto withdrawals and payments that wait for an operator, and the first step of their decisions.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, PaymentState};
use cais_domain::crypto::{ProcessorId, Withdrawal};
use cais_domain::ids::CryptoWithdrawalId;
use cais_domain::review_decision::{PaymentDecision, ReviewDecision, WithdrawalDecision, parse_note};
use cais_ports::PendingAction;
use cais_use_cases::crypto::deposits::review::list_payments;
use cais_use_cases::crypto::withdrawals::review;
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl, decimal};
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;
use crate::texts::operator::OperatorTexts;
use crate::texts::reviews::ReviewTexts;

/// The path of the page.
pub(super) const PATH: &str = "/operator/crypto";

#[derive(Template)]
#[template(path = "operator/crypto.html")]
struct CryptoPage<'a> {
    page: Layout,
    t: &'static ReviewTexts,
    c: &'static CryptoTexts,
    o: &'static OperatorTexts,
    error: Option<&'a str>,
    is_changed: bool,
    withdrawals: Vec<WithdrawalView>,
    payments: Vec<PaymentView>,
}

struct WithdrawalView {
    id: String,
    account: String,
    since: Option<When>,
    amount: String,
    fee: String,
    coins: String,
    address: String,
    processor: String,
    batch: String,
}

struct PaymentView {
    id: String,
    version: i64,
    account: String,
    deposit: String,
    since: When,
    coins: String,
    credited: String,
    review_reason: &'static str,
    processor: String,
    tx_hash: Option<String>,
}

/// Shows the withdrawals and payments that wait for a decision.
pub(crate) async fn show(context: PageContext, request: HttpRequest) -> Result<HttpResponse, Failure> {
    page(&context, request.query_string() == "changed", None).await
}

/// Stores a decision until its confirmation by a one-time code.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let operator = context.operator()?;
    match decision(&form, ReviewTexts::of(context.language)) {
        Ok(action) => {
            let id = begin::begin(&context.dashboard.logins, operator, action).await?;
            Ok(redirect(&format!("/confirm/{id}")))
        }
        Err(error) => page(context, false, Some(error)).await,
    }
}

/// Reads the decision from a form. The error is the message about the form's first mistake.
fn decision(form: &Form, t: &'static ReviewTexts) -> Result<PendingAction, &'static str> {
    let withdrawal = || CryptoWithdrawalId::parse(form.get("id")).map_err(|_| t.not_waiting);
    let decision = match form.get("decision") {
        "sent" => {
            let tx_hash = parse_note(form.get("tx_hash")).map_err(|_| t.tx_hash_wrong)?;
            ReviewDecision::Withdrawal { id: withdrawal()?, decision: WithdrawalDecision::Sent { tx_hash } }
        }
        "failed" => ReviewDecision::Withdrawal { id: withdrawal()?, decision: WithdrawalDecision::Failed },
        "credit" => {
            let amount = input::amount(form.get("amount")).filter(|amount| amount.is_positive());
            payment(form, PaymentDecision::Credit(amount.ok_or(t.amount_wrong)?)).ok_or(t.not_waiting)?
        }
        "credit_at_rate" => payment(form, PaymentDecision::CreditAtRate).ok_or(t.not_waiting)?,
        "dismiss" => payment(form, PaymentDecision::Dismiss).ok_or(t.not_waiting)?,
        _ => return Err(t.outcome_wrong),
    };
    let note = parse_note(form.get("note")).map_err(|_| t.note_wrong)?;
    Ok(PendingAction::Decide { decision, note })
}

/// Returns `decision` for the payment that the form names; `None` if a field of the form is invalid.
fn payment(form: &Form, decision: PaymentDecision) -> Option<ReviewDecision> {
    let processor = AcquirerName::parse(form.get("processor")).ok()?;
    let (id, seen) = (ProcessorId::parse(form.get("id")).ok()?, form.get("version").parse().ok()?);
    Some(ReviewDecision::Payment { processor, id, seen, decision })
}

async fn page(context: &PageContext, is_changed: bool, error: Option<&str>) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let (ports, language) = (context.ports(), context.language);
    let withdrawals = review::list(ports).await?.into_iter().map(|one| withdrawal_view(context, one)).collect();
    let payments = list_payments(ports).await?.into_iter().map(|one| payment_view(context, &one)).collect();
    let (t, c, o) = (ReviewTexts::of(language), CryptoTexts::of(language), OperatorTexts::of(language));
    let status = if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let shown = CryptoPage { page: context.layout(), t, c, o, error, is_changed, withdrawals, payments };
    Ok(context.page(status, &shown))
}

fn withdrawal_view(context: &PageContext, withdrawal: Withdrawal) -> WithdrawalView {
    let language = context.language;
    let (terms, price) = (withdrawal.terms, withdrawal.price);
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.as_ref()).map(ToString::to_string);
    WithdrawalView {
        id: withdrawal.id.to_string(),
        account: withdrawal.account.to_string(),
        since: withdrawal.state.review_since().map(|since| When::of(since, language)),
        amount: brl(terms.amount, language),
        fee: brl(price.fee, language),
        coins: format!("{} {}", decimal(&price.coins.to_string(), language), price.coins.currency()),
        address: terms.address.to_string(),
        processor: withdrawal.processor.to_string(),
        batch: batch.unwrap_or_else(|| ReviewTexts::of(language).batch_unknown.to_owned()),
    }
}

fn payment_view(context: &PageContext, payment: &DepositPayment) -> PaymentView {
    let language = context.language;
    PaymentView {
        id: payment.id.to_string(),
        version: payment.version,
        account: payment.account.to_string(),
        deposit: payment.deposit.to_string(),
        since: When::of(payment.created_at, language),
        coins: coins(payment, language),
        credited: brl(payment.gross, language),
        review_reason: match payment.state {
            PaymentState::Review(reason) => CryptoTexts::of(language).review_of(reason),
            PaymentState::Credited | PaymentState::Dismissed(_) => "–",
        },
        processor: payment.processor.to_string(),
        tx_hash: payment.tx_hash.clone(),
    }
}

/// Returns the coins of a payment with their currency.
pub(super) fn coins(payment: &DepositPayment, language: Language) -> String {
    let (amount, currency) = match &payment.coins {
        ArrivedCoins::Supported(coins) => (coins.to_string(), coins.currency().to_string()),
        ArrivedCoins::Unsupported { currency, amount } => (amount.clone(), currency.clone()),
    };
    format!("{} {currency}", decimal(&amount, language))
}
