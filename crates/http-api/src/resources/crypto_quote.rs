//! The bodies of crypto currencies and quotes.

use cais_domain::crypto::{Quote, RateInputs, Side};
use cais_use_cases::crypto::currencies::{LiveCurrency, LiveMinimum};
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, closed_list};

closed_list! {
    /// The direction of a crypto operation: a deposit or a withdrawal.
    CryptoSide Side::ALL.map(Side::as_str)
}

/// The minimums of a currency, either for deposits or for withdrawals. Two minimums apply, so the larger one is effective.
#[derive(Serialize, ToSchema)]
pub struct CryptoMinimum {
    /// The service's own minimum, a decimal in the currency.
    pub commercial: String,
    /// The current minimum of processor and network, a decimal in the currency.
    pub technical: String,
    /// The larger of `commercial` and `technical`, a decimal in the currency.
    pub effective: String,
    /// The effective minimum in BRL.
    #[schema(inline)]
    pub effective_brl: Amount,
}

/// A currency with its current minimums.
#[derive(Serialize, ToSchema)]
pub struct CryptoCurrency {
    /// The code, such as `usdtbsc`. A code stands for a coin on one network.
    pub currency: &'static str,
    /// The network, such as `bsc`.
    pub network: &'static str,
    /// True if deposits are available now.
    pub cash_in: bool,
    /// True if withdrawals are available now.
    pub cash_out: bool,
    /// The minimum of a deposit; null while deposits are not available.
    #[schema(required)]
    pub min_deposit: Option<CryptoMinimum>,
    /// The minimum of a withdrawal; null while withdrawals are not available.
    #[schema(required)]
    pub min_withdrawal: Option<CryptoMinimum>,
}

/// All currencies.
#[derive(Serialize, ToSchema)]
pub struct CryptoCurrencyList {
    /// The currencies.
    pub data: Vec<CryptoCurrency>,
}

/// A price that holds for one minute and one operation.
#[derive(Serialize, ToSchema)]
pub struct CryptoQuote {
    /// Public id, prefix `cqt_`.
    pub id: String,
    /// The direction: `deposit` or `withdrawal`.
    #[schema(value_type = CryptoSide)]
    pub side: &'static str,
    /// The code of the currency, such as `usdtbsc`.
    pub currency: &'static str,
    /// The network of the currency, such as `bsc`.
    pub network: &'static str,
    /// The requested amount in BRL. A deposit's fee is subtracted from it; a withdrawal's fee is added.
    #[schema(inline)]
    pub amount: Amount,
    /// The service's fee, in BRL.
    #[schema(value_type = Amount, inline, required)]
    pub fee: Option<Amount>,
    /// For a deposit, the BRL that are credited after the fee. For a withdrawal, the BRL that are converted into coins.
    #[schema(value_type = Amount, inline, required)]
    pub net_amount: Option<Amount>,
    /// For a deposit, the value of the payer's coins in BRL. For a withdrawal, the BRL that are debited, including the fee.
    #[schema(value_type = Amount, inline, required)]
    pub gross_amount: Option<Amount>,
    /// BRL for one coin, a decimal.
    pub rate: String,
    /// The coins that a deposit's payer sends or a withdrawal's recipient receives, a decimal.
    pub crypto_amount: String,
    /// End of the time in which the quote can be used.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Instant,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// The inputs of a quote's rate.
#[derive(Serialize, ToSchema)]
pub struct CryptoRateInputs {
    /// USDT for one coin, a decimal. A deposit uses the price at which coins are sold; a withdrawal, the price at which coins are bought.
    pub usdt_per_coin: String,
    /// Time of `usdt_per_coin`.
    #[schema(value_type = String, format = DateTime)]
    pub coin_priced_at: Instant,
    /// BRL for one US dollar as the Central Bank publishes it (PTAX), a decimal. One USDT counts as one US dollar.
    pub brl_per_usd: String,
    /// Time of the publication.
    #[schema(value_type = String, format = DateTime)]
    pub usd_priced_at: Instant,
    /// The spread in percent, a decimal.
    pub spread: String,
}

/// A quote with the inputs of its rate.
#[derive(Serialize, ToSchema)]
pub struct CryptoQuoteDetail {
    #[serde(flatten)]
    #[schema(inline)]
    quote: CryptoQuote,
    /// The inputs of the rate.
    pub inputs: CryptoRateInputs,
    /// The id of the deposit or withdrawal that used the quote.
    #[schema(required)]
    pub used_by: Option<String>,
}

impl From<LiveMinimum> for CryptoMinimum {
    fn from(LiveMinimum { coins, effective_brl }: LiveMinimum) -> Self {
        Self {
            commercial: coins.commercial().to_string(),
            technical: coins.technical().to_string(),
            effective: coins.effective().to_string(),
            effective_brl: Amount(effective_brl),
        }
    }
}

impl From<LiveCurrency> for CryptoCurrency {
    fn from(LiveCurrency { currency, deposit, withdrawal }: LiveCurrency) -> Self {
        Self {
            currency: currency.code(),
            network: currency.network(),
            cash_in: deposit.is_some(),
            cash_out: withdrawal.is_some(),
            min_deposit: deposit.map(CryptoMinimum::from),
            min_withdrawal: withdrawal.map(CryptoMinimum::from),
        }
    }
}

impl From<&Quote> for CryptoQuote {
    fn from(quote: &Quote) -> Self {
        Self {
            id: quote.id.to_string(),
            side: quote.terms.side.as_str(),
            currency: quote.terms.currency.code(),
            network: quote.terms.currency.network(),
            amount: Amount(quote.terms.amount),
            // `ok` never returns `None` here, because the sums were checked when the quote was created.
            fee: quote.fee().ok().map(Amount),
            net_amount: quote.net_amount().ok().map(Amount),
            gross_amount: quote.gross_amount().ok().map(Amount),
            rate: quote.prices.rate.to_string(),
            crypto_amount: quote.prices.coins.to_string(),
            expires_at: Instant(quote.expires_at),
            created_at: Instant(quote.created_at),
        }
    }
}

impl From<&RateInputs> for CryptoRateInputs {
    fn from(inputs: &RateInputs) -> Self {
        Self {
            usdt_per_coin: inputs.usdt_per_coin.to_string(),
            coin_priced_at: Instant(inputs.coin_priced_at),
            brl_per_usd: inputs.brl_per_usd.to_string(),
            usd_priced_at: Instant(inputs.usd_priced_at),
            spread: inputs.spread.to_string(),
        }
    }
}

impl From<&Quote> for CryptoQuoteDetail {
    fn from(quote: &Quote) -> Self {
        Self { quote: quote.into(), inputs: (&quote.inputs).into(), used_by: quote.used_by.clone() }
    }
}
