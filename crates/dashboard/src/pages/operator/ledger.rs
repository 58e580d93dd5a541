//! The ledger check: balances are rebuilt from their entries, and the coins of the crypto processor are compared with
//! the ledger.

use actix_web::HttpResponse;
use askama::Template;
use cais_ports::LedgerReport;
use cais_use_cases::crypto::exposure::{self, Exposure};
use cais_use_cases::{Ports, ledger};

use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::checks::CheckTexts;

/// The result of a ledger check.
#[derive(Debug)]
pub(crate) struct LedgerCheck {
    report: LedgerReport,
    /// The coins of the processor, or the reason why they could not be read; `None` without a processor.
    exposure: Option<Result<Exposure, String>>,
}

#[derive(Template)]
#[template(path = "operator/ledger.html")]
struct LedgerPage {
    page: Layout,
    t: &'static CheckTexts,
    running: Option<When>,
    last: Option<(When, Result<View, String>)>,
}

struct View {
    accounts: u64,
    entries: u64,
    /// For each difference: the ledger account or the violated rule, the expected value, and the stored value. The
    /// values are centavos or counts.
    differences: Vec<(String, i64, i64)>,
    exposure: Option<Result<Coins, String>>,
}

struct Coins {
    /// For each currency: its code, the coins, the BRL for one coin, and the value of the coins in BRL.
    rows: Vec<(String, String, String, String)>,
    worth: String,
    owed: String,
    surplus: String,
}

/// Shows the last check of this process.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    page(&context)
}

/// Starts the check, and shows its result if the check ends within the time limit of the request. The check moves no
/// money, so the operator enters no confirmation code.
pub(crate) async fn start(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    context.operator()?;
    let ports = context.ports().clone();
    context.dashboard.checks.ledger.start(context.ports().clock.now(), async move { check(&ports).await }).await;
    page(context)
}

async fn check(ports: &Ports) -> Result<LedgerCheck, String> {
    let report = ledger::verify(ports).await.map_err(|error| error.to_string())?;
    let exposure = match &ports.crypto {
        Some(crypto) => Some(exposure::read(ports, crypto).await.map_err(|error| error.to_string())),
        None => None,
    };
    Ok(LedgerCheck { report, exposure })
}

fn page(context: &PageContext) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let (state, language) = (context.dashboard.checks.ledger.state(), context.language);
    let last = state.last.map(|(at, result)| (When::of(at, language), result.map(|check| view(&check, language))));
    let running = state.running_since.map(|since| When::of(since, language));
    Ok(context.ok(&LedgerPage { page: context.layout(), t: CheckTexts::of(language), running, last }))
}

fn view(check: &LedgerCheck, language: Language) -> View {
    let LedgerReport { accounts, entries, differences } = &check.report;
    let differences = differences.iter().map(|one| (one.what.clone(), one.expected, one.stored)).collect();
    let exposure = check.exposure.as_ref().map(|exposure| match exposure {
        Ok(exposure) => Ok(coins(exposure, language)),
        Err(error) => Err(error.clone()),
    });
    View { accounts: *accounts, entries: *entries, differences, exposure }
}

fn coins(exposure: &Exposure, language: Language) -> Coins {
    let rows = exposure.held.iter().map(|held| {
        (
            held.coins.currency().to_string(),
            decimal(&held.coins.to_string(), language),
            decimal(&held.rate.to_string(), language),
            brl(held.worth, language),
        )
    });
    Coins {
        rows: rows.collect(),
        worth: brl(exposure.worth, language),
        owed: brl(exposure.owed, language),
        surplus: brl(exposure.surplus, language),
    }
}
