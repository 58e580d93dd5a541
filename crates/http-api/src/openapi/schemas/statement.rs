//! The shapes of the statement and of the timeline.

use utoipa::ToSchema;

/// A part of the money.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Bucket {
    /// May be used now.
    Available,
    /// Received, awaiting release.
    Pending,
    /// Held because of a Pix infraction (MED) or review.
    Blocked,
}

/// Why money moved.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum EntryKind {
    /// A payment that paid its charge.
    Charge,
    /// Money beyond a charge: a surplus, a second payment, one below the amount, or a late one.
    ExtraPayment,
    /// The service's fee; positive where it is given back.
    Fee,
    /// A share in another account's charge.
    Split,
    /// Money that awaited its release may be used now.
    Release,
    /// A payout on its way out.
    Payout,
    /// A payout that failed.
    PayoutFailed,
    /// A payout that came back.
    PayoutReversed,
    /// A refund on its way to its payer.
    Refund,
    /// A refund that failed.
    RefundFailed,
    /// Blocked because a payer disputes a Pix.
    Infraction,
    /// An infraction that was won or cancelled, or concerns less than it did: the money may be used again, or waits for its release.
    InfractionReleased,
    /// An infraction that was lost: the money went back to the payer.
    InfractionReturned,
}

/// One movement of the account's money.
#[derive(ToSchema)]
pub struct Entry {
    /// Public id, prefix `ent_`.
    pub id: String,
    /// Why.
    pub kind: EntryKind,
    /// On which part of the money.
    pub bucket: Bucket,
    /// BRL; negative when it went.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// What was in the bucket then.
    #[schema(example = 10.50)]
    pub balance_after: f64,
    /// The charge, payout, refund or infraction; null for a share in another account's charge.
    #[schema(required)]
    pub resource_id: Option<String>,
    /// The Pix.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// The description of the charge or payout, or the reason of the refund.
    #[schema(required)]
    pub description: Option<String>,
    /// When.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A page of the statement, newest first.
#[derive(ToSchema)]
pub struct EntryPage {
    /// The rows.
    pub data: Vec<Entry>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

/// Which way money goes.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum TransactionType {
    /// A charge, or a share in another account's.
    CashIn,
    /// A payout.
    CashOut,
}

/// Where an entry of the timeline stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum TransactionStatus {
    /// Waits for its payer.
    Pending,
    /// On its way.
    Processing,
    /// The money is there.
    Completed,
    /// It never arrives.
    Failed,
    /// Withdrawn, or not paid in time.
    Cancelled,
    /// All of it went back, or came back.
    Refunded,
}

/// How money moves.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Method {
    /// Pix.
    Pix,
}

/// How it came to be.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Origin {
    /// Over the API.
    Api,
    /// In the dashboard.
    Manual,
}

/// An entry of the timeline.
#[derive(ToSchema)]
pub struct Transaction {
    /// Public id, `txn_in_…` or `txn_out_…`.
    pub id: String,
    /// Which way the money goes.
    pub r#type: TransactionType,
    /// The charge or payout; null for a share in another account's charge.
    #[schema(required)]
    pub resource_id: Option<String>,
    /// BRL, two decimals.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// The service's fee.
    #[schema(example = 10.50)]
    pub fee: f64,
    /// Credited after fee and split parts (`cash_in`), or sent (`cash_out`).
    #[schema(example = 10.50)]
    pub net_amount: f64,
    /// Paid (`cash_in`), or debited with the fee (`cash_out`).
    #[schema(example = 10.50)]
    pub gross_amount: f64,
    /// Where it stands.
    pub status: TransactionStatus,
    /// How the money moves.
    pub method: Method,
    /// How it came to be.
    pub origin: Origin,
    /// When.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A page of the timeline, newest first.
#[derive(ToSchema)]
pub struct TransactionPage {
    /// The rows.
    pub data: Vec<Transaction>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}
