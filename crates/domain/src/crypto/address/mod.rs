//! Addresses of coins. Parsing checks the form and the checksum, and sends no request. Addresses of Ethereum and BNB
//! Smart Chain have the same form.
//!
//! The processor may still refuse a valid address.

mod base58;
mod evm;
mod segwit;

use std::fmt;

use super::Currency;

/// The maximum length of an address of a supported currency. A bech32 address of Bitcoin has at most 62 characters, and
/// Litecoin's prefix is one character longer.
const MAX_LENGTH: usize = 63;

/// The version bytes of Bitcoin's base58 addresses: of a public key (`1…`) and of a script (`3…`).
const BITCOIN: [u8; 2] = [0x00, 0x05];
/// The version bytes of Litecoin's base58 addresses: of a public key (`L…`) and of a script (`M…`).
const LITECOIN: [u8; 2] = [0x30, 0x32];
/// The old version byte of Litecoin's scripts (`3…`). Bitcoin uses the same byte, so these addresses are refused.
const LITECOIN_OLD_SCRIPT: u8 = 0x05;
/// The version byte of Tron's base58 addresses (`T…`).
const TRON: u8 = 0x41;

/// A valid address of a currency, in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    currency: Currency,
    text: String,
}

/// The reason why a text is not an address. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The format belongs to another currency, to a test network, or to no address.
    #[error("is not an address of this currency")]
    WrongForm,
    /// The checksum does not match, so a character is wrong.
    #[error("has a wrong checksum: a character is mistyped")]
    WrongChecksum,
    /// A Litecoin address that starts with `3` is also a Bitcoin address.
    #[error("is also a Bitcoin address: use the form that begins with M")]
    Ambiguous,
    /// Money that is sent to the address is lost.
    #[error("is the zero address or the contract of the token: money sent there is lost")]
    Unrecoverable,
}

