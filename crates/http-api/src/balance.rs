//! `GET /v1/balance`.

use cais_domain::api_key::Scope;
use cais_domain::money::{Money, MoneyError};
use cais_ports::Balances;
use cais_strict_json::Issues;
use cais_use_cases::balance;
use cais_use_cases::keys::authenticate::Caller;
use serde::Serialize;
use utoipa::ToSchema;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::query;
use super::reply::Reply;
use crate::openapi::{examples, operation};
use crate::representation::values::{Amount, to_json};
use crate::routes::Route;

/// The parts of an account's money, in BRL.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the contract names the fields")]
pub struct Balance {
    /// Available for withdrawal now.
    #[schema(value_type = f64, example = 10.50)]
    pub available_balance: Amount,
    /// Received, awaiting release.
    #[schema(value_type = f64, example = 10.50)]
    pub pending_balance: Amount,
    /// Held because of a Pix infraction (MED) or review.
    #[schema(value_type = f64, example = 10.50)]
    pub blocked_balance: Amount,
    /// Available, pending and blocked together.
    #[schema(value_type = f64, example = 10.50)]
    pub total_balance: Amount,
    /// Always `BRL`.
    pub currency: &'static str,
}

impl Balance {
    /// Returns the body of a balance, which excludes money in transit.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the total does not fit, which no real balance reaches.
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

/// The route of `get_balance`.
pub const ROUTE: Route =
    Route::read("/v1/balance", Scope::BalanceRead, |call, caller| Box::pin(get_balance(call, caller)), description);

/// Returns the account's balance.
///
/// # Errors
/// `VALIDATION_ERROR` for any parameter; an error of the store.
async fn get_balance(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    issues.unless_any(Some(()))?;
    let balances = balance::read(&call.state.ports, caller.account.id).await?;
    let balance = Balance::of(&balances).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Reply::json(to_json(&balance)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "getBalance",
            "balance",
            "Read the balance",
            "In BRL. What is held for payouts and refunds in flight is in none of its parts.",
            vec![operation::json("200", "The balance.", "Balance", examples::balances())],
        )
    }
}
