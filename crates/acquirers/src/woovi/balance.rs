//! The balance of the default account: `GET /api/v1/account/`, in centavos.

use cais_domain::money::Money;
use cais_ports::AcquirerError;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::refusal;
use crate::balance::AccountBalance;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part, text};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    accounts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Account<'a> {
    #[serde(rename = "isDefault")]
    is_default: Option<bool>,
    #[serde(borrow)]
    balance: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Balance<'a> {
    #[serde(borrow)]
    available: Option<&'a RawValue>,
    blocked: Option<&'a RawValue>,
}

/// Requests `GET /account/`. Returns the balance of the default account, or of the first account if none is the default, and the time
/// on Woovi's clock.
pub(super) async fn read(api: &Api, deadline: Deadline) -> Result<(AccountBalance, Option<Timestamp>), AcquirerError> {
    fetch(api, deadline).await.map_err(FindError::of_a_read)
}

async fn fetch(api: &Api, deadline: Deadline) -> Result<(AccountBalance, Option<Timestamp>), FindError> {
    let reply = api.get("/account/", deadline).await?;
    let answer: Answer<'_> = reply.read(refusal::of_reply)?;
    let accounts = answer.accounts.into_iter().flatten().filter_map(|account| part::<Account<'_>>(Some(account)));
    let accounts: Vec<_> = accounts.collect();
    let account = accounts.iter().find(|account| account.is_default == Some(true)).or(accounts.first());
    let missing = |field: &str| Defect::mismatch(field, "is missing or malformed");
    let account = account.ok_or_else(|| missing("accounts"))?;
    let balance: Balance<'_> = part(account.balance).ok_or_else(|| missing("balance"))?;
    // A balance may be zero or negative. Only a whole number of centavos is accepted.
    let centavos = |value: Option<&RawValue>, field: &str| {
        let number = value.and_then(text).and_then(|text| text.parse::<i64>().ok());
        number.map(Money::from_centavos).ok_or_else(|| Defect::mismatch(field, "is not an amount"))
    };
    let available = centavos(balance.available, "available")?;
    let blocked = if balance.blocked.is_some() { centavos(balance.blocked, "blocked")? } else { Money::ZERO };
    Ok((AccountBalance { available, blocked }, reply.date))
}
