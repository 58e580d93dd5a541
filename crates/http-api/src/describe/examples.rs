//! Example bodies of the `OpenAPI` document. The bodies of resources are rendered by the service's own code. A function
//! returns `None` if one of its constants is invalid.

mod crypto;
mod infractions;
mod money_out;
mod webhooks;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeState, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId, RequestId};
use cais_domain::money::Money;
use cais_domain::split::Split;
use cais_domain::text::{LineBreaks, Text};
use cais_domain::txid::Txid;
use cais_ports::{Balances, ResourceRenderer as _};
use cais_strict_json::Issue;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::balance::Balance;
use crate::error::{ApiError, ErrorCode};
use crate::resources::JsonRenderer;
use crate::resources::values::{page_of_json, to_json};

pub use crypto::{
    completed_crypto_deposit, completed_crypto_withdrawal, crypto_currencies, crypto_deposit, crypto_deposit_payments,
    crypto_deposits, crypto_quote, crypto_quote_detail, crypto_withdrawal, crypto_withdrawals, expired_crypto_deposit,
    failed_crypto_withdrawal,
};
pub use infractions::{defended_infraction, infractions, open_infraction, won_infraction};
pub use money_out::{
    completed, entries, entries_csv, failed_refund, payouts, processing, refund, refunds, reversed, transaction,
    transactions, transactions_csv,
};
pub use webhooks::{deliveries, endpoint, endpoint_with_secret, endpoints, event, events, pending_delivery, resent};

/// A BR Code in the format of an acquirer. The code cannot be paid.
const CODE: &str = "00020101021226830014br.gov.bcb.pix2561pix.example.com/qr/v2/01h455vb4pex5vsknk084sn02q520400005303986540510.505802BR5904CAIS6009SAO PAULO62070503***6304AB12";
/// A short stand-in for the image of a QR code.
const IMAGE: &str = "data:image/png;base64,iVBORw0KGgo…";

/// Returns a charge that awaits its payer, with a stand-in for the image of its QR code.
pub fn pending() -> Option<Value> {
    let mut value = rendered(&charge(false)?)?;
    *value.pointer_mut("/pix/qr_code_image")? = Value::from(IMAGE);
    Some(value)
}

/// Returns a paid charge.
pub fn paid() -> Option<Value> {
    rendered(&charge(true)?)
}

/// Returns `charge` without its payment, with the status `status`.
pub fn unpaid(mut charge: Value, status: &str) -> Option<Value> {
    *charge.pointer_mut("/status")? = Value::from(status);
    *charge.pointer_mut("/end_to_end_id")? = Value::Null;
    *charge.pointer_mut("/paid_at")? = Value::Null;
    Some(charge)
}

/// Returns a page with a charge.
pub fn charges() -> Option<Value> {
    let charge = charge(true)?;
    let row = JsonRenderer::new().charge(&charge);
    serde_json::from_slice(&page_of_json(&[row], Some(charge.id))).ok()
}

/// Returns a balance.
pub fn balances() -> Option<Value> {
    let balances = Balances {
        available: Money::from_centavos(125_050),
        pending: Money::from_centavos(1_050),
        blocked: Money::ZERO,
        in_transit: Money::ZERO,
    };
    value(&Balance::of(&balances).ok()?)
}

/// Returns the body of an error.
pub fn failure(code: ErrorCode) -> Option<Value> {
    let is_about_fields = code == ErrorCode::ValidationError;
    let issues = if is_about_fields { vec![Issue::new("amount", "must be at least 2.00")] } else { Vec::new() };
    let retry_after_s = code.is_retryable().then_some(2);
    let error = if is_about_fields { ApiError::invalid(issues) } else { ApiError::new(code) };
    let error = ApiError { retry_after_s, ..error };
    let request = RequestId::parse("req_01h455vb4pex5vsknk084sn02q").ok()?;
    serde_json::from_slice(&error.body(request)).ok()
}

/// Returns a body from its JSON text.
pub fn literal(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the JSON of a body.
pub(super) fn value(body: &impl Serialize) -> Option<Value> {
    serde_json::from_slice(&to_json(body)).ok()
}

fn rendered(charge: &Charge) -> Option<Value> {
    serde_json::from_slice(&JsonRenderer::new().charge(charge)).ok()
}

pub(super) fn charge(is_paid: bool) -> Option<Charge> {
    let id = ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").ok()?;
    let acquirer = AcquirerName::parse("main").ok()?;
    let instant = |text: &str| text.parse::<Timestamp>().ok();
    let issued = Issued { acquirer, copy_paste: CODE.to_owned(), expires_at: instant("2026-01-02T13:00:00Z")? };
    let settlement = Settlement {
        paid_at: instant("2026-01-02T12:03:04.567Z")?,
        end_to_end_id: EndToEndId::parse("E1234567820260102120300000000001").ok()?,
        parts: Vec::new(),
    };
    Some(Charge {
        id,
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").ok()?,
        txid: Txid::of_charge(id),
        terms: ChargeTerms {
            amount: Money::from_centavos(1_050),
            fee: Money::ZERO,
            description: Some(Text::parse("Order 1042", 140, LineBreaks::Allowed).ok()?),
            payer_name: None,
            payer_document: None,
            expires_in_s: 3_600,
            external_id: Some(ExternalId::parse("order-1042").ok()?),
            postback: None,
            split: Split::NONE,
            origin: Origin::Api,
        },
        state: if is_paid { ChargeState::Paid(issued, settlement) } else { ChargeState::Pending(issued) },
        refunds: RefundTotals::default(),
        open_infractions: 0,
        created_at: instant("2026-01-02T12:00:00Z")?,
        version: 1,
    })
}
