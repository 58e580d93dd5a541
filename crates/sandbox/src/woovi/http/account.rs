//! `/account` and `/statement` of Woovi's API: the balance and the movements of the sandbox's only account.

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    efi::infraction_views::OWN_DOCUMENT,
    psp::Psp,
    requests::Operation,
    woovi::{error::WooviError, paging::Query, statement, views},
};

fn account(psp: &Psp) -> Value {
    let balance = psp.read().books().funds().balance().centavos();
    json!({
        "accountId": views::account_id(psp),
        "isDefault": true,
        "balance": {
            "total": balance,
            "blocked": 0,
            "available": balance,
            "blockedBySecurity": 0,
            "blockedByWithdrawSafety": 0,
        },
        "taxId": OWN_DOCUMENT,
        "officialName": psp.merchant.0,
        "tradeName": psp.merchant.0,
        "branch": "0001",
        "account": "123456",
        "accountName": psp.merchant.0,
    })
}

/// `GET /account/`: a list with the only account.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviBalance)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    query.conclude()?;
    psp.settle_due()?;
    let (accounts, info) = page.cut(std::iter::once(account(&psp)));
    Ok(answer(&json!({ "pageInfo": info, "accounts": accounts })))
}

/// `GET /account/{accountId}`: the only account.
///
/// # Errors
/// 400 for any other id.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviBalance)?;
    if *id != views::account_id(&psp) {
        return Err(WooviError::not_found("Account"));
    }
    psp.settle_due()?;
    Ok(answer(&json!({ "account": account(&psp) })))
}

/// `GET /statement`: a JSON array of the movements, oldest first, without `pageInfo`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn statement(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviStatement)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    query.conclude()?;
    psp.settle_due()?;
    let store = psp.read();
    let rows = statement::rows(store.books(), |at| page.has(at));
    let (rows, _info) = page.cut(rows.into_iter());
    Ok(answer(&Value::Array(rows)))
}
