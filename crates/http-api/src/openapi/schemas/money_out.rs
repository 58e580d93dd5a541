//! The shapes of payouts and refunds.

use utoipa::ToSchema;

/// Where a payout stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum PayoutStatus {
    /// About to be sent.
    Pending,
    /// On its way.
    Processing,
    /// The recipient has the money.
    Completed,
    /// The recipient never gets it; amount and fee were given back.
    Failed,
    /// The recipient gave it back: the amount was credited, not the fee.
    Reversed,
}

/// Where a payout goes.
#[derive(ToSchema)]
pub struct PayoutPix {
    /// The Pix key in its normal form.
    pub key: String,
    /// Its owner's name, once the acquirer told.
    #[schema(required)]
    pub recipient_name: Option<String>,
    /// Its owner's document as the acquirer shows it; that of a person is masked.
    #[schema(required)]
    pub recipient_document: Option<String>,
}

/// A Pix payout.
#[derive(ToSchema)]
pub struct Payout {
    /// Public id, prefix `pyt_`.
    pub id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<String>,
    /// What the recipient gets, in BRL.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// Debited in addition.
    #[schema(required)]
    pub fee: Option<f64>,
    /// Equals `amount`.
    #[schema(required)]
    pub net_amount: Option<f64>,
    /// Amount and fee: all that is debited.
    #[schema(required)]
    pub gross_amount: Option<f64>,
    /// Where it stands.
    pub status: PayoutStatus,
    /// Where it goes.
    pub pix: PayoutPix,
    /// Shown to the recipient.
    #[schema(required)]
    pub description: Option<String>,
    /// The Pix, once it is named.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// Why it failed.
    #[schema(required)]
    pub error_message: Option<String>,
    /// When it was asked for.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the recipient got the money.
    #[schema(required, format = DateTime)]
    pub completed_at: Option<String>,
}

/// A page of payouts, newest first.
#[derive(ToSchema)]
pub struct PayoutPage {
    /// The rows.
    pub data: Vec<Payout>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

/// A kind of Pix key.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum PixKeyType {
    /// Tax number of a person.
    Cpf,
    /// Tax number of a company.
    Cnpj,
    /// E-mail address.
    Email,
    /// Telephone number.
    Phone,
    /// Random key.
    Evp,
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

/// Where a refund stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RefundStatus {
    /// On its way.
    Processing,
    /// The payer has it.
    Completed,
    /// The payer does not get it; it was given back.
    Failed,
}

/// A refund of a charge, in full or in part.
#[derive(ToSchema)]
pub struct Refund {
    /// Public id, prefix `rfd_`.
    pub id: String,
    /// The charge.
    pub charge_id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<String>,
    /// How much goes back, in BRL.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// Where it stands.
    pub status: RefundStatus,
    /// Shown to the payer.
    #[schema(required)]
    pub reason: Option<String>,
    /// The return, once the acquirer named it.
    #[schema(required)]
    pub return_id: Option<String>,
    /// When it was asked for.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the payer got it.
    #[schema(required, format = DateTime)]
    pub completed_at: Option<String>,
}

/// A page of refunds, newest first.
#[derive(ToSchema)]
pub struct RefundPage {
    /// The rows.
    pub data: Vec<Refund>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
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