impl Address {
    /// Parses an address of `currency`. A bech32 address is changed to lower case. An address of Ethereum or BNB Smart
    /// Chain gets the letter case of its checksum (EIP-55).
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn parse(currency: Currency, text: &str) -> Result<Self, AddressError> {
        if text.len() > MAX_LENGTH || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(AddressError::WrongForm);
        }
        let text = match currency {
            Currency::Btc => match segwit::parse("bc", text) {
                Some(parsed) => parsed?,
                None => base58::parse(text, &BITCOIN)?,
            },
            Currency::Ltc => match segwit::parse("ltc", text) {
                Some(parsed) => parsed?,
                None if base58::version(text) == Ok(LITECOIN_OLD_SCRIPT) => return Err(AddressError::Ambiguous),
                None => base58::parse(text, &LITECOIN)?,
            },
            Currency::Trx => base58::parse(text, &[TRON])?,
            Currency::UsdtErc20 => evm::parse(text, evm::USDT_ON_ETHEREUM)?,
            Currency::UsdtBsc => evm::parse(text, evm::USDT_ON_BSC)?,
        };
        Ok(Self { currency, text })
    }

    /// Returns the currency.
    #[must_use]
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// Returns the normal form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Currency, address, and normal form of the address.
    const GOOD: [(Currency, &str, &str); 19] = [
        (Currency::Btc, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
        (Currency::Btc, "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
        (Currency::Btc, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        (Currency::Btc, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        (
            Currency::Btc,
            "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3",
            "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3",
        ),
        (
            Currency::Btc,
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        ),
        (Currency::Ltc, "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"),
        (Currency::Ltc, "LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ", "LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ"),
        (Currency::Ltc, "MJaRnao1s62a2zAKSkmG582KbLKianqb7v", "MJaRnao1s62a2zAKSkmG582KbLKianqb7v"),
        (Currency::Trx, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
        (Currency::Trx, "TEmGwPeRTPiLFLVfBxXkSP91yc5GMNQhfS", "TEmGwPeRTPiLFLVfBxXkSP91yc5GMNQhfS"),
        (Currency::UsdtBsc, "0xdAC17F958D2ee523a2206206994597C13D831ec7", "0xdAC17F958D2ee523a2206206994597C13D831ec7"),
        (Currency::UsdtBsc, "0xdac17f958d2ee523a2206206994597c13d831ec7", "0xdAC17F958D2ee523a2206206994597C13D831ec7"),
        (
            Currency::UsdtErc20,
            "0x55d398326f99059fF775485246999027B3197955",
            "0x55d398326f99059fF775485246999027B3197955",
        ),
        // The examples of EIP-55.
        (
            Currency::UsdtErc20,
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0x52908400098527886E0F7030069857D2E4169EE7",
        ),
        (
            Currency::UsdtErc20,
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        ),
        (Currency::UsdtBsc, "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"),
        (Currency::UsdtBsc, "0xde709f2102306220921060314715629080e2fb77", "0xde709f2102306220921060314715629080e2fb77"),
        (Currency::UsdtBsc, "0xD1220A0CF47C7B9BE7A2E6BA89F429762E7B9ADB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"),
    ];

    const BAD: [(Currency, &str, AddressError); 39] = [
        // A wrong checksum.
        (Currency::Btc, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", AddressError::WrongChecksum),
        (Currency::Btc, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", AddressError::WrongChecksum),
        (Currency::Trx, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", AddressError::WrongChecksum),
        (Currency::UsdtBsc, "0xdAC17F958D2ee523a2206206994597C13D831eC7", AddressError::WrongChecksum),
        (Currency::Ltc, "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8", AddressError::WrongChecksum),
        (Currency::Ltc, "LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnK", AddressError::WrongChecksum),
        // Witness version 1 with the checksum of bech32, and version 0 with the checksum of bech32m (BIP-350).
        (Currency::Btc, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", AddressError::WrongChecksum),
        (Currency::Btc, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", AddressError::WrongChecksum),
        // Mixed case, unknown witness versions, witness programs of a wrong length, and no program (BIP-350).
        (Currency::Btc, "Bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", AddressError::WrongForm),
        (Currency::Btc, "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", AddressError::WrongForm),
        (Currency::Btc, "BC1SW50QGDZ25J", AddressError::WrongForm),
        (
            Currency::Btc,
            "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
            AddressError::WrongForm,
        ),
        (Currency::Btc, "bc1pw5dgrnzv", AddressError::WrongForm),
        (Currency::Btc, "bc1gmk9yu", AddressError::WrongChecksum),
        // A test network.
        (Currency::Btc, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", AddressError::WrongForm),
        (Currency::Btc, "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", AddressError::WrongForm),
        (Currency::Btc, "n3GNqMveyvaPvUbH469vDRadqpJMPc84JA", AddressError::WrongForm),
        (Currency::Btc, "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", AddressError::WrongForm),
        // Another currency.
        (Currency::Btc, "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", AddressError::WrongForm),
        (Currency::Btc, "LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ", AddressError::WrongForm),
        (Currency::Btc, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", AddressError::WrongForm),
        (Currency::Btc, "0xdAC17F958D2ee523a2206206994597C13D831ec7", AddressError::WrongForm),
        (Currency::Ltc, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", AddressError::WrongForm),
        (Currency::Ltc, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", AddressError::WrongForm),
        (Currency::Ltc, "ltcmweb1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", AddressError::WrongForm),
        (Currency::Ltc, "3CNHUhP3uyB9EUtRLsmvFUmvGdjGdkTxJw", AddressError::Ambiguous),
        (Currency::Trx, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", AddressError::WrongForm),
        (Currency::Trx, "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", AddressError::WrongForm),
        (Currency::UsdtErc20, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", AddressError::WrongForm),
        // The wrong format for Ethereum.
        (Currency::UsdtErc20, "dAC17F958D2ee523a2206206994597C13D831ec7", AddressError::WrongForm),
        (Currency::UsdtErc20, "0X55d398326f99059fF775485246999027B3197955", AddressError::WrongForm),
        (Currency::UsdtErc20, "0x55d398326f99059fF775485246999027B31979", AddressError::WrongForm),
        (Currency::UsdtErc20, "0x55d398326f99059fF775485246999027B319795g", AddressError::WrongForm),
        // Addresses at which money is lost.
        (Currency::UsdtErc20, "0x0000000000000000000000000000000000000000", AddressError::Unrecoverable),
        (Currency::UsdtErc20, "0xdac17f958d2ee523a2206206994597c13d831ec7", AddressError::Unrecoverable),
        (Currency::UsdtBsc, "0x55d398326f99059fF775485246999027B3197955", AddressError::Unrecoverable),
        // Texts that are not addresses.
        (Currency::Btc, "", AddressError::WrongForm),
        (Currency::Btc, " 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", AddressError::WrongForm),
        (Currency::Trx, "TR7NHqjeKQxGTCi8q8 ZY4pL8otSzgjLj6t", AddressError::WrongForm),
    ];

    #[test]
    fn valid_address_gets_its_normal_form() {
        for (currency, text, normal) in GOOD {
            let parsed = Address::parse(currency, text);
            assert_eq!(parsed.as_ref().map(Address::as_str), Ok(normal), "{currency} {text}");
            assert_eq!(Address::parse(currency, normal), parsed, "the normal form of {text}");
        }
    }

    #[test]
    fn invalid_address_is_refused_with_its_reason() {
        for (currency, text, error) in BAD {
            assert_eq!(Address::parse(currency, text), Err(error), "{currency} {text}");
        }
    }

    #[test]
    fn each_mistyped_character_is_found() {
        for (currency, text, normal) in GOOD {
            // Addresses with `0x` are skipped: the checksum of EIP-55 has only about one bit per letter, so not every
            // mistake is found.
            if text != normal || text.starts_with("0x") {
                continue;
            }
            for (position, old) in text.char_indices() {
                let new = if old == '7' { '8' } else { '7' };
                let mut mistyped = text.to_owned();
                mistyped.replace_range(position..=position, &new.to_string());
                assert!(Address::parse(currency, &mistyped).is_err(), "{currency} {mistyped}");
            }
        }
    }
}
