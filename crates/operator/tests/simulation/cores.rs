//! Many runs over all cores, each on a runtime of its own with paused time; and the one run that a person asks for.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What names the one run that a person wants to see again; or asks for all of them.
const REPLAY: &str = "MUSTER_SIMULATION";
/// The word for all of them.
const ALL: &str = "all";
/// After so many failures the rest would say nothing new.
const ENOUGH: usize = 8;

/// Whether everything is to be run, and not a sample.
pub(crate) fn everything() -> bool {
    std::env::var(REPLAY).is_ok_and(|asked| asked == ALL)
}

/// The run that a person asks for.
pub(crate) fn replayed() -> Option<String> {
    std::env::var(REPLAY).ok().filter(|asked| asked != ALL)
}

/// Runs something on a runtime of its own, in time that passes only when nothing else is to be done.
pub(crate) fn alone<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(run)
}

/// Whether this run is to be made: every one, or those whose names begin as a person asks for.
pub(crate) fn is_asked_for(job: &impl Display) -> bool {
    replayed().is_none_or(|asked| job.to_string().starts_with(&asked))
}

/// Does all of these over all cores. Says of each failure how to see it again.
pub(crate) fn all<J: Display + Sync>(wanted: &[J], run: impl Fn(&J) + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(job) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if failures.lock().unwrap().len() >= ENOUGH {
                        return;
                    }
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(job))) {
                        let failure = format!("{}\nto see it again: {REPLAY}='{job}'", said(&*panic));
                        eprintln!("{REPLAY}='{job}' failed");
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), wanted.len(), failures.join("\n\n"));
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
