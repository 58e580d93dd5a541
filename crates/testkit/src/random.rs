//! Random numbers that are the same on every machine.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test that chooses from an empty list is wrong")]

/// A generator of pseudo-random numbers by the algorithm `SplitMix64`.
#[derive(Debug)]
pub struct Random(
    /// The seed.
    pub u64,
);

impl Random {
    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Returns one of `choices`.
    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        let place = self.below(u64::try_from(choices.len()).unwrap());
        choices.get(usize::try_from(place).unwrap()).unwrap().clone()
    }
}
