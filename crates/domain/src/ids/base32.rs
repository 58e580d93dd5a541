//! Converts a UUID to 26 base32 characters and back.

use uuid::Uuid;

/// Crockford's base32 alphabet in lower case, without `i`, `l`, `o` and `u`.
const ALPHABET: [u8; 32] = *b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of base32 characters of a UUID. The characters hold 130 bits, of which the first two are zero.
pub(super) const SUFFIX_LENGTH: usize = 26;
/// The entry of [`VALUES`] for a byte that is not a base32 digit.
const INVALID: u8 = 0xff;
/// The value of each byte as a base32 digit.
const VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut value: u8 = 0;
    let mut index = 0;
    #[expect(
        clippy::as_conversions,
        clippy::indexing_slicing,
        reason = "the table is evaluated at compile time, so a mistake does not compile"
    )]
    while index < ALPHABET.len() {
        values[ALPHABET[index] as usize] = value;
        value += 1;
        index += 1;
    }
    values
};

/// Returns the 26 ASCII characters of a UUID.
pub(super) fn encode(uuid: Uuid) -> [u8; SUFFIX_LENGTH] {
    let mut text = [b'0'; SUFFIX_LENGTH];
    let mut rest = uuid.as_u128();
    for slot in text.iter_mut().rev() {
        let [low, ..] = rest.to_le_bytes();
        // The mask keeps the index inside the table, so the compiler removes the bounds check.
        *slot = ALPHABET.get(usize::from(low & 31)).copied().unwrap_or(b'0');
        rest >>= 5;
    }
    text
}

/// Returns the UUID that `text` encodes. Returns `None` unless `text` has exactly 26 base32 digits whose value fits
/// into 128 bits.
pub(super) fn decode(text: &[u8]) -> Option<Uuid> {
    // A first character above 7 would need a 129th bit.
    if text.len() != SUFFIX_LENGTH || text.first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let mut bits: u128 = 0;
    for byte in text {
        let value = VALUES.get(usize::from(*byte)).copied().filter(|value| *value != INVALID)?;
        bits = (bits << 5) | u128::from(value);
    }
    Some(Uuid::from_u128(bits))
}
