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
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::actions::ActionTexts;
use crate::texts::operator::OperatorTexts;

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
    actor_name: String,
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
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let searched = query.get(ACCOUNT).unwrap_or_default();
    let account = if searched.is_empty() { None } else { find(&context, searched).await? };
    let is_unknown = account.is_none() && !searched.is_empty();
    let (mut rows, mut next) = (Vec::new(), None);
    if !is_unknown {
        let cursor = query.get(STARTING_AFTER).map(AuditId::parse).transpose().map_err(|_| Failure::NotFound)?;
        let filter = AuditFilter { account, ..AuditFilter::default() };
        let found = audit::list(context.ports(), filter, PageRequest { limit: PAGE, starting_after: cursor }).await?;
        let last = found.rows.last().filter(|_| found.has_more).map(|row| row.id.to_string());
        next = last.map(|last| path_with(PATH, &[(ACCOUNT, searched), (STARTING_AFTER, &last)]));
        rows = found.rows.into_iter().map(|row| shown(&context, row)).collect();
    }
    let t = OperatorTexts::of(context.language);
    Ok(context.ok(&AuditPage { page: context.layout(), t, account: searched, is_unknown, rows, next }))
}

/// Returns the id of the account whose id or e-mail is `text`. An id is not looked up, so the log of an account that no
/// longer exists can be shown.
async fn find(context: &PageContext, text: &str) -> Result<Option<AccountId>, Failure> {
    if let Ok(id) = AccountId::parse(text) {
        return Ok(Some(id));
    }
    let Ok(email) = AccountEmail::parse(text) else { return Ok(None) };
    let found = context.ports().queries.find_account_by_email(email.as_str()).await?;
    Ok(found.map(|account| account.id))
}

fn shown(context: &PageContext, row: AuditRow) -> Row {
    Row {
        at: When::of(row.at, context.language),
        actor_name: row.operator.name,
        from: format!("{} {}", row.operator.source, row.operator.host),
        name: ActionTexts::of(context.language).action(&row.action),
        action: row.action,
        subject: row.subject,
        account: row.account.map(|account| account.to_string()),
        before: row.before,
        after: row.after,
    }
}
