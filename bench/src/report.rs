//! What was measured, as tables.

/// The median of these.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A count as a number to calculate with.
pub(crate) fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Bytes as MiB.
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    u32::try_from(bytes >> 10).map_or(f64::INFINITY, |kibibytes| f64::from(kibibytes) / 1024.0)
}

/// Which of two is better.
#[derive(Clone, Copy)]
pub(crate) enum Better {
    More,
    Less,
}

/// One line of the comparison.
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) better: Better,
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
}

/// Prints the comparison.
pub(crate) fn compare(lines: &[Line]) {
    println!("\n| measure | embedded | kube-apiserver + etcd | times better |");
    println!("|---|---|---|---|");
    for Line { what, better, ours, theirs } in lines {
        let ratio = match better {
            Better::More => ours / theirs,
            Better::Less => theirs / ours,
        };
        println!("| {what} | {ours:.2} | {theirs:.2} | {ratio:.1} |");
    }
}
