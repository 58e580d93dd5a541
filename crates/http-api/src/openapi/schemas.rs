//! The shapes of bodies, for the `OpenAPI` document only: what is sent is written and read elsewhere, and a test compares.

mod infractions;
mod money_out;
mod statement;
mod webhooks;

use utoipa::ToSchema;

use super::failures::Code;

pub use infractions::{
    Infraction, InfractionDetail, InfractionPage, InfractionStatus, NewDefense, ReasonCode, Resolution, SandboxDispute,
    SandboxResolution,
};
pub use money_out::{
    NewPayout, NewRefund, Payout, PayoutPage, PayoutPix, PayoutStatus, PixKeyType, Refund, RefundPage, RefundStatus,
};
pub use statement::{
    Bucket, Entry, EntryKind, EntryPage, Method, Origin, Transaction, TransactionPage, TransactionStatus,
    TransactionType,
};
pub use webhooks::{
    Delivery, DeliveryAttempt, DeliveryList, DeliveryPage, DeliveryStatus, DisabledReason, EventPage,
    NewWebhookEndpoint, SecretRotation, UnexpectedPayment, UnexpectedReason, WebhookEndpoint, WebhookEndpointChange,
    WebhookEndpointPage, WebhookEndpointWithSecret, WebhookTestData,
};

/// Where a charge stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum ChargeStatus {
    /// Waits for its payer.
    Pending,
    /// Paid.
    Paid,
    /// Not paid in time.
    Expired,
    /// Withdrawn.
    Cancelled,
    /// Paid, and all of it went back.
    Refunded,
}

/// How a charge is paid.
#[derive(ToSchema)]
pub struct ChargePix {
    /// Pix copy-and-paste code (EMV).
    #[schema(required)]
    pub copy_paste: Option<String>,
    /// QR code of the same, a PNG as data URL, while the charge can be paid.
    #[schema(required)]
    pub qr_code_image: Option<String>,
}

/// A Pix charge.
#[derive(ToSchema)]
pub struct Charge {
    /// Public id, prefix `chg_`.
    #[schema(required)]
    pub id: Option<String>,
    /// Acquirer identifier.
    #[schema(required)]
    pub txid: Option<String>,
    /// The caller's own order identifier.
    #[schema(required)]
    pub external_id: Option<String>,
    /// BRL, two decimals.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// Where it stands.
    pub status: ChargeStatus,
    /// Shown to the payer.
    #[schema(required)]
    pub description: Option<String>,
    /// How it is paid.
    pub pix: ChargePix,
    /// The Pix that paid it.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// When it was paid.
    #[schema(required, format = DateTime)]
    pub paid_at: Option<String>,
    /// When it can no longer be paid.
    #[schema(required, format = DateTime)]
    pub expires_at: Option<String>,
    /// When it was asked for.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A page of charges, newest first.
#[derive(ToSchema)]
pub struct ChargePage {
    /// The rows.
    pub data: Vec<Charge>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

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

/// The parts of an account's money, in BRL.
#[derive(ToSchema)]
pub struct Balance {
    /// Available for withdrawal now.
    #[schema(example = 10.50)]
    pub available_balance: f64,
    /// Received, awaiting release.
    #[schema(example = 10.50)]
    pub pending_balance: f64,
    /// Held because of a Pix infraction (MED) or review.
    #[schema(example = 10.50)]
    pub blocked_balance: f64,
    /// Available, pending and blocked together.
    #[schema(example = 10.50)]
    pub total_balance: f64,
    /// Always `BRL`.
    pub currency: String,
}

/// One thing that is wrong with a request.
#[derive(ToSchema)]
pub struct Issue {
    /// Where: a field, a parameter, a header, or empty for the body as a whole.
    pub path: String,
    /// What.
    pub message: String,
}

/// What went wrong.
#[derive(ToSchema)]
pub struct ErrorDetail {
    /// The cause, for programs.
    #[schema(value_type = Code)]
    pub code: String,
    /// For people.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Each thing that is wrong with the request.
    #[schema(nullable = false)]
    pub issues: Option<Vec<Issue>>,
    /// Seconds after which a repeat makes sense; the header `Retry-After` says the same.
    #[schema(nullable = false)]
    pub retry_after: Option<u32>,
}

/// Every failure.
#[derive(ToSchema)]
pub struct Error {
    /// Always `false`.
    pub success: bool,
    /// Also the header `x-request-id`.
    pub request_id: String,
    /// What went wrong.
    pub error: ErrorDetail,
}

/// A payment in the sandbox.
#[derive(ToSchema)]
pub struct SandboxPayment {
    /// BRL; the charge's amount unless given.
    #[schema(minimum = 0.01)]
    pub amount: Option<f64>,
}

/// What goes wrong.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum FaultMode {
    /// Nothing.
    Ok,
    /// Every call is turned away at once, and nothing is done.
    Down,
    /// Answers wait.
    Slow,
    /// The work is done, the answer is lost.
    DropReply,
    /// 500, and nothing is done.
    Error,
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

/// What goes wrong at the sandbox.
#[derive(ToSchema)]
pub struct Faults {
    /// The sandbox's acquirer.
    pub acquirer: String,
    /// What goes wrong.
    pub mode: FaultMode,
    /// How long `slow` waits.
    pub latency_ms: u32,
}

/// How far the clocks of service and sandbox are ahead of the machine's.
#[derive(ToSchema)]
pub struct Clock {
    /// Seconds; negative is behind.
    pub offset_s: i64,
}
