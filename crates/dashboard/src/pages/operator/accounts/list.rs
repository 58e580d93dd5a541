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
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::operator::OperatorTexts;
use crate::visit::Visit;

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
pub(crate) async fn show(visit: Visit, query: Query) -> Result<HttpResponse, Failure> {
    visit.operator()?;
    let t = OperatorTexts::of(visit.language);
    let (search, wanted) = (query.get(SEARCH).unwrap_or_default(), query.get(KYC).and_then(Kyc::parse));
    let found = if search.is_empty() {
        let cursor = query.get(STARTING_AFTER).map(AccountId::parse).transpose().map_err(|_| Failure::NotFound)?;
        list::list(visit.ports(), wanted, PageRequest { limit: PAGE, starting_after: cursor }).await?
    } else {
        Page { rows: search_for(&visit, search).await?.into_iter().collect(), has_more: false }
    };
    let last = found.rows.last().filter(|_| found.has_more).map(|account| account.id.to_string());
    let kyc = query.get(KYC).unwrap_or_default();
    let next = last.map(|last| path_with(PATH, &[(KYC, kyc), (STARTING_AFTER, &last)]));
    let accounts = found.rows.into_iter().map(|account| row(&visit, account)).collect();
    let is_queue = wanted == Some(Kyc::Pending);
    Ok(visit.ok(&AccountsPage { page: visit.layout(), t, search, is_queue, accounts, next }))
}

/// Returns the account with this id or e-mail.
async fn search_for(visit: &Visit, text: &str) -> Result<Option<Account>, Failure> {
    let queries = &visit.ports().queries;
    if let Ok(id) = AccountId::parse(text) {
        return Ok(queries.find_account(id).await?);
    }
    let Ok(email) = AccountEmail::parse(text) else { return Ok(None) };
    Ok(queries.find_account_by_email(email.as_str()).await?)
}

fn row(visit: &Visit, account: Account) -> Row {
    let t = OperatorTexts::of(visit.language);
    Row {
        id: account.id.to_string(),
        kyc: kyc(account.kyc, t),
        status: status(account.status, t),
        features: features(account.features, visit.language),
        created: When::of(account.created_at, visit.language),
        email: account.email,
        name: account.name,
    }
}
