//! The bodies of crypto deposits and withdrawals.

use cais_domain::crypto::deposit::{Deposit, Resolution};
use cais_domain::crypto::withdrawal::Withdrawal;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// The status of a crypto deposit.
    CryptoDepositStatus ["pending", "confirming", "completed", "underpaid", "expired", "failed", "refunded"]
}

closed_list! {
    /// The relation of the credited coins to the requested coins. `late`: the first credited payment arrived after
    /// `expires_at`. Before a credit: coins wait for an operator, because they are too late (`late`) or too many (`overpaid`).
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
    /// The service's fee, in BRL. Before a credit, the fee for `amount`; after a credit, the fee for the credited money.
    #[schema(value_type = Amount, inline, required)]
    pub fee: Option<Amount>,
    /// The BRL for the account after the fee. Before a credit, computed from `amount`; after a credit, from the credited money.
    #[schema(value_type = Amount, inline, required)]
    pub net_amount: Option<Amount>,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The requested coins, a decimal.
    pub pay_amount: String,
    /// The address that the payer sends the coins to.
    #[schema(value_type = String, required)]
    pub pay_address: Option<String>,
    /// The memo or tag that the network requires.
    #[schema(required)]
    pub pay_extra_id: Option<String>,
    /// For `btc` and `ltc`, a URI for wallets with the address and the requested coins (BIP 21). For `trx`, `usdtbsc` and `usdterc20`, the
    /// address alone, because their wallets have no common URI.
    #[schema(value_type = String, required)]
    pub pay_uri: Option<String>,
    /// The coins that were credited at `rate`, a decimal. Coins that wait for an operator, or that an operator credited or
    /// dismissed, are only in the list of payments.
    pub received_amount: String,
    /// The relation of the credited coins to the requested coins; null while no coins are credited at `rate`. Before the first
    /// credit the value is `late` or `overpaid` if coins wait for an operator because they are too late or too many. So only the
    /// status `completed` or `underpaid` stands for a credit.
    #[schema(value_type = Option<CryptoResolution>, required)]
    pub resolution: Option<&'static str>,
    /// The status.
    #[schema(value_type = CryptoDepositStatus)]
    pub status: &'static str,
    /// The hash of the transaction on the chain.
    #[schema(required)]
    pub tx_hash: Option<String>,
    /// The caller's description.
    #[schema(required)]
    pub description: Option<String>,
    /// End of the payment period, 20 minutes after the creation. A payment up to an hour later is credited as `late`. Any later payment
    /// waits for an operator.
    #[schema(value_type = String, required, format = DateTime)]
    pub expires_at: Option<Instant>,
    /// Time at which the service first saw confirmed coins, or credited a payment.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub confirmed_at: Option<Instant>,
    /// Time at which the credited money reached `amount`; null while less is credited.
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
    #[schema(value_type = Amount, inline, required)]
    pub gross_amount: Option<Amount>,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The coins for the recipient, a decimal.
    pub crypto_amount: String,
    /// The fee of the network as the processor reports it, a decimal. The fee is only shown, and no amount depends on it.
    #[schema(required)]
    pub network_fee: Option<String>,
    /// The status.
    #[schema(value_type = CryptoWithdrawalStatus)]
    pub status: &'static str,
    /// The hash of the transaction on the chain.
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

/// A page of deposits.
pub type CryptoDepositPage = Page<CryptoDeposit>;

/// A page of withdrawals.
pub type CryptoWithdrawalPage = Page<CryptoWithdrawal>;

impl From<&Deposit> for CryptoDeposit {
    fn from(deposit: &Deposit) -> Self {
        let (terms, price, issued) = (&deposit.terms, &deposit.price, deposit.state.issued());
        Self {
            id: deposit.id.to_string(),
            external_id: terms.external_id.as_ref().map(ToString::to_string),
            currency: terms.currency.code().to_owned(),
            network: terms.currency.network().to_owned(),
            amount: Amount(terms.amount),
            fee: deposit.fee().ok().map(Amount),
            net_amount: deposit.net_amount().ok().map(Amount),
            rate: price.rate.to_string(),
            pay_amount: price.coins.to_string(),
            pay_address: issued.map(|issued| issued.address.clone()),
            pay_extra_id: issued.and_then(|issued| issued.extra_id.clone()),
            pay_uri: deposit.pay_uri(),
            received_amount: deposit.credited.coins.to_string(),
            resolution: deposit.resolution.map(Resolution::as_str),
            status: deposit.state.status().as_str(),
            tx_hash: deposit.tx_hash.clone(),
            description: terms.description.as_ref().map(ToString::to_string),
            expires_at: issued.map(|issued| Instant(issued.expires_at)),
            confirmed_at: deposit.confirmed_at.map(Instant),
            completed_at: deposit.state.completed_at().map(Instant),
            created_at: Instant(deposit.created_at),
        }
    }
}

impl From<&Withdrawal> for CryptoWithdrawal {
    fn from(withdrawal: &Withdrawal) -> Self {
        let (terms, price) = (&withdrawal.terms, &withdrawal.price);
        let currency = terms.address.currency();
        Self {
            id: withdrawal.id.to_string(),
            external_id: terms.external_id.as_ref().map(ToString::to_string),
            currency: currency.code().to_owned(),
            network: currency.network().to_owned(),
            address: terms.address.as_str().to_owned(),
            amount: Amount(terms.amount),
            fee: Amount(price.fee),
            gross_amount: withdrawal.gross().ok().map(Amount),
            rate: price.rate.to_string(),
            crypto_amount: price.coins.to_string(),
            network_fee: withdrawal.network_fee.map(|fee| fee.to_string()),
            status: withdrawal.state.status().as_str(),
            tx_hash: withdrawal.tx_hash.clone(),
            description: terms.description.as_ref().map(ToString::to_string),
            error_message: withdrawal.state.failure().map(str::to_owned),
            created_at: Instant(withdrawal.created_at),
            completed_at: withdrawal.state.completed_at().map(Instant),
        }
    }
}
