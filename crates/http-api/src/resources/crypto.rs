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
    /// The comparison of the credited coins with the requested coins. `late`: the first credited payment arrived after
    /// `expires_at`. Before the first credit, `late` and `overpaid` mean that coins arrived too late or are too many to be credited
    /// without an operator.
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
    /// The code of the currency, such as `usdtbsc`.
    pub currency: String,
    /// The network of the currency, such as `bsc`.
    pub network: String,
    /// The requested amount in BRL.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, in BRL. Before the first credit, the fee for `amount`; afterwards, the sum of the fees of all credits.
    #[schema(value_type = Amount, inline, required)]
    pub fee: Option<Amount>,
    /// The BRL for the account: before the first credit, `amount` less `fee`; afterwards, the sum of all credits less `fee`.
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
    /// The coins that were credited at `rate`, a decimal. All other coins are only in the deposit's list of payments: coins in
    /// review, dismissed coins, and coins for which an operator set the credited BRL.
    pub received_amount: String,
    /// The comparison of the credited coins with the requested coins; usually null while no coins are credited at `rate`.
    /// Exception: the value becomes `late` or `overpaid` when coins wait for an operator because they arrived too late or are too many.
    /// So the value does not prove a credit; the status `completed` or `underpaid` does.
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
    /// End of the payment period: 20 minutes after the creation, or earlier if the processor ends the period. A payment within one hour
    /// after `expires_at` is credited as `late`. For any later payment, an operator must decide.
    #[schema(value_type = String, required, format = DateTime)]
    pub expires_at: Option<Instant>,
    /// Time at which the service first saw that coins are confirmed on the chain.
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
    /// The code of the currency, such as `usdtbsc`.
    pub currency: String,
    /// The network of the currency, such as `bsc`.
    pub network: String,
    /// The address of the recipient.
    pub address: String,
    /// The BRL that are converted into coins.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, in BRL, debited in addition to `amount`.
    #[schema(inline)]
    pub fee: Amount,
    /// Total debit: amount and fee, in BRL.
    #[schema(value_type = Amount, inline, required)]
    pub gross_amount: Option<Amount>,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The coins for the recipient, a decimal.
    pub crypto_amount: String,
    /// The network's fee in coins, a decimal, as the processor reports it. For information only: no amount depends on it.
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
    /// The reason of the failure; null unless `status` is `failed`.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
    /// Time at which the coins were sent.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub completed_at: Option<Instant>,
}

/// A page of crypto deposits.
pub type CryptoDepositPage = Page<CryptoDeposit>;

/// A page of crypto withdrawals.
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
