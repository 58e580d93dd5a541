//! Shows an account with the forms that change it.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use cais_domain::fee::Operation;
use cais_domain::merchant::account::{Account, AccountStatus, Feature, Kyc};
use cais_domain::merchant::account_change::MAX_RELEASE_DELAY_S;
use cais_domain::money::Money;

use super::shares::{self, ShareRow};
use super::{kyc, status, terms};
use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::operator::OperatorTexts;
use crate::texts::settings::SettingsTexts;

#[derive(Template)]
#[template(path = "operator/account.html")]
struct AccountPage<'a> {
    page: Layout,
    t: &'static OperatorTexts,
    error: Option<&'a str>,
    is_changed: bool,
    id: String,
    version: i64,
    email: String,
    name: String,
    document: String,
    kyc: &'static str,
    status: &'static str,
    created: When,
    kyc_decisions: Vec<KycDecision>,
    is_suspended: bool,
    features: Vec<Switch>,
    fees: Vec<Fee>,
    charge_limit: String,
    payout_limit: String,
    release_delay_s: u32,
    max_release_delay_s: u32,
    shares: Vec<ShareRow>,
}

/// A KYC decision that the present KYC state of the account permits.
struct KycDecision {
    change: &'static str,
    text: &'static str,
    button: &'static str,
}

struct Switch {
    name: &'static str,
    text: &'static str,
    is_on: bool,
}

/// The fee of an operation as its form shows it.
struct Fee {
    operation: &'static str,
    text: &'static str,
    fixed: String,
    percentage: String,
    min: String,
    max: String,
    example: String,
}

/// Shows the account.
pub(crate) async fn show(
    context: PageContext,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let account = super::find(&context, &id).await?;
    page(&context, account, request.query_string() == "changed", None).await
}

/// Returns the page of an account. `error` is the text about the mistake of a refused form.
pub(super) async fn page(
    context: &PageContext,
    account: Account,
    is_changed: bool,
    error: Option<&str>,
) -> Result<HttpResponse, Failure> {
    let (language, t) = (context.language, OperatorTexts::of(context.language));
    let s = SettingsTexts::of(language);
    let features = Feature::ALL.map(|one| Switch {
        name: one.as_str(),
        text: s.feature(one),
        is_on: account.features.contains(one),
    });
    let fees = Operation::ALL.map(|operation| fee(&account, operation, language));
    let shown = AccountPage {
        page: context.layout(),
        t,
        error,
        is_changed,
        id: account.id.to_string(),
        version: account.version,
        document: account.document.formatted(),
        kyc: kyc(account.kyc, t),
        status: status(account.status, t),
        created: When::of(account.created_at, language),
        kyc_decisions: kyc_decisions(account.kyc, t),
        is_suspended: account.status == AccountStatus::Suspended,
        features: features.into(),
        fees: fees.into(),
        charge_limit: typed(account.limits.charge, language),
        payout_limit: typed(account.limits.payout, language),
        release_delay_s: account.release_delay_s,
        max_release_delay_s: MAX_RELEASE_DELAY_S,
        shares: shares::newest(context.ports(), account.id, language).await?,
        email: account.email,
        name: account.name,
    };
    Ok(context.page(if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }, &shown))
}

fn kyc_decisions(kyc: Kyc, t: &'static OperatorTexts) -> Vec<KycDecision> {
    let approve = KycDecision { change: "approve", text: t.approve_text, button: t.approve };
    let reject = KycDecision { change: "reject", text: t.reject_text, button: t.reject };
    match kyc {
        Kyc::Pending => vec![approve, reject],
        Kyc::Approved => vec![reject],
        Kyc::Rejected => vec![approve],
    }
}

fn fee(account: &Account, operation: Operation, language: Language) -> Fee {
    let rule = account.fees.get(operation);
    let bound = |money: Option<Money>| money.map(|money| typed(money, language)).unwrap_or_default();
    Fee {
        operation: operation.as_str(),
        text: SettingsTexts::of(language).operation_of(operation),
        fixed: typed(rule.fixed(), language),
        percentage: with_separator(rule.percentage().to_string(), language),
        min: bound(rule.min()),
        max: bound(rule.max()),
        example: terms::example(rule, language),
    }
}

/// Returns an amount as a form field shows it in the language: `1234,56` or `1234.56`.
fn typed(money: Money, language: Language) -> String {
    with_separator(money.to_string(), language)
}

fn with_separator(number: String, language: Language) -> String {
    match language {
        Language::Portuguese => number.replace('.', ","),
        Language::English => number,
    }
}
