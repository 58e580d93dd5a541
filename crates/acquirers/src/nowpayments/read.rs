//! Reads that concern no record of ours: minimums, estimates, balances, and the check of an address.

use std::collections::BTreeMap;

use cais_domain::crypto::{Address, CryptoAmount, Currency, Rate, Side, rounding};
use cais_ports::AcquirerError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::{Access, Api};
use super::refusal::{self, Refusal, is_ok};
use super::wire::{rounded, rounded_down};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Reply, text};

/// The code with which the processor refuses an address.
const BAD_ADDRESS: &str = "BAD_CREATE_WITHDRAWAL_REQUEST";
/// The currency in which the price of a coin is estimated.
const USDT: Currency = Currency::UsdtErc20;
/// The field of an answer that contains the estimate.
const ESTIMATE: &str = "estimated_amount";
/// The amount of USDT whose worth in coins is estimated for withdrawals. An estimate has eight decimals. So with this
/// amount, even the price of a coin worth 100,000 USDT is known to six digits.
const USDT_OF_A_PURCHASE: &str = "1000";

#[derive(Deserialize)]
struct MinimumDeposit<'a> {
    #[serde(borrow)]
    min_amount: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MinimumWithdrawal<'a> {
    success: Option<bool>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Estimate<'a> {
    #[serde(borrow)]
    estimated_amount: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Balance<'a> {
    #[serde(borrow)]
    amount: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct AddressCheck<'a> {
    address: &'a str,
    currency: &'static str,
    extra_id: Option<&'a str>,
}

/// Requests the minimum of one side, rounded up to the side's decimals.
pub(super) async fn minimum(
    api: &Api,
    side: Side,
    currency: Currency,
    deadline: Deadline,
) -> Result<CryptoAmount, FindError> {
    let decimals = (side.decimals(currency), rounding::MINIMUM);
    match side {
        Side::Deposit => {
            let reply = minimum_deposit(api, currency, deadline).await?;
            let found: MinimumDeposit<'_> = reply.read(refusal::of_reply)?;
            Ok(rounded(found.min_amount, "min_amount", currency, decimals)?)
        }
        Side::Withdrawal => {
            let path = format!("/v1/payout-withdrawal/min-amount/{currency}");
            let reply = api.get(&path, &[], Access::Key, deadline).await?;
            let found: MinimumWithdrawal<'_> = reply.read(refusal::of_reply)?;
            if found.success == Some(false) {
                return Err(Defect::mismatch("success", "is false").into());
            }
            Ok(rounded(found.result, "result", currency, decimals)?)
        }
    }
}

/// Requests `GET /v1/min-amount`. The request needs `currency_to`, because otherwise the answer may be for another coin. The request also
/// needs the two flags with which deposits are created, because each flag changes the answer.
async fn minimum_deposit(api: &Api, currency: Currency, deadline: Deadline) -> Result<Reply, AcquirerError> {
    let code = currency.code();
    let query =
        [("currency_from", code), ("currency_to", code), ("is_fixed_rate", "false"), ("is_fee_paid_by_user", "false")];
    api.get("/v1/min-amount", &query, Access::Key, deadline).await
}

/// Returns the price of a coin in USDT from `GET /v1/estimate`. For a deposit, one coin is estimated in USDT. For a withdrawal,
/// [`USDT_OF_A_PURCHASE`] is estimated in coins.
pub(super) async fn usdt_per_coin(
    api: &Api,
    side: Side,
    currency: Currency,
    deadline: Deadline,
) -> Result<Rate, FindError> {
    if currency.is_usdt() {
        return Ok(rate("1")?);
    }
    let [coin, usdt] = [currency.code(), USDT.code()];
    let (amount, from, to) = match side {
        Side::Deposit => ("1", coin, usdt),
        Side::Withdrawal => (USDT_OF_A_PURCHASE, usdt, coin),
    };
    let query = [("amount", amount), ("currency_from", from), ("currency_to", to)];
    let reply = api.get("/v1/estimate", &query, Access::Key, deadline).await?;
    let found: Estimate<'_> = reply.read(refusal::of_reply)?;
    let estimate = found.estimated_amount.and_then(text).ok_or_else(|| Defect::mismatch(ESTIMATE, "is missing"))?;
    let estimate = rate(&estimate)?;
    Ok(match side {
        Side::Deposit => estimate,
        Side::Withdrawal => rate(USDT_OF_A_PURCHASE)?.per(&estimate),
    })
}

fn rate(text: &str) -> Result<Rate, Defect> {
    Rate::parse(text).map_err(|error| Defect::mismatch(ESTIMATE, &error.to_string()))
}

/// Requests `GET /v1/balance`. A currency that the answer omits has a balance of zero.
pub(super) async fn balances(api: &Api, deadline: Deadline) -> Result<Vec<CryptoAmount>, FindError> {
    let reply = api.get("/v1/balance", &[], Access::Key, deadline).await?;
    let found: BTreeMap<String, &RawValue> = reply.read(refusal::of_reply)?;
    let mut balances = Vec::with_capacity(Currency::ALL.len());
    for currency in Currency::ALL {
        let row = found.iter().find(|(code, _)| code.eq_ignore_ascii_case(currency.code()));
        let balance = match row {
            None => CryptoAmount::zero(currency),
            Some((code, row)) => {
                let row: Balance<'_> = refusal::expect(row, code)?;
                rounded_down(row.amount, code, currency)?
            }
        };
        balances.push(balance);
    }
    Ok(balances)
}

/// Returns whether the processor accepts the address. Sends `POST /v1/payout/validate-address`, which changes no record.
pub(super) async fn accepts_address(api: &Api, address: &Address, deadline: Deadline) -> Result<bool, AcquirerError> {
    let body = AddressCheck { address: address.as_str(), currency: address.currency().code(), extra_id: None };
    let reply = api.post("/v1/payout/validate-address", &body, Access::Key, deadline).await?;
    if is_ok(&reply) {
        return Ok(true);
    }
    let refused =
        reply.status.is_client_error() && Refusal::read(&reply).is_some_and(|refusal| refusal.problem.is(BAD_ADDRESS));
    if refused {
        return Ok(false);
    }
    let failure = if reply.status.is_success() {
        Defect::Unreadable("the answer is neither OK nor a refusal".to_owned()).into()
    } else {
        FindError::from(refusal::of_reply(&reply))
    };
    Err(failure.of_a_read())
}
