//! The bodies of requests, for the `OpenAPI` document only: the strict reader of each operation reads what is sent.

use cais_domain::pix_key::PixKeyType as KeyType;
use utoipa::ToSchema;

use crate::representation::infraction::ReasonCode;
use crate::representation::values::closed_list;
use crate::sandbox::{FaultMode as Mode, Resolution as Outcome};

/// A recipient of a part of the net value.
#[derive(ToSchema)]
pub struct SplitItem {
    /// E-mail of an active account with approved KYC.
    #[schema(format = Email, max_length = 200)]
    pub recipient_email: String,
    /// Share of the net value in percent, at most four decimals.
    #[schema(exclusive_minimum = 0, maximum = 100)]
    pub percentage: f64,
}

/// What a charge is created from.
#[derive(ToSchema)]
pub struct NewCharge {
    /// BRL, at most two decimals.
    #[schema(minimum = 2)]
    pub amount: f64,
    /// Shown to the payer.
    #[schema(max_length = 140)]
    pub description: Option<String>,
    /// The payer's name.
    #[schema(max_length = 200)]
    pub payer_name: Option<String>,
    /// The payer's document.
    #[schema(max_length = 20)]
    pub payer_document: Option<String>,
    /// Seconds until it can no longer be paid; 3600 when absent.
    #[schema(minimum = 60, maximum = 86400)]
    pub expires_in: Option<u32>,
    /// The caller's own order identifier, unique within the account.
    #[schema(min_length = 1, max_length = 120)]
    pub external_id: Option<String>,
    /// A registered, active webhook endpoint of the account.
    #[schema(format = "uri", max_length = 500)]
    pub postback_url: Option<String>,
    /// Internal split; percentages sum to at most 100.
    #[schema(max_items = 5)]
    pub split: Option<Vec<SplitItem>>,
}

/// A payment in the sandbox.
#[derive(ToSchema)]
pub struct SandboxPayment {
    /// BRL; the charge's amount unless given.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
}

closed_list! {
    /// What goes wrong.
    FaultMode Mode::ALL.map(Mode::as_str)
}

/// What shall go wrong at the sandbox.
#[derive(ToSchema)]
pub struct NewFaults {
    /// The sandbox's acquirer.
    pub acquirer: Option<String>,
    /// What goes wrong.
    pub mode: FaultMode,
    /// Milliseconds that `slow` waits; 5000 when absent.
    #[schema(minimum = 0, maximum = 60000)]
    pub latency_ms: Option<u32>,
}

closed_list! {
    /// A kind of Pix key.
    PixKeyType KeyType::ALL.map(KeyType::as_str)
}

/// What a payout is created from.
#[derive(ToSchema)]
pub struct NewPayout {
    /// What the recipient is to get: BRL, at most two decimals.
    #[schema(minimum = 0.01)]
    pub amount: f64,
    /// Where it goes: CPF, CNPJ, e-mail, phone beginning with `+`, or random key.
    #[schema(max_length = 77)]
    pub pix_key: String,
    /// Of which kind the key is; told by its form unless given.
    pub pix_key_type: Option<PixKeyType>,
    /// CPF or CNPJ that must own the key: with another owner the payout fails.
    #[schema(max_length = 20)]
    pub recipient_document: Option<String>,
    /// Shown to the recipient.
    #[schema(max_length = 140)]
    pub description: Option<String>,
    /// The caller's own identifier, unique within the account.
    #[schema(min_length = 1, max_length = 120)]
    pub external_id: Option<String>,
}

/// What a refund is created from.
#[derive(ToSchema)]
pub struct NewRefund {
    /// Which payment of the charge goes back, whatever the charge's status; the one that paid it unless given. Of an overpayment that is
    /// named here the excess goes back first, and only the rest counts as refunded of the charge.
    #[schema(min_length = 32, max_length = 32)]
    pub end_to_end_id: Option<String>,
    /// BRL, at most two decimals. Unless given, all that is left of the charge, or of the payment that `end_to_end_id` names.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
    /// Shown to the payer.
    #[schema(max_length = 140)]
    pub reason: Option<String>,
    /// The caller's own identifier, unique within the account.
    #[schema(min_length = 1, max_length = 120)]
    pub external_id: Option<String>,
}

/// What a webhook endpoint is registered with.
#[derive(ToSchema)]
pub struct NewWebhookEndpoint {
    /// Where it is: https, at a public address; unique within the account.
    #[schema(format = "uri", max_length = 500)]
    pub url: String,
    /// Types of events, or `*` for all of them.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Vec<String>,
    /// What people call it.
    #[schema(max_length = 200)]
    pub description: Option<String>,
}

/// What is changed of a webhook endpoint; what is not named stays as it is.
#[derive(ToSchema)]
pub struct WebhookEndpointChange {
    /// Where it is.
    #[schema(format = "uri", max_length = 500)]
    pub url: Option<String>,
    /// Types of events, or `*` for all of them.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Option<Vec<String>>,
    /// What people call it; `null` takes it away.
    #[schema(max_length = 200)]
    pub description: Option<String>,
    /// Whether it is called; `true` also ends what the service disabled.
    pub active: Option<bool>,
}

/// How a secret is changed.
#[derive(ToSchema)]
pub struct SecretRotation {
    /// Seconds for which the previous secret signs as well; 86400 when absent.
    #[schema(minimum = 0, maximum = 604_800)]
    pub grace_seconds: Option<u32>,
}

/// The data of `webhook.test`.
#[derive(ToSchema)]
pub struct WebhookTestData {
    /// The endpoint that is tested.
    pub endpoint_id: String,
    /// A sentence that is always the same.
    pub message: String,
}

/// What a merchant says against an infraction.
#[derive(ToSchema)]
pub struct NewDefense {
    /// Its words.
    #[schema(min_length = 1, max_length = 2000)]
    pub defense_text: String,
    /// An https address where more can be seen; the acquirer is told it with the words.
    #[schema(format = "uri", max_length = 500)]
    pub defense_evidence_url: Option<String>,
}

/// A dispute in the sandbox.
#[derive(ToSchema)]
pub struct SandboxDispute {
    /// The kind of situation.
    pub reason_code: Option<ReasonCode>,
    /// BRL; all that was paid unless given.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
    /// Seconds until it can no longer be defended; seven days unless given.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub deadline_s: Option<u32>,
}

closed_list! {
    /// How an infraction ends.
    Resolution Outcome::ALL.map(Outcome::as_str)
}

/// How an infraction ends in the sandbox.
#[derive(ToSchema)]
pub struct SandboxResolution {
    /// How.
    pub outcome: Resolution,
}
