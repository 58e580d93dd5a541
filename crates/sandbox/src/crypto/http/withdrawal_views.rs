//! Withdrawals on the wire, with the types of the real API: ids and amounts are text.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    crypto::{
        amount::Wire,
        state::payout::{Batch, Withdrawal, WithdrawalStatus},
    },
    wire::{serialize_instant as instant, serialize_optional_instant as optional_instant},
};

/// A withdrawal in an answer.
#[derive(Serialize)]
pub struct WithdrawalView<'a> {
    is_request_payouts: bool,
    id: String,
    address: &'a str,
    currency: &'a str,
    amount: Wire<'a>,
    batch_withdrawal_id: String,
    ipn_callback_url: Option<&'a str>,
    status: WithdrawalStatus,
    extra_id: Option<&'a str>,
    hash: Option<&'a str>,
    error: Option<&'a str>,
    fee: Option<Wire<'a>>,
    payout_description: Option<&'a str>,
    unique_external_id: Option<&'a str>,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "optional_instant")]
    requested_at: Option<Timestamp>,
    #[serde(serialize_with = "optional_instant")]
    updated_at: Option<Timestamp>,
}

/// Returns a withdrawal for an answer, with its current status.
#[must_use]
pub fn read<'a>(batch: &Batch, withdrawal: &'a Withdrawal) -> WithdrawalView<'a> {
    WithdrawalView {
        is_request_payouts: false,
        id: withdrawal.id.to_string(),
        address: &withdrawal.address,
        currency: &withdrawal.currency,
        amount: Wire::Text(&withdrawal.amount),
        batch_withdrawal_id: batch.id.to_string(),
        ipn_callback_url: withdrawal.ipn_callback_url.as_deref(),
        status: withdrawal.status,
        extra_id: withdrawal.extra_id.as_deref(),
        hash: withdrawal.hash.as_deref(),
        error: withdrawal.error.as_deref(),
        fee: known_fee(withdrawal),
        payout_description: withdrawal.description.as_deref(),
        unique_external_id: withdrawal.external_id.as_deref(),
        created_at: batch.created_at,
        requested_at: withdrawal.requested_at,
        updated_at: withdrawal.updated_at,
    }
}

/// Returns a withdrawal for the answer to its creation. The status in that answer is always `WAITING`, as the real API documents.
#[must_use]
pub fn created<'a>(batch: &Batch, created: &'a Withdrawal) -> WithdrawalView<'a> {
    WithdrawalView { status: WithdrawalStatus::Waiting, ..read(batch, created) }
}

/// The notification of a withdrawal.
#[derive(Serialize)]
pub struct WithdrawalIpn<'a> {
    id: String,
    batch_withdrawal_id: String,
    status: WithdrawalStatus,
    error: Option<&'a str>,
    currency: &'a str,
    amount: Wire<'a>,
    address: &'a str,
    fee: Option<Wire<'a>>,
    extra_id: Option<&'a str>,
    hash: Option<&'a str>,
    ipn_callback_url: Option<&'a str>,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "optional_instant")]
    requested_at: Option<Timestamp>,
    #[serde(serialize_with = "optional_instant")]
    updated_at: Option<Timestamp>,
}

/// Returns the notification of a withdrawal's current status.
#[must_use]
pub fn ipn<'a>(batch: &Batch, withdrawal: &'a Withdrawal) -> WithdrawalIpn<'a> {
    WithdrawalIpn {
        id: withdrawal.id.to_string(),
        batch_withdrawal_id: batch.id.to_string(),
        status: withdrawal.status,
        error: withdrawal.error.as_deref(),
        currency: &withdrawal.currency,
        amount: Wire::Text(&withdrawal.amount),
        address: &withdrawal.address,
        fee: known_fee(withdrawal),
        extra_id: withdrawal.extra_id.as_deref(),
        hash: withdrawal.hash.as_deref(),
        ipn_callback_url: withdrawal.ipn_callback_url.as_deref(),
        created_at: batch.created_at,
        requested_at: withdrawal.requested_at,
        updated_at: withdrawal.updated_at,
    }
}

/// Returns the network fee; `None` until the withdrawal is on the chain.
fn known_fee(withdrawal: &Withdrawal) -> Option<Wire<'_>> {
    withdrawal.hash.as_ref().map(|_| Wire::Text(&withdrawal.fee))
}
