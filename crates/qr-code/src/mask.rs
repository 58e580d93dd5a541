//! Chooses the mask of a QR code with the lowest penalty (ISO/IEC 18004, section 7.8.3). Penalties are computed on
//! whole rows of bits.

/// The number of modules of a line through a finder pattern: dark, light, three dark, light, dark.
const FINDER: usize = 7;
/// The number of light modules of a margin before or after that line. A line without a margin costs nothing.
const FINDER_MARGIN: usize = 4;

/// Returns the rows of the code under the mask with the lowest penalty.
///
/// `masked` has, for each mask, the rows of a code whose data is all zeros. Each set bit of `data` inverts a module.
pub(super) fn choose(masked: &[Vec<u128>], data: &[u128]) -> Vec<u128> {
    let candidates = masked.iter().map(|frame| frame.iter().zip(data).map(|(frame, data)| frame ^ data).collect());
    candidates.min_by_key(|rows: &Vec<u128>| penalty(rows)).unwrap_or_default()
}

/// Returns the sum of the standard's four penalties.
fn penalty(rows: &[u128]) -> u32 {
    let across = rows.iter().map(|row| runs_across(*row, rows.len()) + finders_across(*row, rows.len()));
    across.sum::<u32>() + runs_down(rows) + finders_down(rows) + blocks(rows) + imbalance(rows)
}

/// Returns a number with the lowest `count` bits set. `count` is at most 127.
fn low_bits(count: usize) -> u128 {
    (1_u128 << count).wrapping_sub(1)
}

/// Returns the cost of runs: five equal modules cost 3, and each further equal module costs 1.
///
/// `fives` has a bit for each sequence of five equal modules; a run of seven has three bits. `first_of_run` has only
/// the first bit of each run.
fn run_cost(fives: u128, first_of_run: u128) -> u32 {
    if fives == 0 { 0 } else { fives.count_ones() + 2 * first_of_run.count_ones() }
}

fn runs_across(row: u128, side: usize) -> u32 {
    let same_as_next = !(row ^ (row >> 1)) & low_bits(side - 1);
    let threes = same_as_next & (same_as_next >> 1);
    let fives = threes & (threes >> 2);
    run_cost(fives, fives & !(fives << 1))
}

fn runs_down(rows: &[u128]) -> u32 {
    let inside = low_bits(rows.len());
    let mut above = 0;
    let costs = rows.array_windows().map(|[a, b, c, d, e]| {
        let all_dark = a & b & c & d & e;
        let all_light = inside & !(a | b | c | d | e);
        let fives = all_dark | all_light;
        let cost = run_cost(fives, fives & !above);
        above = fives;
        cost
    });
    costs.sum()
}

/// Returns the cost of patterns like a finder pattern: 40 for each side with a margin.
fn finders_across(row: u128, side: usize) -> u32 {
    let found = row & !(row >> 1) & (row >> 2) & (row >> 3) & (row >> 4) & !(row >> 5) & (row >> 6);
    if found == 0 {
        return 0;
    }
    let light = !row & low_bits(side);
    let two_light = light & (light >> 1);
    let margins = two_light & (two_light >> 2);
    let (before, after) = (found & (margins << FINDER_MARGIN), found & (margins >> FINDER));
    40 * (before.count_ones() + after.count_ones())
}

fn finders_down(rows: &[u128]) -> u32 {
    let costs = rows.array_windows::<FINDER>().enumerate().map(|(top, [a, b, c, d, e, f, g])| {
        let found = a & !b & c & d & e & !f & g;
        if found == 0 {
            return 0;
        }
        let before = top.checked_sub(FINDER_MARGIN).and_then(|from| rows.get(from..top));
        let after = rows.get(top + FINDER..top + FINDER + FINDER_MARGIN);
        let with_margin = |margin: &[u128]| (found & !margin.iter().fold(0, |dark, row| dark | row)).count_ones();
        40 * (before.map_or(0, with_margin) + after.map_or(0, with_margin))
    });
    costs.sum()
}

