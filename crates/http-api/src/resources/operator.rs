//! Renders accounts and API keys for operators: on the command line, and in the audit log.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::fee::Operation;
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::merchant::api_key::Scope;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::ApiKeyRecord;
use jiff::Timestamp;
use serde_json::{Map, Number, Value, json};

/// Returns an account with its id, its time of creation and all fields that operators can change.
#[must_use]
pub fn account(account: &Account) -> Value {
    let rule = |operation: Operation| {
        let rule = account.fees.get(operation);
        json!({
            "fixed": amount(rule.fixed()),
            "percent": percentage(rule.percentage()),
            "min": rule.min().map(amount),
            "max": rule.max().map(amount),
        })
    };
    let fees: Map<String, Value> =
        Operation::ALL.into_iter().map(|operation| (operation.as_str().to_owned(), rule(operation))).collect();
    json!({
        "id": account.id.to_string(),
        "email": account.email,
        "name": account.name,
        "document": account.document.as_str(),
        "status": account.status.as_str(),
        "kyc": account.kyc.as_str(),
        "features": account.features.iter().map(Feature::as_str).collect::<Vec<_>>(),
        "fees": fees,
        "limits": { "charge": amount(account.limits.charge), "payout": amount(account.limits.payout) },
        "release_delay_s": account.release_delay_s,
        "crypto_spread": account.crypto_spread.as_ref().map_or(Value::Null, percentage),
        "acquirers": account.acquirers.iter().map(AcquirerName::as_str).collect::<Vec<_>>(),
        "created_at": instant(account.created_at),
    })
}

/// Returns an API key without its secret.
#[must_use]
pub fn key(key: &ApiKeyRecord) -> Value {
    json!({
        "id": key.id.to_string(),
        "prefix": key.prefix.as_str(),
        "name": key.name,
        "scopes": key.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
        "allowed_addresses": key.allowed_addresses,
        "expires_at": key.expires_at.map(instant),
        "revoked_at": key.revoked_at.map(instant),
        "created_at": instant(key.created_at),
    })
}

fn percentage(percentage: &Percentage) -> Value {
    let text = percentage.as_decimal().normalized().to_plain_string();
    text.parse::<Number>().map_or(Value::Null, Value::Number)
}

/// Returns an amount in the format of the API: a number with two decimals.
#[must_use]
pub fn amount(money: Money) -> Value {
    money.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

/// Returns an instant in the format of the API: UTC with milliseconds.
#[must_use]
pub fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}
