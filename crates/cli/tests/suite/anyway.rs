//! Several scenarios beside each other while operators die at times of chance: whoever comes next goes on where the other was.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::Cluster;
use super::deaths::OperatorsDie;
use super::turns::Turn;

/// What happens to a cluster, and what the cluster is called.
pub(crate) type Happening = (&'static str, fn(&Cluster));

/// Beside each other, so many at once, because for most of the time all of them wait for an operator; and without any others, some of which
/// wait for what an operator says before a minute is over. Those that take longest come first.
pub(crate) fn happen(happenings: &[Happening], at_once: usize) {
    let alone = Turn::alone();
    let operators = OperatorsDie::begin();
    let rest = Mutex::new(happenings.iter());
    let next = || rest.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((name, happens)) = next() {
                    let began = Instant::now();
                    happens(&Cluster::within(&alone, name, 3));
                    println!("{name} is over after {:?}", began.elapsed());
                }
            });
        }
    });
    let deaths = operators.end();
    println!("{deaths} operators died");
    assert_ne!(deaths, 0);
}

/// A scenario in which nobody is errant while operators live: a primary that is about to change may be left with a write that nobody
/// acknowledged by one that dies.
pub(crate) fn giving_up_the_errant(cluster: &Cluster, scenario: fn(&Cluster)) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    scenario(cluster);
}
