//! Reads callbacks (IPN) after their signature is verified. Only identifiers are used.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{AcquirerError, CryptoCallback, alerts};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{signature, wire};
use crate::http::Defect;

/// The largest accepted body, in bytes. Real bodies have about 1 KiB.
const MAX_BODY_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow, rename = "payment_id")]
    payment: Option<&'a RawValue>,
    #[serde(borrow, rename = "parent_payment_id")]
    parent: Option<&'a RawValue>,
    #[serde(borrow, rename = "order_id")]
    deposit: Option<&'a RawValue>,
    #[serde(borrow, rename = "batch_withdrawal_id")]
    batch: Option<&'a RawValue>,
    #[serde(borrow, rename = "unique_external_id")]
    withdrawal: Option<&'a RawValue>,
}

/// Returns the resource that a callback names; `None` if the callback names neither a payment nor a batch of
/// withdrawals. A wrong signature raises an alert, because only the processor has the address of the callbacks.
pub(super) fn read(
    name: &AcquirerName,
    secret: &str,
    given: &str,
    body: &[u8],
) -> Result<Option<CryptoCallback>, AcquirerError> {
    if body.len() > MAX_BODY_BYTES {
        return Err(AcquirerError::Refused(format!("the body has over {MAX_BODY_BYTES} bytes")));
    }
    if !signature::is_valid(secret, given, body) {
        tracing::error!(
            alert = alerts::CALLBACK_SIGNATURE_INVALID, acquirer = %name,
            "signature of a callback is missing or wrong; the callback is rejected"
        );
        return Err(AcquirerError::Refused("the signature is not the processor's".to_owned()));
    }
    let refused = |defect: Defect| AcquirerError::Refused(defect.reason());
    let found: Notification<'_> = serde_json::from_slice(body)
        .map_err(|_| AcquirerError::Refused("the body is not the JSON of a callback".to_owned()))?;
    if let Some(id) = wire::id(found.payment, "payment_id").map_err(refused)? {
        return Ok(Some(CryptoCallback::Deposit {
            id,
            parent: wire::id(found.parent, "parent_payment_id").map_err(refused)?,
            order: wire::short_text(found.deposit).and_then(|text| CryptoDepositId::parse(&text).ok()),
        }));
    }
    let batch = wire::id(found.batch, "batch_withdrawal_id").map_err(refused)?;
    let order = wire::short_text(found.withdrawal).and_then(|text| CryptoWithdrawalId::parse(&text).ok());
    Ok(batch.map(|batch| CryptoCallback::Withdrawal { batch, order }))
}
