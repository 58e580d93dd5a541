//! Addresses of Ethereum and BNB Smart Chain: 20 bytes in hexadecimal digits. The letter case is a checksum (EIP-55).

use sha3::{Digest as _, Keccak256};

use super::AddressError;

/// The number of hexadecimal digits after `0x`.
const DIGITS: usize = 40;
/// The zero address, without `0x`. Coins that are sent to it are lost.
const ZERO: &str = "0000000000000000000000000000000000000000";
/// The contract of USDT on Ethereum, without `0x`. Coins that are sent to it are lost.
pub(super) const USDT_ON_ETHEREUM: &str = "dac17f958d2ee523a2206206994597c13d831ec7";
/// The contract of USDT on BNB Smart Chain, without `0x`. Coins that are sent to it are lost.
pub(super) const USDT_ON_BSC: &str = "55d398326f99059ff775485246999027b3197955";

/// Checks the address and returns it with the letter case of EIP-55. An address with only upper-case or only lower-case
/// letters has no checksum, and is accepted. The zero address and the token's `contract` are refused.
pub(super) fn parse(text: &str, contract: &str) -> Result<String, AddressError> {
    let digits = text.strip_prefix("0x").ok_or(AddressError::WrongForm)?;
    if digits.len() != DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(AddressError::WrongForm);
    }
    let lower = digits.to_ascii_lowercase();
    if lower == ZERO || lower == contract {
        return Err(AddressError::Unrecoverable);
    }
    let checked = with_checksum(&lower);
    let has_checksum = digits != lower && digits != digits.to_ascii_uppercase();
    if has_checksum && digits != checked {
        return Err(AddressError::WrongChecksum);
    }
    Ok(format!("0x{checked}"))
}

/// Returns the digits with the letter case of EIP-55. `lower` is hashed with Keccak-256. A letter is upper case if the
/// hash has the hexadecimal digit 8 or more at the letter's position.
fn with_checksum(lower: &str) -> String {
    let hash = Keccak256::digest(lower.as_bytes());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    let cased = lower.chars().zip(nibbles);
    cased.map(|(digit, nibble)| if nibble >= 8 { digit.to_ascii_uppercase() } else { digit }).collect()
}
