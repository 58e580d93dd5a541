//! The checksum of a BR Code.

/// The generator polynomial.
const POLYNOMIAL: u16 = 0x1021;
/// The value before the first byte.
const INITIAL: u16 = 0xffff;

/// Returns the CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, not reflected, no final inversion.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(INITIAL, |crc, byte| (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| shift(crc)))
}

fn shift(crc: u16) -> u16 {
    if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL }
}
