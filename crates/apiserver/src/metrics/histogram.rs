//! How often a value was at most this large.

/// The bounds of kube-apiserver for durations, in seconds.
const SECONDS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];
/// The bounds of kube-apiserver for the size of answers.
const BYTES: &[f64] = &[1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// How often a value was at most as large as each bound.
pub(super) struct Histogram {
    bounds: &'static [f64],
    /// One for each bound, and one for what is above them all.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    pub(super) fn of_seconds() -> Self {
        Self::new(SECONDS)
    }

    pub(super) fn of_bytes() -> Self {
        Self::new(BYTES)
    }

    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    pub(super) fn observe(&mut self, value: f64) {
        let place = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
        self.sum += value;
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// Each bound with how many values were not above it; the last has none.
    pub(super) fn cumulative(&self) -> Vec<(Option<f64>, u64)> {
        let bounds = self.bounds.iter().copied().map(Some).chain([None]);
        let totals = self.counts.iter().scan(0, |total, count| {
            *total += count;
            Some(*total)
        });
        bounds.zip(totals).collect()
    }
}
