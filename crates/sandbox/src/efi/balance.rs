//! `GET /v2/gn/saldo`: the account's balance.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use cais_domain::money::Money;
use serde::Serialize;

use super::{admit, json, refusal::Refusal, schema::SchemaError};
use crate::{
    pix::{Shared, oauth::Scope, problem::Kind, query::Query},
    requests::Operation,
    wire,
};

#[derive(Serialize)]
struct View {
    #[serde(with = "wire::amount")]
    saldo: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    bloqueios: Option<Blocks>,
}

/// The blocked amounts, which are always zero. This institution blocks no money; it debits the balance when an infraction is lost.
#[derive(Serialize)]
struct Blocks {
    #[serde(with = "wire::amount")]
    judicial: Money,
    #[serde(with = "wire::amount")]
    med: Money,
    #[serde(with = "wire::amount")]
    total: Money,
}

/// Returns the balance. With `bloqueios=true`, also returns the blocked amounts.
///
/// # Errors
/// 400 `json_invalido` for any other parameter, and for a value other than `true` and `false`.
pub async fn get(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::BalanceRead, Operation::BalanceRead)?;
    let mut query = Query::of(&request);
    let shows_blocks = query.boolean("bloqueios");
    query.conclude(Kind::InvalidRequest, Some(())).map_err(|_| {
        let message = "the only parameter is bloqueios, with the value true or false";
        Refusal::Schema(vec![SchemaError::new("additionalProperties", ".query", message)])
    })?;
    psp.settle_due()?;
    let none = Blocks { judicial: Money::ZERO, med: Money::ZERO, total: Money::ZERO };
    let bloqueios = (shows_blocks == Some(true)).then_some(none);
    json(StatusCode::OK, &View { saldo: psp.read().books().funds().balance(), bloqueios })
}
