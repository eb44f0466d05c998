//! Reproducible choices.

/// A generator of Steele, Lea and Flood's SplitMix64 (OOPSLA 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `from` to `to`, both included.
    pub fn range(&mut self, from: usize, to: usize) -> usize {
        from + usize::try_from(self.next() % (to - from + 1) as u64).unwrap()
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.range(1, n) == 1
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.range(0, of.len() - 1)]
    }
}

/// The plain function's name of a declaration.
pub fn snake(name: &str) -> String {
    format!("plain_{}", name.trim_start_matches("Case"))
}
