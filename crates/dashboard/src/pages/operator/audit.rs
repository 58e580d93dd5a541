//! The audit log: each change by an operator or a user, with the record before and after it.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::ids::{AccountId, AuditId};
use cais_ports::{AuditFilter, AuditRow, PageRequest};
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::audit;

use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::actions::ActionTexts;
use crate::texts::operator::OperatorTexts;
use crate::visit::Visit;

/// The number of changes on a page.
const PAGE: u32 = 50;
const PATH: &str = "/operator/audit";
const ACCOUNT: &str = "account";

#[derive(Template)]
#[template(path = "operator/audit.html")]
struct AuditPage<'a> {
    page: Layout,
    t: &'static OperatorTexts,
    account: &'a str,
    is_unknown: bool,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    at: When,
    who: String,
    from: String,
    /// The text of the action in the user's language; `None` if no text exists for it.
    name: Option<&'static str>,
    action: String,
    subject: String,
    account: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

/// Shows a page of the log, newest first, of all accounts or of one.
pub(crate) async fn show(visit: Visit, query: Query) -> Result<HttpResponse, Failure> {
    visit.operator()?;
    let wanted = query.get(ACCOUNT).unwrap_or_default();
    let account = if wanted.is_empty() { None } else { find(&visit, wanted).await? };
    let is_unknown = account.is_none() && !wanted.is_empty();
    let (mut rows, mut next) = (Vec::new(), None);
    if !is_unknown {
        let cursor = query.get(STARTING_AFTER).map(AuditId::parse).transpose().map_err(|_| Failure::NotFound)?;
        let filter = AuditFilter { account, ..AuditFilter::default() };
        let found = audit::list(visit.ports(), filter, PageRequest { limit: PAGE, starting_after: cursor }).await?;
        let last = found.rows.last().filter(|_| found.has_more).map(|row| row.id.to_string());
        next = last.map(|last| path_with(PATH, &[(ACCOUNT, wanted), (STARTING_AFTER, &last)]));
        rows = found.rows.into_iter().map(|row| shown(&visit, row)).collect();
    }
    let t = OperatorTexts::of(visit.language);
    Ok(visit.ok(&AuditPage { page: visit.layout(), t, account: wanted, is_unknown, rows, next }))
}

/// Returns the id of the account whose id or e-mail is `text`. An id is not looked up, so the log of an account that no
/// longer exists can be shown.
async fn find(visit: &Visit, text: &str) -> Result<Option<AccountId>, Failure> {
    if let Ok(id) = AccountId::parse(text) {
        return Ok(Some(id));
    }
    let Ok(email) = AccountEmail::parse(text) else { return Ok(None) };
    let found = visit.ports().queries.find_account_by_email(email.as_str()).await?;
    Ok(found.map(|account| account.id))
}

fn shown(visit: &Visit, row: AuditRow) -> Row {
    Row {
        at: When::of(row.at, visit.language),
        who: row.operator.name,
        from: format!("{} {}", row.operator.source, row.operator.host),
        name: ActionTexts::of(visit.language).action(&row.action),
        action: row.action,
        subject: row.subject,
        account: row.account.map(|account| account.to_string()),
        before: row.before,
        after: row.after,
    }
}
