//! Lists accounts, newest first: all accounts, the accounts with one KYC status, or the account with a searched id or
//! e-mail.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{Account, Kyc};
use cais_ports::{Page, PageRequest};
use cais_use_cases::accounts::{AccountEmail, list};

use super::{features, kyc, status};
use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::operator::OperatorTexts;

/// The number of accounts on a page.
const PAGE: u32 = 50;
const PATH: &str = "/operator/accounts";
const SEARCH: &str = "search";
const KYC: &str = "kyc";

#[derive(Template)]
#[template(path = "operator/accounts.html")]
struct AccountsPage<'a> {
    page: Layout,
    t: &'static OperatorTexts,
    search: &'a str,
    is_queue: bool,
    accounts: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: String,
    email: String,
    name: String,
    kyc: &'static str,
    status: &'static str,
    features: String,
    created: When,
}

/// Shows a page of the list.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let t = OperatorTexts::of(context.language);
    let (search, chosen_kyc) = (query.get(SEARCH).unwrap_or_default(), query.get(KYC).and_then(Kyc::parse));
    let found = if search.is_empty() {
        let cursor = query.get(STARTING_AFTER).map(AccountId::parse).transpose().map_err(|_| Failure::NotFound)?;
        list::list(context.ports(), chosen_kyc, PageRequest { limit: PAGE, starting_after: cursor }).await?
    } else {
        Page { rows: search_for(&context, search).await?.into_iter().collect(), has_more: false }
    };
    let last = found.rows.last().filter(|_| found.has_more).map(|account| account.id.to_string());
    let kyc = query.get(KYC).unwrap_or_default();
    let next = last.map(|last| path_with(PATH, &[(KYC, kyc), (STARTING_AFTER, &last)]));
    let accounts = found.rows.into_iter().map(|account| row(&context, account)).collect();
    let is_queue = chosen_kyc == Some(Kyc::Pending);
    Ok(context.ok(&AccountsPage { page: context.layout(), t, search, is_queue, accounts, next }))
}

/// Returns the account with this id or e-mail.
async fn search_for(context: &PageContext, text: &str) -> Result<Option<Account>, Failure> {
    let queries = &context.ports().queries;
    if let Ok(id) = AccountId::parse(text) {
        return Ok(queries.find_account(id).await?);
    }
    let Ok(email) = AccountEmail::parse(text) else { return Ok(None) };
    Ok(queries.find_account_by_email(email.as_str()).await?)
}

fn row(context: &PageContext, account: Account) -> Row {
    let t = OperatorTexts::of(context.language);
    Row {
        id: account.id.to_string(),
        kyc: kyc(account.kyc, t),
        status: status(account.status, t),
        features: features(account.features, context.language),
        created: When::of(account.created_at, context.language),
        email: account.email,
        name: account.name,
    }
}
