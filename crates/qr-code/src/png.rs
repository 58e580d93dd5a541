//! The modules of a QR code as a PNG file (W3C Portable Network Graphics): one bit per pixel, black on white.

use crc32fast::Hasher;

use super::deflate;

/// The number of light modules on each side of the code (ISO/IEC 18004, section 6.3.8).
pub(super) const QUIET_MODULES: u32 = 4;
/// The width and height of a module in pixels. Four pixels are half a byte, so each byte shows two modules.
pub(super) const PIXELS_PER_MODULE: u32 = 4;
/// The number of blank rows of pixels above the code. The same number is below.
pub(super) const QUIET_PIXELS: u32 = QUIET_MODULES * PIXELS_PER_MODULE;
/// The filter byte of a row whose bytes are unfiltered pixels (section 9.2).
pub(super) const NO_FILTER: u8 = 0;
/// Two light modules.
pub(super) const LIGHT: u8 = 0xff;
/// The bytes of every row of pixels before the code: the filter, and four light modules.
const BEFORE: [u8; 3] = [NO_FILTER, LIGHT, LIGHT];
/// The bytes of every row of pixels after the code. A row of a code has an odd number of modules. So the second half of
/// its last byte is already light.
const AFTER: [u8; 2] = [LIGHT, LIGHT];
/// The lengths of [`BEFORE`] and [`AFTER`].
pub(super) const MARGINS: [u32; 2] = [3, 2];

/// The first bytes of every PNG file (section 5.2).
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// The format of the image (section 11.2.1): one bit per pixel, gray, compression 0, filters 0, not interlaced. The
/// standard has no other compression and no other set of filters.
const FORMAT: [u8; 5] = [1, 0, 0, 0, 0];
/// The header of a deflate stream with the lowest compression level and without a dictionary (RFC 1950, section 2.2).
const ZLIB_HEADER: [u8; 2] = [0x78, 0x01];
/// The number of bytes of the file in addition to the compressed pixels.
const FRAME_BYTES: usize = 63;

/// Returns the image; `None` for an empty code, and for a code too large for the format.
pub(super) fn encode(rows: &[u128]) -> Option<Vec<u8>> {
    let side = u32::try_from(rows.len()).ok().filter(|side| *side > 0)?;
    let pixels = (side + 2 * QUIET_MODULES) * PIXELS_PER_MODULE;
    let line_bytes = rows.len().div_ceil(2);
    let lines = lines(rows, line_bytes);

    let mut header = Vec::with_capacity(13);
    header.extend_from_slice(&pixels.to_be_bytes());
    header.extend_from_slice(&pixels.to_be_bytes());
    header.extend_from_slice(&FORMAT);
    let stream = deflate::compress(lines.chunks(line_bytes), side.div_ceil(2));
    let checksum = checksum(&lines, line_bytes).to_be_bytes();

    let mut file = Vec::with_capacity(FRAME_BYTES + stream.len());
    file.extend_from_slice(&SIGNATURE);
    chunk(&mut file, *b"IHDR", &[&header])?;
    chunk(&mut file, *b"IDAT", &[&ZLIB_HEADER, &stream, &checksum])?;
    chunk(&mut file, *b"IEND", &[])?;
    Some(file)
}

/// Returns the pixels of each row of modules without margins, one bit each. A light pixel is 1, and the left pixel is
/// the highest bit.
fn lines(rows: &[u128], line_bytes: usize) -> Vec<u8> {
    let mut lines = Vec::with_capacity(rows.len() * line_bytes);
    for row in rows {
        let mut dark = *row;
        for _ in 0..line_bytes {
            let left = u8::from(dark & 0b01 != 0) * 0xf0;
            let right = u8::from(dark & 0b10 != 0) * 0x0f;
            lines.push(LIGHT ^ left ^ right);
            dark >>= 2;
        }
    }
    lines
}

/// Writes a chunk: length, kind, content, and the CRC of kind and content (section 5.3).
fn chunk(file: &mut Vec<u8>, kind: [u8; 4], parts: &[&[u8]]) -> Option<()> {
    let length = u32::try_from(parts.iter().map(|part| part.len()).sum::<usize>()).ok()?;
    file.extend_from_slice(&length.to_be_bytes());
    let mut crc = Hasher::new();
    for part in [kind.as_slice()].iter().chain(parts) {
        crc.update(part);
        file.extend_from_slice(part);
    }
    file.extend_from_slice(&crc.finalize().to_be_bytes());
    Some(())
}

