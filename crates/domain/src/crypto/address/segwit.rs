//! Bech32 and bech32m (BIP-173, BIP-350): native segwit addresses of Bitcoin and Litecoin.

use bech32::primitives::decode::{SegwitHrpstring, SegwitHrpstringError};

use super::AddressError;

/// The length of a taproot program in bytes. Addresses of version 1 with another length are refused.
const TAPROOT_PROGRAM: usize = 32;

/// Parses an address that starts with `prefix` and `1`, in upper or lower case. Returns `None` if the text starts
/// differently.
pub(super) fn parse(prefix: &str, text: &str) -> Option<Result<String, AddressError>> {
    let (beginning, rest) = text.split_at_checked(prefix.len())?;
    (beginning.eq_ignore_ascii_case(prefix) && rest.starts_with('1')).then(|| check(text))
}

/// Checks the address. Version 0 has the checksum of bech32, and version 1 that of bech32m. Later versions are refused,
/// because they are not defined yet.
fn check(text: &str) -> Result<String, AddressError> {
    let segwit = SegwitHrpstring::new(text).map_err(|error| {
        let checksum = matches!(error, SegwitHrpstringError::Checksum(_));
        if checksum { AddressError::WrongChecksum } else { AddressError::WrongForm }
    })?;
    let supported = match segwit.witness_version().to_u8() {
        0 => true,
        1 => segwit.byte_iter().count() == TAPROOT_PROGRAM,
        _ => false,
    };
    if supported { Ok(text.to_ascii_lowercase()) } else { Err(AddressError::WrongForm) }
}
