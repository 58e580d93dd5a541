//! The processor's settings, changed by the tester. A restart resets them to the defaults.

use serde::{Deserialize, Serialize};

use super::state::payout::WithdrawalOutcome;

/// The default life of a JWT in seconds: five minutes.
const JWT_TTL_S: u32 = 300;

/// The form of the body of `GET /v1/payout/{id}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayoutShape {
    /// An array of withdrawals, as documented.
    #[default]
    Array,
    /// `{id, createdAt, withdrawals}` without a status, as observed.
    Withdrawals,
    /// `{payouts}`, with the array of withdrawals.
    Payouts,
    /// Only the first withdrawal, as an object.
    Object,
}

/// The payment to which a deposit after the expiry belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateDeposits {
    /// A child of the expired payment.
    #[default]
    Child,
    /// The expired payment itself.
    Original,
}

/// The signature that notifications have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpnSignature {
    /// The correct signature.
    #[default]
    Valid,
    /// A signature with another secret.
    Wrong,
    /// No header.
    Missing,
    /// A text that is no signature.
    Malformed,
}

/// All settings. A setting that is absent in the tester's request keeps its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the tester, one field of the request each")]
pub struct Settings {
    /// The life of a JWT in seconds.
    pub jwt_ttl_s: u32,
    /// The form of the body of `GET /v1/payout/{id}`.
    pub payout_shape: PayoutShape,
    /// `true`: `pay_amount` is a string, as in the real processor's own sandbox.
    pub pay_amount_as_text: bool,
    /// The payment to which a deposit after the expiry belongs.
    pub late_deposits: LateDeposits,
    /// `true`: new deposits stay `confirming` until the tester moves them.
    pub hold_deposits: bool,
    /// The milliseconds from the verification of a withdrawal to its outcome; `None`: as long as a sent Pix stays `EM_PROCESSAMENTO`.
    pub withdrawal_takes_ms: Option<u32>,
    /// `withdrawal_fate`: the outcome of withdrawals that are verified from now on.
    #[serde(rename = "withdrawal_fate")]
    pub withdrawal_outcome: WithdrawalOutcome,
    /// `false`: requests to payout endpoints are answered 403, as the real API does if the client's IP address is not allowed.
    pub payouts_allowed: bool,
    /// `false`: requests for the minimum of a withdrawal are answered 403, as for accounts without this feature.
    pub payout_minimum_allowed: bool,
    /// `true`: a TOTP code is accepted only once, as RFC 6238 requires. `false`: a code is accepted once per batch.
    pub totp_once: bool,
    /// `true`: notifications wait and are not sent.
    pub ipn_paused: bool,
    /// `true`: the newest notification is sent first, one at a time.
    pub ipn_reversed: bool,
    /// The number of times that an accepted notification is sent. Zero counts as one.
    pub ipn_copies: u8,
    /// The signature that notifications have.
    pub ipn_signature: IpnSignature,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            jwt_ttl_s: JWT_TTL_S,
            payout_shape: PayoutShape::default(),
            pay_amount_as_text: false,
            late_deposits: LateDeposits::default(),
            hold_deposits: false,
            withdrawal_takes_ms: None,
            withdrawal_outcome: WithdrawalOutcome::default(),
            payouts_allowed: true,
            payout_minimum_allowed: true,
            totp_once: true,
            ipn_paused: false,
            ipn_reversed: false,
            ipn_copies: 1,
            ipn_signature: IpnSignature::default(),
        }
    }
}