/// Returns the Adler-32 of all rows of pixels (RFC 1950, section 9).
fn checksum(lines: &[u8], line_bytes: usize) -> u32 {
    let blank = vec![LIGHT; line_bytes];
    let mut adler = Adler { sum: 1, sum_of_sums: 0 };
    adler.add(&blank, QUIET_PIXELS);
    for line in lines.chunks(line_bytes) {
        adler.add(line, PIXELS_PER_MODULE);
    }
    adler.add(&blank, QUIET_PIXELS);
    adler.value()
}

/// The two sums of an Adler-32. The remainders by 65,521 are computed only at the end, because even the largest image
/// causes no overflow.
struct Adler {
    sum: u64,
    sum_of_sums: u64,
}

impl Adler {
    /// Adds the same row of pixels `times` times. The bytes are summed only once.
    fn add(&mut self, line: &[u8], times: u32) {
        let (mut bytes, mut sum, mut sum_of_sums) = (0, 0, 0);
        for byte in BEFORE.iter().chain(line).chain(&AFTER) {
            bytes += 1;
            sum += u64::from(*byte);
            sum_of_sums += sum;
        }
        for _ in 0..times {
            self.sum_of_sums += bytes * self.sum + sum_of_sums;
            self.sum += sum;
        }
    }

    fn value(&self) -> u32 {
        let [sum, sum_of_sums] =
            [self.sum, self.sum_of_sums].map(|sum| u32::try_from(sum % 65_521).unwrap_or_default());
        (sum_of_sums << 16) | sum
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::super::tests::decode;
    use super::*;

    /// Generates arbitrary modules in a code of any version that has an image.
    fn codes() -> impl Strategy<Value = Vec<u128>> {
        (1..=27_usize).prop_flat_map(|version| {
            let side = 4 * version + 17;
            proptest::collection::vec(0..1_u128 << side, side)
        })
    }

    proptest! {
        #[test]
        fn decoded_image_has_every_module_with_a_margin(rows in codes()) {
            let (side, pixels) = decode(&encode(&rows).unwrap()).unwrap();
            let (module, margin) = (4, 4);
            prop_assert_eq!(side, (rows.len() + 2 * margin) * module);
            let wrong = pixels.into_iter().enumerate().position(|(index, pixel)| {
                let (x, y) = (index % side / module, index / side / module);
                let row = y.checked_sub(margin).and_then(|y| rows.get(y)).copied().unwrap_or_default();
                let column = x.checked_sub(margin).and_then(|x| u32::try_from(x).ok());
                let is_dark = column.is_some_and(|x| row.unbounded_shr(x) & 1 == 1);
                pixel != if is_dark { 0 } else { 255 }
            });
            prop_assert_eq!(wrong, None);
        }
    }

    #[test]
    fn damaged_images_fail_to_decode() {
        let file = encode(&[0b1_0101; 21]).unwrap();
        assert!(decode(&file).is_ok());
        // The file ends with the Adler-32 of the pixels, the CRC of their chunk, and a last chunk of twelve bytes.
        let crc = file.len() - 16;
        for place in [crc, file.len() - 1] {
            let mut broken = file.clone();
            *broken.get_mut(place).unwrap() ^= 1;
            assert!(decode(&broken).is_err(), "byte {place}");
        }
        let mut broken = file;
        *broken.get_mut(crc - 1).unwrap() ^= 1;
        let kind_of_pixels = SIGNATURE.len() + 25 + 4;
        let right = crc32fast::hash(broken.get(kind_of_pixels..crc).unwrap());
        broken.get_mut(crc..crc + 4).unwrap().copy_from_slice(&right.to_be_bytes());
        assert!(decode(&broken).is_err(), "the Adler-32");
    }

    #[test]
    fn empty_code_has_no_image() {
        assert!(encode(&[]).is_none());
    }

    #[test]
    fn checksum_equals_reference_adler32() {
        let mut adler = Adler { sum: 1, sum_of_sums: 0 };
        adler.add(&[], 1);
        // After 0 and four times 255 the sum was 1, 256, 511, 766, 1021: together 2555.
        assert_eq!(adler.value(), 0x09fb_03fd);
        adler.add(&[], 2);
        let mut one_by_one = Adler { sum: 1, sum_of_sums: 0 };
        (0..3).for_each(|_| one_by_one.add(&[], 1));
        assert_eq!(adler.value(), one_by_one.value());
    }
}
