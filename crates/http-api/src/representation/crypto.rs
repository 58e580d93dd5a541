//! The bodies of crypto deposits and withdrawals.

use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, closed_list};

closed_list! {
    /// The status of a crypto deposit.
    CryptoDepositStatus ["pending", "confirming", "completed", "underpaid", "expired", "failed", "refunded"]
}

closed_list! {
    /// The relation of the credited coins to the requested coins.
    CryptoResolution ["exact", "underpaid", "overpaid", "late"]
}

closed_list! {
    /// The status of a crypto withdrawal.
    CryptoWithdrawalStatus ["pending", "processing", "completed", "failed"]
}

/// A crypto deposit: a payer sends coins, and BRL is credited.
#[derive(Serialize, ToSchema)]
pub struct CryptoDeposit {
    /// Public id, prefix `cdp_`.
    pub id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<String>,
    /// The currency.
    pub currency: String,
    /// The network of the currency.
    pub network: String,
    /// The requested amount in BRL.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, in BRL.
    #[schema(inline)]
    pub fee: Amount,
    /// The amount after the fee, in BRL.
    #[schema(inline)]
    pub net_amount: Amount,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The requested coins, a decimal.
    pub pay_amount: String,
    /// The address that the payer sends the coins to.
    #[schema(required)]
    pub pay_address: Option<String>,
    /// The memo or tag that the network requires.
    #[schema(required)]
    pub pay_extra_id: Option<String>,
    /// The address as a URI for wallets.
    #[schema(required)]
    pub pay_uri: Option<String>,
    /// The received coins, a decimal.
    pub received_amount: String,
    /// The relation of the credited coins to the requested coins.
    #[schema(value_type = Option<CryptoResolution>, required)]
    pub resolution: Option<&'static str>,
    /// The status.
    #[schema(value_type = CryptoDepositStatus)]
    pub status: &'static str,
    /// The transaction on the chain.
    #[schema(required)]
    pub tx_hash: Option<String>,
    /// The caller's description.
    #[schema(required)]
    pub description: Option<String>,
    /// End of the time in which the deposit can be paid.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub expires_at: Option<Instant>,
    /// Time of the first confirmation on the chain.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub confirmed_at: Option<Instant>,
    /// Time of the credit.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub completed_at: Option<Instant>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// A crypto withdrawal: BRL is debited, and coins are sent.
#[derive(Serialize, ToSchema)]
pub struct CryptoWithdrawal {
    /// Public id, prefix `cwd_`.
    pub id: String,
    /// The caller's own identifier.
    #[schema(required)]
    pub external_id: Option<String>,
    /// The currency.
    pub currency: String,
    /// The network of the currency.
    pub network: String,
    /// The address of the recipient.
    pub address: String,
    /// The amount in BRL.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, in BRL, debited in addition.
    #[schema(inline)]
    pub fee: Amount,
    /// Total debit: amount and fee, in BRL.
    #[schema(inline)]
    pub gross_amount: Amount,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The coins for the recipient, a decimal.
    pub crypto_amount: String,
    /// The fee of the network as the processor reports it, a decimal; informative.
    #[schema(required)]
    pub network_fee: Option<String>,
    /// The status.
    #[schema(value_type = CryptoWithdrawalStatus)]
    pub status: &'static str,
    /// The transaction on the chain.
    #[schema(required)]
    pub tx_hash: Option<String>,
    /// The caller's description.
    #[schema(required)]
    pub description: Option<String>,
    /// The reason of a failure.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
    /// Time at which the coins were sent.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub completed_at: Option<Instant>,
}
