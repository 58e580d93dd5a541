//! The balance of the account: `GET /v2/gn/saldo`, in reais as a text with two decimals.

use cais_domain::money::Money;
use cais_ports::AcquirerError;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::bacen::api::Api;
use crate::balance::AccountBalance;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, of_reply, part, text};

/// The path with the parameter that adds the blocked amounts.
const PATH: &str = "/v2/gn/saldo?bloqueios=true";

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    saldo: Option<&'a RawValue>,
    bloqueios: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Blocks<'a> {
    #[serde(borrow)]
    total: Option<&'a RawValue>,
}

/// Requests `GET /v2/gn/saldo`. Efí does not document whether `saldo` includes the blocked amounts.
pub(super) async fn read(api: &Api, deadline: Deadline) -> Result<AccountBalance, AcquirerError> {
    fetch(api, deadline).await.map_err(FindError::of_a_read)
}

async fn fetch(api: &Api, deadline: Deadline) -> Result<AccountBalance, FindError> {
    let missing = || Defect::Unreadable("the answer is missing".to_owned());
    let reply = api.get(PATH, &[], deadline).await?.ok_or_else(missing)?;
    let answer: Answer<'_> = serde_json::from_slice(reply.success(of_reply)?)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a balance".to_owned()))?;
    // A balance may be zero or negative.
    let amount = |value: Option<&RawValue>| Money::parse(&text(value?)?).ok();
    let available = amount(answer.saldo).ok_or_else(|| Defect::mismatch("saldo", "is not an amount"))?;
    let blocked = match part::<Blocks<'_>>(answer.bloqueios) {
        Some(blocks) => amount(blocks.total).ok_or_else(|| Defect::mismatch("bloqueios.total", "is not an amount"))?,
        None => Money::ZERO,
    };
    Ok(AccountBalance { available, blocked })
}