/// Returns the cost of blocks: every square of 2 × 2 equal modules costs 3.
fn blocks(rows: &[u128]) -> u32 {
    let pairs = low_bits(rows.len() - 1);
    let squares = rows.array_windows().map(|[upper, lower]| {
        let differ = (upper ^ (upper >> 1)) | (lower ^ (lower >> 1)) | (upper ^ lower);
        (pairs & !differ).count_ones()
    });
    3 * squares.sum::<u32>()
}

/// Returns the cost of imbalance: every full 5 % of deviation from equal dark and light modules costs 10.
fn imbalance(rows: &[u128]) -> u32 {
    let dark: u32 = rows.iter().map(|row| row.count_ones()).sum();
    let all = u32::try_from(rows.len() * rows.len()).unwrap_or(u32::MAX).max(1);
    let percent = dark * 100 / all;
    percent.abs_diff(50) / 5 * 10
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the columns as rows.
    fn turned(rows: &[u128]) -> Vec<u128> {
        (0..rows.len()).map(|x| rows.iter().rev().fold(0, |column, row| (column << 1) | (row >> x & 1))).collect()
    }

    proptest! {
        #[test]
        fn columns_are_judged_like_rows(rows in proptest::collection::vec(0..1_u128 << 21, 21)) {
            // Each row three times: so columns have long runs, and each finder pattern of a row occurs three times.
            let stretched: Vec<u128> = rows.iter().flat_map(|row| [*row; 3]).take(21).collect();
            for rows in [rows, stretched] {
                let columns = turned(&rows);
                prop_assert_eq!(runs_down(&rows), columns.iter().map(|row| runs_across(*row, 21)).sum::<u32>());
                prop_assert_eq!(finders_down(&rows), columns.iter().map(|row| finders_across(*row, 21)).sum::<u32>());
                prop_assert_eq!(blocks(&rows), blocks(&columns));
            }
        }
    }

    #[test]
    fn penalties_match_the_standard() {
        assert_eq!(runs_across(0b0_1111, 6), 0);
        assert_eq!(runs_across(0b01_1111, 7), 3, "five alike");
        assert_eq!(runs_across(0b011_1111, 8), 4, "six alike");
        assert_eq!(runs_across(0, 10), 8, "ten alike");
        assert_eq!(runs_across(0b11_1110_0000, 10), 6, "two runs of five");
        assert_eq!(finders_across(0b000_0101_1101, 11), 40);
        assert_eq!(finders_across(0b101_1101_0000, 11), 40);
        assert_eq!(finders_across(0b101_1101_0001, 11), 0);
        assert_eq!(finders_across(0b000_0101_1101, 10), 0, "the margin lies outside");
        assert_eq!(finders_across(0b000_0101_1101_0000, 15), 80, "a margin on either side");
        assert_eq!(finders_down(&[1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0]), 40);
        assert_eq!(finders_down(&[0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1]), 40);
        assert_eq!(finders_down(&[1, 0, 1, 1, 1, 0, 1, 0, 0, 0]), 0);
        assert_eq!(blocks(&[0b11, 0b11]), 3);
        assert_eq!(blocks(&[0b011, 0b011, 0b100]), 3);
        assert_eq!(imbalance(&[0b11, 0b00]), 0);
        assert_eq!(imbalance(&[0b11, 0b11]), 100);
    }

    #[test]
    fn equal_masks_are_resolved_to_the_first() {
        let [plain, checkered] = [vec![0_u128; 21], [0x0a_aaaa, 0x15_5555].into_iter().cycle().take(21).collect()];
        let masked = [plain.clone(), checkered.clone(), plain];
        assert_eq!(choose(&masked, &[0; 21]), checkered);
        let inverted: Vec<u128> = checkered.iter().map(|row| row ^ 0x1f_ffff).collect();
        assert_eq!(penalty(&checkered), penalty(&inverted));
        assert_eq!(choose(&[inverted.clone(), checkered], &[0; 21]), inverted);
    }
}
