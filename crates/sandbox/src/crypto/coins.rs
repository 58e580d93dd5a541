//! The coins of the simulated processor, with their networks and initial values. Minimums, fees and balances are amounts of the coin.

use cais_domain::crypto::Currency;

/// The form of a coin's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressForm {
    /// Base58 of this version byte, a hash and a checksum.
    Base58(u8),
    /// `0x` and forty hexadecimal digits.
    Evm,
}

/// A coin on a network.
#[derive(Clone, Copy, Debug)]
pub struct Coin {
    /// The processor's code of the coin on this network, in lower case.
    pub code: &'static str,
    /// The name.
    pub name: &'static str,
    /// The processor's code of the network, such as `bsc`.
    pub network: &'static str,
    /// The number of decimals on the chain.
    pub decimals: u32,
    /// The address of a token's contract; `None` for the coin of the network itself.
    pub contract: Option<&'static str>,
    /// The form of deposit addresses.
    pub address: AddressForm,
    /// The domain's currency with addresses of the same form, for the check of withdrawal addresses.
    pub domain: Currency,
    /// `wallet_regex` of `GET /v1/full-currencies`: a regular expression of the coin's addresses.
    pub wallet_regex: &'static str,
    /// The price in USDT after a start.
    pub price: &'static str,
    /// The minimum of a deposit after a start.
    pub min_deposit: &'static str,
    /// The minimum of a withdrawal after a start.
    pub min_payout: &'static str,
    /// The network fee of a withdrawal after a start.
    pub payout_fee: &'static str,
    /// The balance of this coin in a new state file: the coins that the processor holds for the service at first.
    pub balance: &'static str,
}

const EVM: &str = "^0x[a-fA-F0-9]{40}$";
const TRON: &str = "^T[1-9A-HJ-NP-Za-km-z]{33}$";

/// All coins of the processor.
pub const COINS: [Coin; 6] = [
    Coin {
        code: "btc",
        name: "Bitcoin",
        network: "btc",
        decimals: 8,
        contract: None,
        address: AddressForm::Base58(0x00),
        domain: Currency::Btc,
        wallet_regex: "^([13][a-km-zA-HJ-NP-Z1-9]{25,34}|bc1[ac-hj-np-z02-9]{11,71})$",
        price: "65000",
        min_deposit: "0.00008",
        min_payout: "0.00002496",
        payout_fee: "0.00001234",
        balance: "150",
    },
    Coin {
        code: "ltc",
        name: "Litecoin",
        network: "ltc",
        decimals: 8,
        contract: None,
        address: AddressForm::Base58(0x30),
        domain: Currency::Ltc,
        wallet_regex: "^([LM3][a-km-zA-HJ-NP-Z1-9]{25,34}|ltc1[ac-hj-np-z02-9]{11,71})$",
        price: "80",
        min_deposit: "0.05",
        min_payout: "0.0123",
        payout_fee: "0.0005",
        balance: "125000",
    },
    Coin {
        code: "trx",
        name: "Tron",
        network: "trx",
        decimals: 6,
        contract: None,
        address: AddressForm::Base58(0x41),
        domain: Currency::Trx,
        wallet_regex: TRON,
        price: "0.25",
        min_deposit: "12.5",
        min_payout: "5.5",
        payout_fee: "1.1",
        balance: "40000000",
    },
    Coin {
        code: "usdtbsc",
        name: "Tether USD (Binance Smart Chain)",
        network: "bsc",
        decimals: 18,
        contract: Some("0x55d398326f99059fF775485246999027B3197955"),
        address: AddressForm::Evm,
        domain: Currency::UsdtBsc,
        wallet_regex: EVM,
        price: "1",
        min_deposit: "1.5",
        min_payout: "0.30000001",
        payout_fee: "0.05",
        balance: "10000000",
    },
    Coin {
        code: "usdterc20",
        name: "Tether USD (Ethereum)",
        network: "eth",
        decimals: 6,
        contract: Some("0xdAC17F958D2ee523a2206206994597C13D831ec7"),
        address: AddressForm::Evm,
        domain: Currency::UsdtErc20,
        wallet_regex: EVM,
        price: "1",
        min_deposit: "9.6",
        min_payout: "0.41491074",
        payout_fee: "1.32765969",
        balance: "10000000",
    },
    Coin {
        code: "usdttrc20",
        name: "Tether USD (Tron)",
        network: "trx",
        decimals: 6,
        contract: Some("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
        address: AddressForm::Base58(0x41),
        domain: Currency::Trx,
        wallet_regex: TRON,
        price: "1",
        min_deposit: "8.5",
        min_payout: "10.98424792",
        payout_fee: "2.5",
        balance: "10000000",
    },
];

/// Returns the coin with this code in upper or lower case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Coin> {
    COINS.iter().find(|coin| coin.code.eq_ignore_ascii_case(code))
}
