//! The agent as it is in every member: one static program of a few MB that needs a few MB of memory. `cargo xtask test` builds it, and says
//! in `MUSTER_STATIC_AGENT` where it is.

use std::path::PathBuf;

use muster_core::manager::command::Action;
use muster_core::manager::report::Application;
use muster_test_control_plane::skip;

use super::place::Place;

/// Where the static program is.
const VARIABLE: &str = "MUSTER_STATIC_AGENT";
/// A few MB, in bytes: it is copied into every Pod, and more is a dependency that nobody meant to have.
const MOST_BYTES: u64 = 5 * 1024 * 1024;
/// A few MB, in kB, of which most is the program itself.
const MOST_RESIDENT: u64 = 6 * 1024;

/// The kinds of an ELF file's segments that say: the program needs a loader, or other libraries.
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
/// The entry of a dynamic segment that names a library.
const DT_NEEDED: u64 = 1;

fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let little_endian = bytes[at..at + length].iter().rev();
    little_endian.fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// What an ELF file of 64 bits needs to be loaded: a loader, and how many libraries.
fn needs(file: &[u8]) -> (bool, usize) {
    assert_eq!(&file[..6], b"\x7fELF\x02\x01", "a little-endian program of 64 bits");
    let (table, size, count) = (number(file, 32, 8), number(file, 54, 2), number(file, 56, 2));
    let (mut loader, mut libraries) = (false, 0);
    for segment in 0..count {
        let at = place(table + segment * size);
        let kind = u32::try_from(number(file, at, 4)).unwrap();
        loader |= kind == PT_INTERP;
        if kind == PT_DYNAMIC {
            let (begin, length) = (place(number(file, at + 8, 8)), place(number(file, at + 32, 8)));
            let entries = file[begin..begin + length].chunks_exact(16);
            libraries += entries.filter(|entry| number(entry, 0, 8) == DT_NEEDED).count();
        }
    }
    (loader, libraries)
}

/// Whoever reads these fields wrongly would find nothing in any program.
#[test]
fn a_program_that_is_not_static_is_seen_as_such() {
    let (loader, libraries) = needs(&std::fs::read("/proc/self/exe").unwrap());
    assert!(loader && libraries > 0);
}

#[tokio::test]
async fn the_static_agent_is_small_and_does_all_that_an_agent_does() {
    let Ok(program) = std::env::var(VARIABLE).map(PathBuf::from) else {
        return skip(&format!(
            "{VARIABLE} does not say where the static agent is: `cargo xtask agent` makes one"
        ));
    };
    let file = std::fs::read(&program).unwrap();
    assert_eq!(needs(&file), (false, 0), "it needs a loader or libraries");
    let place = Place::new();
    let agent = place.start_program(&program);
    agent.until("it has looked", |line| line.report.application != Application::Unknown).await;
    agent.seed().await;
    agent.obeys(2, Action::Demote, true).await;
    agent.obeys(3, Action::Promote, true).await;
    let resident = agent.memory("VmRSS");
    println!("the static agent: {} bytes, {resident} kB resident", file.len());
    assert!((file.len() as u64) < MOST_BYTES, "{} bytes", file.len());
    assert!(resident < MOST_RESIDENT, "{resident} kB");
    agent.obeys(4, Action::Stop, true).await;
    agent.until_stopped().await;
}
