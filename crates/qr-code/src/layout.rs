//! The common parts of all QR codes of a version: the patterns for scanners, each mask, and the position of every data
//! bit.

use std::sync::OnceLock;

use qrcode::canvas::{Canvas, MaskPattern, Module};
use qrcode::{EcLevel, Version};

/// The error correction level of every code. A code with damage of up to 15 % is readable.
pub(super) const LEVEL: EcLevel = EcLevel::M;
/// The number of versions whose rows fit in 128 bits. The longest Pix code needs a far smaller version.
const VERSIONS: usize = 27;
/// The masks in the order of the standard. Of masks with equal penalty, the first is chosen.
const MASKS: [MaskPattern; 8] = [
    MaskPattern::Checkerboard,
    MaskPattern::HorizontalLines,
    MaskPattern::VerticalLines,
    MaskPattern::DiagonalLines,
    MaskPattern::LargeCheckerboard,
    MaskPattern::Fields,
    MaskPattern::Diamonds,
    MaskPattern::Meadow,
];
/// The column, counted from the left, that contains no data. The pairs of columns in [`bit_numbers`] skip it.
const TIMING_COLUMN: usize = 6;

/// The common parts of all codes of one version. Each version is drawn once per process.
pub(super) struct Layout {
    side: usize,
    /// For each mask, the rows of a code whose data is all zeros. Bit `x` is set if the module in column `x` is dark.
    pub(super) masked: [Vec<u128>; 8],
    /// For each module, row by row, the index of its bit in the codewords; `None` for modules of patterns.
    bits: Vec<Option<u16>>,
}

impl Layout {
    /// Returns the layout of a version. Returns `None` for a version whose rows do not fit in 128 bits, and for a micro
    /// code.
    pub(super) fn of(version: Version) -> Option<&'static Self> {
        static LAYOUTS: [OnceLock<Layout>; VERSIONS] = [const { OnceLock::new() }; VERSIONS];
        let Version::Normal(number) = version else { return None };
        let layout = LAYOUTS.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        Some(layout.get_or_init(|| Self::draw(version)))
    }

    fn draw(version: Version) -> Self {
        let mut canvas = Canvas::new(version, LEVEL);
        canvas.draw_all_functional_patterns();
        let side = usize::from(version.width().unsigned_abs());
        let masked = MASKS.map(|mask| {
            let mut canvas = canvas.clone();
            // Draws the mask, and the information about mask and level (section 7.9).
            canvas.apply_mask(mask);
            rows(&canvas, version.width())
        });
        Self { side, masked, bits: bit_numbers(&canvas, side) }
    }

    /// Returns the rows with the bits of the codewords, before any mask.
    pub(super) fn place(&self, codewords: &[u8]) -> Vec<u128> {
        let is_set = |bit: &Option<u16>| {
            let byte = bit.and_then(|bit| codewords.get(usize::from(bit / 8)));
            u128::from(byte.zip(*bit).map_or(0, |(byte, bit)| byte >> (7 - bit % 8) & 1))
        };
        let rows = self.bits.chunks(self.side);
        rows.map(|row| row.iter().rev().fold(0, |dark, bit| (dark << 1) | is_set(bit))).collect()
    }
}

fn rows(canvas: &Canvas, side: i16) -> Vec<u128> {
    let row = |y| (0..side).rev().fold(0, |dark, x| (dark << 1) | u128::from(canvas.get(x, y).is_dark()));
    (0..side).map(row).collect()
}

/// Numbers the modules of the data in pairs of columns, from right to left (section 7.7.3). The first pair is numbered
/// upwards, the second downwards, and so on.
fn bit_numbers(canvas: &Canvas, side: usize) -> Vec<Option<u16>> {
    let mut bits = vec![None; side * side];
    let mut next = 0;
    for pair in 0..side / 2 {
        let right = side - 1 - 2 * pair;
        let right = if right > TIMING_COLUMN { right } else { right - 1 };
        for step in 0..side {
            let y = if pair % 2 == 0 { side - 1 - step } else { step };
            for x in [right, right - 1] {
                if is_data(canvas, x, y)
                    && let Some(bit) = bits.get_mut(y * side + x)
                {
                    *bit = Some(next);
                    next += 1;
                }
            }
        }
    }
    bits
}

/// Returns `true` for a module of data. On a canvas without data, these are the empty modules.
fn is_data(canvas: &Canvas, x: usize, y: usize) -> bool {
    let place = i16::try_from(x).ok().zip(i16::try_from(y).ok());
    place.is_some_and(|(x, y)| matches!(canvas.get(x, y), Module::Empty))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn modules_are_placed_as_by_the_library() {
        for number in 1..=27 {
            let version = Version::Normal(number);
            let layout = Layout::of(version).unwrap();
            let bits = layout.bits.iter().flatten().count();
            // The bytes are multiples of an odd number, so that every byte differs from its neighbors.
            let codewords: Vec<u8> = (0..bits / 8).map(|place| u8::try_from(place * 89 % 256).unwrap()).collect();
            let data = layout.place(&codewords);
            for (mask, frame) in MASKS.into_iter().zip(&layout.masked) {
                let mut canvas = Canvas::new(version, LEVEL);
                canvas.draw_all_functional_patterns();
                canvas.draw_data(&codewords, &[]);
                canvas.apply_mask(mask);
                let ours: Vec<u128> = frame.iter().zip(&data).map(|(frame, data)| frame ^ data).collect();
                assert_eq!(ours, rows(&canvas, version.width()), "version {number} {mask:?}");
            }
        }
    }

    #[test]
    fn only_versions_that_fit_have_a_layout() {
        assert!(Layout::of(Version::Normal(28)).is_none());
        assert!(Layout::of(Version::Normal(0)).is_none());
        assert!(Layout::of(Version::Micro(1)).is_none());
    }
}
