//! The first page after a login: the balance of a merchant.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::merchant::account::{AccountStatus, Kyc};
use cais_use_cases::balance;

use crate::failure::Failure;
use crate::format::brl;
use crate::layout::Layout;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    page: Layout,
    name: String,
    notice: Option<&'a str>,
    available: String,
    pending: String,
    blocked: String,
}

#[derive(Template)]
#[template(path = "operator.html")]
struct OperatorPage {
    page: Layout,
}

/// Shows the balance; to an operator, a note.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let visitor = visit.complete()?;
    let page = visit.layout();
    let Some(account) = visitor.user.role.account() else {
        return Ok(visit.ok(&OperatorPage { page }));
    };
    let queries = &visit.dashboard.logins.ports.queries;
    let account = queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let balances = balance::read(&visit.dashboard.logins.ports, account.id).await?;
    let t = page.t;
    let notice = match (account.status, account.kyc) {
        (AccountStatus::Suspended, _) => Some(t.suspended),
        (AccountStatus::Active, Kyc::Pending) => Some(t.kyc_pending),
        (AccountStatus::Active, Kyc::Rejected) => Some(t.kyc_rejected),
        (AccountStatus::Active, Kyc::Approved) => None,
    };
    let [available, pending, blocked] =
        [balances.available, balances.pending, balances.blocked].map(|amount| brl(amount, visit.language));
    Ok(visit.ok(&HomePage { page, name: account.name, notice, available, pending, blocked }))
}
