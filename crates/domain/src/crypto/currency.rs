//! The supported coins, each on one network. USDT on two networks is two currencies with two codes.

use std::fmt;

/// The maximum number of decimals that the processor accepts in the amount of a withdrawal.
const MAX_WITHDRAWAL_DECIMALS: u32 = 6;
/// The maximum number of decimals of requested coins, because payers' wallets show no more. The chain of `usdtbsc` has
/// 18 decimals.
const MAX_DEPOSIT_DECIMALS: u32 = 8;

/// A coin on one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Currency {
    /// TRX on Tron.
    Trx,
    /// USDT on BNB Smart Chain.
    UsdtBsc,
    /// Bitcoin.
    Btc,
    /// Litecoin.
    Ltc,
    /// USDT on Ethereum.
    UsdtErc20,
}

/// The error for a code that belongs to no supported currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not supported; supported are trx, usdtbsc, btc, ltc, usdterc20")]
pub struct UnsupportedCurrency(pub String);

impl Currency {
    /// All currencies.
    pub const ALL: [Self; 5] = [Self::Trx, Self::UsdtBsc, Self::Btc, Self::Ltc, Self::UsdtErc20];

    /// Returns the code in the API, in the store and at the processor.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Trx => "trx",
            Self::UsdtBsc => "usdtbsc",
            Self::Btc => "btc",
            Self::Ltc => "ltc",
            Self::UsdtErc20 => "usdterc20",
        }
    }

    /// Parses a code in lower case.
    ///
    /// # Errors
    /// [`UnsupportedCurrency`].
    pub fn parse(code: &str) -> Result<Self, UnsupportedCurrency> {
        Self::ALL
            .into_iter()
            .find(|currency| currency.code() == code)
            .ok_or_else(|| UnsupportedCurrency(code.to_owned()))
    }

    /// Returns the name of the network in the API.
    #[must_use]
    pub const fn network(self) -> &'static str {
        match self {
            Self::Trx => "tron",
            Self::UsdtBsc => "bsc",
            Self::Btc => "bitcoin",
            Self::Ltc => "litecoin",
            Self::UsdtErc20 => "ethereum",
        }
    }

    /// Returns the number of decimals of the smallest unit on the chain. USDT has 6 on Ethereum and 18 on BNB Smart
    /// Chain.
    #[must_use]
    pub const fn chain_decimals(self) -> u32 {
        match self {
            Self::Trx | Self::UsdtErc20 => 6,
            Self::Btc | Self::Ltc => 8,
            Self::UsdtBsc => 18,
        }
    }

    /// Returns the maximum number of decimals of the coins that a deposit requests.
    #[must_use]
    pub const fn deposit_decimals(self) -> u32 {
        at_most(self.chain_decimals(), MAX_DEPOSIT_DECIMALS)
    }

    /// Returns the maximum number of decimals of the coins that a withdrawal sends.
    #[must_use]
    pub const fn withdrawal_decimals(self) -> u32 {
        at_most(self.chain_decimals(), MAX_WITHDRAWAL_DECIMALS)
    }

    /// Returns whether the coin is USDT, on any network.
    #[must_use]
    pub const fn is_usdt(self) -> bool {
        match self {
            Self::UsdtBsc | Self::UsdtErc20 => true,
            Self::Trx | Self::Btc | Self::Ltc => false,
        }
    }
}

const fn at_most(decimals: u32, limit: u32) -> u32 {
    if decimals < limit { decimals } else { limit }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currency_is_read_back_by_its_code() {
        for currency in Currency::ALL {
            assert_eq!(Currency::parse(currency.code()), Ok(currency));
        }
        for code in ["usdttrc20", "usdt", "BTC", "", "eth"] {
            assert_eq!(Currency::parse(code), Err(UnsupportedCurrency(code.to_owned())), "{code}");
        }
    }

    #[test]
    fn refusal_names_the_code_and_each_supported_one() {
        let message = UnsupportedCurrency("usdttrc20".to_owned()).to_string();
        assert!(message.contains("`usdttrc20`"), "{message}");
        for currency in Currency::ALL {
            assert!(message.contains(currency.code()), "{currency} in {message}");
        }
    }

    #[test]
    fn usdt_has_other_decimals_on_each_chain() {
        let decimals = |currency: Currency| {
            (currency.chain_decimals(), currency.deposit_decimals(), currency.withdrawal_decimals())
        };
        assert_eq!(Currency::ALL.map(decimals), [(6, 6, 6), (18, 8, 6), (8, 8, 6), (8, 8, 6), (6, 6, 6)]);
    }
}
