//! Which of the eight masks of a QR code disturbs scanners least (ISO/IEC 18004, section 7.8.3), judged on whole rows at once.

use qrcode::canvas::{Canvas, MaskPattern, Module};

/// A mask's pattern, and whether it inverts the module in column `x` of row `y`.
type Candidate = (MaskPattern, fn(i32, i32) -> bool);

/// The masks in the order of the standard.
const CANDIDATES: [Candidate; 8] = [
    (MaskPattern::Checkerboard, |x, y| (x + y) % 2 == 0),
    (MaskPattern::HorizontalLines, |_, y| y % 2 == 0),
    (MaskPattern::VerticalLines, |x, _| x % 3 == 0),
    (MaskPattern::DiagonalLines, |x, y| (x + y) % 3 == 0),
    (MaskPattern::LargeCheckerboard, |x, y| (y / 2 + x / 3) % 2 == 0),
    (MaskPattern::Fields, |x, y| (x * y) % 2 + (x * y) % 3 == 0),
    (MaskPattern::Diamonds, |x, y| ((x * y) % 2 + (x * y) % 3) % 2 == 0),
    (MaskPattern::Meadow, |x, y| ((x + y) % 2 + (x * y) % 3) % 2 == 0),
];
/// After so many columns, and after so many rows, every mask repeats itself.
const PERIOD: u8 = 12;
/// A finder pattern with its light side, as scanners look for it, and its mirror image.
const FINDER_LIKE: [u32; 2] = [0b000_0101_1101, 0b101_1101_0000];
/// Modules of a finder pattern with its light side.
const FINDER_LENGTH: u32 = 11;

/// A code before its mask: rows, and the same as columns.
struct Bare {
    /// Which modules are dark.
    dark: [Vec<u128>; 2],
    /// Which modules a mask may invert.
    data: [Vec<u128>; 2],
    side: u32,
}

/// The mask with the lowest penalty, and the rows under it, of which the modules that tell the mask are still to be drawn.
///
/// The library's own choice looks at each module some forty times and takes several times as long as all the rest. The few
/// modules that tell scanners which mask it was are left out of the judgement; they do not change what can be scanned.
pub(super) fn choose(canvas: &Canvas, side: i16) -> (MaskPattern, Vec<u128>) {
    let bare = Bare::of(canvas, side);
    let judged = CANDIDATES.into_iter().map(|(pattern, invert)| {
        let rows = bare.rows(invert);
        (bare.penalty(&rows, invert), pattern, rows)
    });
    let best = judged.min_by_key(|(penalty, ..)| *penalty);
    best.map_or((MaskPattern::Checkerboard, Vec::new()), |(_, pattern, rows)| (pattern, rows))
}

impl Bare {
    fn of(canvas: &Canvas, side: i16) -> Self {
        let (mut dark, mut data) = (Vec::new(), Vec::new());
        for y in 0..side {
            let (mut dark_row, mut data_row) = (0_u128, 0_u128);
            for x in (0..side).rev() {
                let module = canvas.get(x, y);
                dark_row = (dark_row << 1) | u128::from(module.is_dark());
                data_row = (data_row << 1) | u128::from(matches!(module, Module::Unmasked(_)));
            }
            dark.push(dark_row);
            data.push(data_row);
        }
        let side = u32::from(side.unsigned_abs());
        let (dark_columns, data_columns) = (transposed(&dark, side), transposed(&data, side));
        Self { dark: [dark, dark_columns], data: [data, data_columns], side }
    }

    /// The rows under a mask.
    fn rows(&self, invert: fn(i32, i32) -> bool) -> Vec<u128> {
        let ([dark, _], [data, _]) = (&self.dark, &self.data);
        masked(dark, data, self.side, invert)
    }

    /// The sum of the four penalties of the standard for the rows under a mask.
    fn penalty(&self, rows: &[u128], invert: fn(i32, i32) -> bool) -> u32 {
        let ([_, dark_columns], [_, data_columns]) = (&self.dark, &self.data);
        let columns = masked(dark_columns, data_columns, self.side, |y, x| invert(x, y));
        let lines = rows.iter().chain(&columns);
        let lengthwise: u32 = lines.map(|line| runs(*line, self.side) + finder_likes(*line, self.side)).sum();
        lengthwise + blocks(rows, self.side) + imbalance(rows, self.side)
    }
}

/// The lines under a mask; `invert` takes the place in the line first.
fn masked(dark: &[u128], data: &[u128], side: u32, invert: impl Fn(i32, i32) -> bool) -> Vec<u128> {
    let stripes: Vec<u128> = (0..PERIOD).map(|line| stripes(side, |place| invert(place, i32::from(line)))).collect();
    let lines = dark.iter().zip(data).zip(stripes.iter().cycle());
    lines.map(|((dark, data), stripes)| dark ^ (data & stripes)).collect()
}

/// A line of the mask.
fn stripes(side: u32, invert: impl Fn(i32) -> bool) -> u128 {
    let unit = (0..PERIOD).rev().fold(0_u128, |bits, place| (bits << 1) | u128::from(invert(i32::from(place))));
    let repeated = (0..u128::BITS).step_by(usize::from(PERIOD)).fold(0_u128, |bits, shift| bits | (unit << shift));
    repeated & low_bits(side)
}

/// `count` ones; fewer than 128.
fn low_bits(count: u32) -> u128 {
    (1_u128 << count).wrapping_sub(1)
}

