//! The bodies of requests, only for the `OpenAPI` document. The strict reader of each operation parses real bodies.

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

/// The fields of a new charge.
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
    /// Seconds until the charge expires; 3600 when absent.
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
    /// BRL; default: the charge's amount.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
}

closed_list! {
    /// The simulated failure.
    FaultMode Mode::ALL.map(Mode::as_str)
}

/// The failures to simulate at the sandbox.
#[derive(ToSchema)]
pub struct NewFaults {
    /// The sandbox's acquirer.
    pub acquirer: Option<String>,
    /// The simulated failure.
    pub mode: FaultMode,
    /// Milliseconds that `slow` waits; 5000 when absent.
    #[schema(minimum = 0, maximum = 60000)]
    pub latency_ms: Option<u32>,
}

closed_list! {
    /// A kind of Pix key.
    PixKeyType KeyType::ALL.map(KeyType::as_str)
}

/// The fields of a new payout.
#[derive(ToSchema)]
pub struct NewPayout {
    /// The amount for the recipient: BRL, at most two decimals.
    #[schema(minimum = 0.01)]
    pub amount: f64,
    /// The recipient's Pix key: CPF, CNPJ, e-mail, phone beginning with `+`, or random key.
    #[schema(max_length = 77)]
    pub pix_key: String,
    /// The type of the key; default: derived from its form.
    pub pix_key_type: Option<PixKeyType>,
    /// CPF or CNPJ of the required owner of the key: with another owner the payout fails.
    #[schema(max_length = 20)]
    pub recipient_document: Option<String>,
    /// Shown to the recipient.
    #[schema(max_length = 140)]
    pub description: Option<String>,
    /// The caller's own identifier, unique within the account.
    #[schema(min_length = 1, max_length = 120)]
    pub external_id: Option<String>,
}

/// The fields of a new refund.
#[derive(ToSchema)]
pub struct NewRefund {
    /// The payment of the charge to refund, regardless of the charge's status; default: the payment that paid the
    /// charge. For an overpayment, the excess is refunded first. Only the remainder counts towards the charge's
    /// refunded amount.
    #[schema(min_length = 32, max_length = 32)]
    pub end_to_end_id: Option<String>,
    /// BRL, at most two decimals. Default: the rest of the charge, or of the payment that `end_to_end_id` names.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
    /// Shown to the payer.
    #[schema(max_length = 140)]
    pub reason: Option<String>,
    /// The caller's own identifier, unique within the account.
    #[schema(min_length = 1, max_length = 120)]
    pub external_id: Option<String>,
}

/// The fields of a new webhook endpoint.
#[derive(ToSchema)]
pub struct NewWebhookEndpoint {
    /// An https URL at a public address, unique within the account.
    #[schema(format = "uri", max_length = 500)]
    pub url: String,
    /// Types of events, or `*` for all types.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Vec<String>,
    /// A description for people.
    #[schema(max_length = 200)]
    pub description: Option<String>,
}

/// The changed fields of a webhook endpoint; omitted fields stay unchanged.
#[derive(ToSchema)]
pub struct WebhookEndpointChange {
    /// The URL.
    #[schema(format = "uri", max_length = 500)]
    pub url: Option<String>,
    /// Types of events, or `*` for all types.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Option<Vec<String>>,
    /// A description for people; `null` removes the description.
    #[schema(max_length = 200)]
    pub description: Option<String>,
    /// True if deliveries are sent; `true` also re-enables an endpoint that the service disabled.
    pub active: Option<bool>,
}

/// The options of a secret's rotation.
#[derive(ToSchema)]
pub struct SecretRotation {
    /// Seconds for which the previous secret also signs; 86400 when absent.
    #[schema(minimum = 0, maximum = 604_800)]
    pub grace_seconds: Option<u32>,
}

/// The data of `webhook.test`.
#[derive(ToSchema)]
pub struct WebhookTestData {
    /// The tested endpoint.
    pub endpoint_id: String,
    /// A constant sentence.
    pub message: String,
}

/// A merchant's defense against an infraction.
#[derive(ToSchema)]
pub struct NewDefense {
    /// The text of the defense.
    #[schema(min_length = 1, max_length = 2000)]
    pub defense_text: String,
    /// An https address of further evidence, which the acquirer receives with the text.
    #[schema(format = "uri", max_length = 500)]
    pub defense_evidence_url: Option<String>,
}

/// A dispute in the sandbox.
#[derive(ToSchema)]
pub struct SandboxDispute {
    /// The kind of situation.
    pub reason_code: Option<ReasonCode>,
    /// BRL; default: the whole paid amount.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
    /// Seconds until the deadline of the defense; default: seven days.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub deadline_s: Option<u32>,
}

closed_list! {
    /// The outcome of an infraction.
    Resolution Outcome::ALL.map(Outcome::as_str)
}

/// The outcome of an infraction in the sandbox.
#[derive(ToSchema)]
pub struct SandboxResolution {
    /// The outcome.
    pub outcome: Resolution,
}
