//! Creates deposit addresses and checks withdrawal addresses. Deposit addresses are well-formed, but have no known private keys.

use cais_domain::crypto::Address;
use cais_domain::hex;
use ring::{
    digest::{SHA256, digest},
    hmac,
};

use super::coins::{AddressForm, Coin};

/// The number of bytes of an address without version and checksum.
const HASH_LENGTH: usize = 20;

/// The number of bytes of the checksum in a base58 address.
const CHECKSUM_LENGTH: usize = 4;

/// Returns the deposit address of a payment, which is derived from `seed`, the coin and the payment's id.
#[must_use]
pub fn deposit_address(seed: &hmac::Key, coin: &Coin, payment_id: u64) -> String {
    let tag = hmac::sign(seed, format!("{}:{payment_id}", coin.code).as_bytes());
    let hash: Vec<u8> = tag.as_ref().iter().take(HASH_LENGTH).copied().collect();
    match coin.address {
        AddressForm::Base58(version) => base58check(version, &hash),
        // An EVM address in lower case has no checksum (EIP-55).
        AddressForm::Evm => format!("0x{}", hex::encode(hash)),
    }
}

/// Returns a version byte, a payload and their checksum as base58.
fn base58check(version: u8, payload: &[u8]) -> String {
    let mut bytes = vec![version];
    bytes.extend_from_slice(payload);
    let twice = digest(&SHA256, digest(&SHA256, &bytes).as_ref());
    bytes.extend(twice.as_ref().iter().take(CHECKSUM_LENGTH));
    bs58::encode(bytes).into_string()
}

/// Returns whether `text` is an address of the coin, and has a valid checksum if the coin's addresses have one.
#[must_use]
pub fn is_valid(coin: &Coin, text: &str) -> bool {
    Address::parse(coin.domain, text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base58check_equals_published_addresses() {
        // The zero hash has well-known addresses: Bitcoin's burn address and Tron's black hole.
        assert_eq!(base58check(0x00, &[0; 20]), "1111111111111111111114oLvT2");
        assert_eq!(base58check(0x41, &[0; 20]), "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb");
    }
}
