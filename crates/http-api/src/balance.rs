//! `GET /v1/balance`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::money::{Money, MoneyError};
use cais_ports::Balances;
use cais_use_cases::balance;
use serde::Serialize;
use utoipa::ToSchema;

use crate::context::{Authorized, BalanceRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::reply;
use crate::resources::values::Amount;

/// The parts of an account's money, in BRL.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the contract names the fields")]
pub struct Balance {
    /// Available for withdrawal now.
    #[schema(inline)]
    pub available_balance: Amount,
    /// Received, awaiting release.
    #[schema(inline)]
    pub pending_balance: Amount,
    /// Held because of a Pix infraction (MED) or review.
    #[schema(inline)]
    pub blocked_balance: Amount,
    /// Available, pending and blocked together.
    #[schema(inline)]
    pub total_balance: Amount,
    /// Always `BRL`.
    pub currency: &'static str,
}

impl Balance {
    /// Returns the response body. Money in transit is in none of its fields.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the total exceeds the range of [`Money`].
    pub fn of(balances: &Balances) -> Result<Self, MoneyError> {
        let total = Money::sum([balances.available, balances.pending, balances.blocked])?;
        Ok(Self {
            available_balance: Amount(balances.available),
            pending_balance: Amount(balances.pending),
            blocked_balance: Amount(balances.blocked),
            total_balance: Amount(total),
            currency: "BRL",
        })
    }
}

/// Returns the account's balance.
///
/// # Errors
/// `VALIDATION_ERROR` for any query parameter; an error of the store.
#[utoipa::path(
    operation_id = "getBalance",
    tag = "balance",
    summary = "Read the balance",
    description = "In BRL. None of the amounts includes the money of payouts, refunds and crypto withdrawals in flight. Scope: `balance:read`.",
    responses(
        (status = 200, description = "The balance.", body = Balance, example = json!(examples::balances())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/balance")]
pub async fn get_balance(call: Authorized<BalanceRead>, _input: Input<NoQuery>) -> Result<HttpResponse, ApiError> {
    let balances = balance::read(&call.state.ports, call.caller.account.id).await?;
    let balance = Balance::of(&balances).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(reply::json(StatusCode::OK, &balance))
}
