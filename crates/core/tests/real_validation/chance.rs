//! Choices from a seed, the same every time.

/// A small generator of numbers (splitmix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x5851_F42D_4C95_7F2D))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to one below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// The name of an object, right or wrong for one kind or another.
    pub(crate) fn name(&mut self) -> String {
        let names = [
            "orders",
            "a",
            "0a",
            "a-",
            "-a",
            "A",
            "a.b",
            "a_b",
            "orders-a-0",
            "orders-a-01",
            "orders-a-10000",
            "",
        ];
        match self.below(4) {
            0 => "n".repeat([30, 31, 52, 53, 63, 64][self.below(6)]),
            _ => self.pick(&names).to_owned(),
        }
    }
}
