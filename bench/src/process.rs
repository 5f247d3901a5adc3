//! What a process uses: memory, and time of the processors.

use std::fs;

use anyhow::{Context, Result};

/// The resident memory of this process, in bytes.
pub(crate) fn resident(process: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}

/// How many ticks Linux counts in a second, on every machine that this runs on.
const TICKS: f64 = 100.0;

/// The seconds that the processors have worked for this process.
pub(crate) fn worked(process: &str) -> Result<f64> {
    let line = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, in brackets, may hold spaces; of what follows, the twelfth and the next are user and system time.
    let (_, rest) = line.rsplit_once(')').context("no name")?;
    let times: Vec<f64> =
        rest.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(times.iter().sum::<f64>() / TICKS)
}

/// The processes whose command line has this word.
pub(crate) fn processes_with(word: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // A process may end while it is looked at.
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()) {
            found.push(name);
        }
    }
    Ok(found)
}
