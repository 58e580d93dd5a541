//! Base58 with a checksum. The decoded text has a version byte and a hash of 20 bytes, followed by the first four bytes
//! of their double SHA-256.

use sha2::{Digest as _, Sha256};

use super::AddressError;

/// The number of bytes of the version and the hash.
const PAYLOAD: usize = 21;
/// The number of bytes of the checksum.
const CHECKSUM: usize = 4;

/// Checks the address. Its version must be one of `versions`.
pub(super) fn parse(text: &str, versions: &[u8]) -> Result<String, AddressError> {
    if versions.contains(&version(text)?) { Ok(text.to_owned()) } else { Err(AddressError::WrongForm) }
}

/// Returns the version of an address with a correct checksum.
pub(super) fn version(text: &str) -> Result<u8, AddressError> {
    let bytes = bs58::decode(text).into_vec().map_err(|_| AddressError::WrongForm)?;
    let (payload, checksum) = bytes.split_at_checked(PAYLOAD).ok_or(AddressError::WrongForm)?;
    let version = payload.first().copied().ok_or(AddressError::WrongForm)?;
    if checksum.len() != CHECKSUM {
        return Err(AddressError::WrongForm);
    }
    if Sha256::digest(Sha256::digest(payload)).starts_with(checksum) {
        Ok(version)
    } else {
        Err(AddressError::WrongChecksum)
    }
}
