//! The first page after a login: the balance of a merchant, the money in and out of the last 30 days, and the records
//! that require an action.

mod attention;
mod chart;
mod waiting;

use actix_web::{HttpResponse, rt};
use askama::Template;
use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{AccountStatus, Kyc};
use cais_use_cases::balance;

use self::attention::Line;
use self::chart::{Chart, Row};
use self::waiting::Waiting;
use crate::failure::Failure;
use crate::format::brl;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::home::HomeTexts;

#[derive(Template)]
#[template(path = "home/merchant.html")]
struct HomePage<'a> {
    page: Layout,
    t: &'static HomeTexts,
    name: String,
    notice: Option<&'a str>,
    available: String,
    pending: String,
    blocked: String,
    attention: Vec<Line>,
    is_complete: bool,
    chart: Chart,
    days: Vec<Row>,
    incoming_today: String,
    outgoing_today: String,
}

#[derive(Template)]
#[template(path = "operator/home.html")]
struct OperatorPage {
    page: Layout,
    waiting: Waiting,
}

/// Shows the home page to a merchant, and the numbers of waiting records to an operator.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let visitor = context.logged_in()?;
    let page = context.layout();
    if visitor.user.role.account().is_none() {
        return Ok(context.ok(&OperatorPage { page, waiting: waiting::read(&context).await? }));
    }
    let account = context.account().await?;
    let balances = balance::read(context.ports(), account.id).await?;
    let t = page.t;
    let notice = match (account.status, account.kyc) {
        (AccountStatus::Suspended, _) => Some(t.suspended),
        (AccountStatus::Active, Kyc::Pending) => Some(t.kyc_pending),
        (AccountStatus::Active, Kyc::Rejected) => Some(t.kyc_rejected),
        (AccountStatus::Active, Kyc::Approved) => None,
    };
    let [available, pending, blocked] =
        [balances.available, balances.pending, balances.blocked].map(|amount| brl(amount, context.language));
    let totals = context.dashboard.totals.read(context.ports(), account.id).await?;
    if !totals.is_complete {
        catch_up(&context, account.id);
    }
    let days = chart::rows(&totals.days, context.language);
    let today = |amount: fn(&Row) -> &String| days.first().map(amount).cloned().unwrap_or_default();
    Ok(context.ok(&HomePage {
        page,
        t: HomeTexts::of(context.language),
        name: account.name,
        notice,
        available,
        pending,
        blocked,
        attention: attention::read(&context, account.id).await?,
        is_complete: totals.is_complete,
        chart: Chart::of(&totals.days),
        incoming_today: today(|row| &row.incoming),
        outgoing_today: today(|row| &row.outgoing),
        days,
    }))
}

/// Starts a task that counts the entries which the totals lack, so that no page waits for a large account.
fn catch_up(context: &PageContext, account: AccountId) {
    let (totals, ports) = (context.dashboard.totals.clone(), context.ports().clone());
    rt::spawn(async move {
        if let Err(error) = totals.catch_up(&ports, account).await {
            tracing::warn!(%account, %error, "daily totals not counted; the next view of the page counts them");
        }
    });
}
