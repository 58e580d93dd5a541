//! Chance that is the same everywhere.

/// `SplitMix64`: small, and the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub(super) fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        let place = self.below(u64::try_from(choices.len()).unwrap());
        choices.get(usize::try_from(place).unwrap()).unwrap().clone()
    }
}
