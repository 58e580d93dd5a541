//! The shapes of infractions.

use utoipa::ToSchema;

/// Where an infraction stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum InfractionStatus {
    /// It can be defended.
    Open,
    /// It was defended and is being judged.
    UnderReview,
    /// It was decided for the merchant: the money is free again.
    Won,
    /// It was decided for the payer: the money went back.
    Lost,
    /// The payer's institution withdrew it: the money is free again.
    Cancelled,
}

/// The kind of situation that a payer reports, as DICT names it.
#[derive(ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReasonCode {
    /// The payer was deceived.
    Scam,
    /// Somebody else had the payer's account.
    AccountTakeover,
    /// The payer was forced.
    Coercion,
    /// Somebody else used the payer's credentials.
    FraudulentAccess,
    /// Another one.
    Other,
    /// Not told, or not known.
    Unknown,
}

/// A disputed Pix (MED).
#[derive(ToSchema)]
pub struct Infraction {
    /// Public id, prefix `inf_`.
    pub id: String,
    /// The caller's own identifier of the disputed charge.
    #[schema(required)]
    pub external_id: Option<String>,
    /// The disputed Pix.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// What the payer's side says.
    #[schema(required)]
    pub reason: Option<String>,
    /// The kind of situation.
    #[schema(required)]
    pub reason_code: Option<ReasonCode>,
    /// How much is disputed, in BRL.
    #[schema(required)]
    pub amount: Option<f64>,
    /// Where it stands.
    pub status: InfractionStatus,
    /// When the dispute began.
    #[schema(required, format = DateTime)]
    pub opened_at: Option<String>,
    /// Until when it can be defended.
    #[schema(required, format = DateTime)]
    pub deadline_at: Option<String>,
    /// When it was settled.
    #[schema(required, format = DateTime)]
    pub resolved_at: Option<String>,
    /// When the acquirer had the defence.
    #[schema(required, format = DateTime)]
    pub defense_submitted_at: Option<String>,
}

/// A disputed Pix (MED) with its defence.
#[derive(ToSchema)]
pub struct InfractionDetail {
    /// Public id, prefix `inf_`.
    pub id: String,
    /// The caller's own identifier of the disputed charge.
    #[schema(required)]
    pub external_id: Option<String>,
    /// The disputed Pix.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// What the payer's side says.
    #[schema(required)]
    pub reason: Option<String>,
    /// The kind of situation.
    #[schema(required)]
    pub reason_code: Option<ReasonCode>,
    /// How much is disputed, in BRL.
    #[schema(required)]
    pub amount: Option<f64>,
    /// Where it stands.
    pub status: InfractionStatus,
    /// When the dispute began.
    #[schema(required, format = DateTime)]
    pub opened_at: Option<String>,
    /// Until when it can be defended.
    #[schema(required, format = DateTime)]
    pub deadline_at: Option<String>,
    /// When it was settled.
    #[schema(required, format = DateTime)]
    pub resolved_at: Option<String>,
    /// When the acquirer had the defence.
    #[schema(required, format = DateTime)]
    pub defense_submitted_at: Option<String>,
    /// What the merchant says.
    #[schema(required)]
    pub defense_text: Option<String>,
    /// Where more can be seen.
    #[schema(required)]
    pub defense_evidence_url: Option<String>,
}

/// A page of infractions, newest first.
#[derive(ToSchema)]
pub struct InfractionPage {
    /// The rows.
    pub data: Vec<Infraction>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
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

/// How an infraction ends.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Resolution {
    /// For the merchant.
    Won,
    /// For the payer.
    Lost,
    /// The payer's side withdraws it.
    Cancelled,
}

/// How an infraction ends in the sandbox.
#[derive(ToSchema)]
pub struct SandboxResolution {
    /// How.
    pub outcome: Resolution,
}