fn transposed(rows: &[u128], side: u32) -> Vec<u128> {
    let mut columns = vec![0_u128; rows.len()];
    for (y, row) in (0..side).zip(rows) {
        let mut rest = *row;
        for column in &mut columns {
            *column |= (rest & 1) << y;
            rest >>= 1;
        }
    }
    columns
}

/// Bit `x` says that modules `x` and `x + 1` look the same.
fn same_as_next(line: u128, side: u32) -> u128 {
    !(line ^ (line >> 1)) & low_bits(side - 1)
}

/// Five modules alike in a line cost 3, each further one 1.
fn runs(line: u128, side: u32) -> u32 {
    let pairs = same_as_next(line, side);
    let fives = pairs & (pairs >> 1) & (pairs >> 2) & (pairs >> 3);
    let first_of_run = fives & !(fives << 1);
    fives.count_ones() + 2 * first_of_run.count_ones()
}

/// What looks like a finder pattern costs 40.
fn finder_likes(line: u128, side: u32) -> u32 {
    let found = FINDER_LIKE.map(|pattern| {
        let positions = low_bits(side + 1 - FINDER_LENGTH);
        let matches = (0..FINDER_LENGTH).fold(positions, |matches, bit| {
            let module = line >> bit;
            matches & if pattern >> bit & 1 == 1 { module } else { !module }
        });
        matches.count_ones()
    });
    40 * found.into_iter().sum::<u32>()
}

/// Every square of 2 × 2 modules alike costs 3.
fn blocks(rows: &[u128], side: u32) -> u32 {
    let squares = rows.iter().zip(rows.iter().skip(1)).map(|(upper, lower)| {
        (same_as_next(*upper, side) & same_as_next(*lower, side) & !(upper ^ lower)).count_ones()
    });
    3 * squares.sum::<u32>()
}

/// Every whole 5 % of distance from as many dark as light modules costs 10.
fn imbalance(rows: &[u128], side: u32) -> u32 {
    let dark: u32 = rows.iter().map(|row| row.count_ones()).sum();
    let percent = dark * 100 / (side * side).max(1);
    percent.abs_diff(50) / 5 * 10
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use qrcode::{EcLevel, Version, bits, ec};

    use super::super::qr::row;
    use super::*;

    fn canvas() -> (Canvas, i16) {
        let bits = bits::encode_auto(b"00020126580014br.gov.bcb.pix0136 a code", EcLevel::M).unwrap();
        let version: Version = bits.version();
        let (data, correction) = ec::construct_codewords(&bits.into_bytes(), version, EcLevel::M).unwrap();
        let mut canvas = Canvas::new(version, EcLevel::M);
        canvas.draw_all_functional_patterns();
        canvas.draw_data(&data, &correction);
        (canvas, version.width())
    }

    #[test]
    fn our_masks_are_the_librarys() {
        let (canvas, side) = canvas();
        for (pattern, invert) in CANDIDATES {
            let mut masked = canvas.clone();
            masked.apply_mask(pattern);
            for y in 0..side {
                let stripes = stripes(u32::from(side.unsigned_abs()), |x| invert(x, i32::from(y)));
                let whole = row(side, |x| invert(i32::from(x), i32::from(y)));
                assert_eq!(stripes, whole, "{pattern:?} row {y} repeats itself");
                let data = row(side, |x| matches!(canvas.get(x, y), Module::Unmasked(_)));
                let ours = (row(side, |x| canvas.get(x, y).is_dark()) ^ stripes) & data;
                assert_eq!(ours, row(side, |x| masked.get(x, y).is_dark()) & data, "{pattern:?} row {y}");
            }
        }
    }

    #[test]
    fn columns_are_masked_as_rows_are() {
        let (canvas, side) = canvas();
        let bare = Bare::of(&canvas, side);
        for (pattern, invert) in CANDIDATES {
            let [dark_rows, dark_columns] = &bare.dark;
            let [data_rows, data_columns] = &bare.data;
            let rows = masked(dark_rows, data_rows, bare.side, invert);
            let columns = masked(dark_columns, data_columns, bare.side, |y, x| invert(x, y));
            assert_eq!(transposed(&rows, bare.side), columns, "{pattern:?}");
        }
    }

    #[test]
    fn penalties_are_those_of_the_standard() {
        assert_eq!(runs(0b0_1111, 6), 0);
        assert_eq!(runs(0b01_1111, 7), 3, "five alike");
        assert_eq!(runs(0b011_1111, 8), 4, "six alike");
        assert_eq!(runs(0, 10), 8, "ten alike");
        assert_eq!(runs(0b11_1110_0000, 10), 6, "two runs of five");
        assert_eq!(finder_likes(0b000_0101_1101, 11), 40);
        assert_eq!(finder_likes(0b101_1101_0000, 11), 40);
        assert_eq!(finder_likes(0b101_1101_0001, 11), 0);
        assert_eq!(blocks(&[0b11, 0b11], 2), 3);
        assert_eq!(blocks(&[0b011, 0b011, 0b100], 3), 3);
        assert_eq!(imbalance(&[0b11, 0b00], 2), 0);
        assert_eq!(imbalance(&[0b11, 0b11], 2), 100);
        assert_eq!(transposed(&[0b01, 0b11], 2), [0b11, 0b10]);
    }
}
