//! A client that writes all the time, one row after the other, and remembers which were acknowledged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::galera::{MEMBERS, TABLE};
use super::stage::PATIENCE;

/// How many more rows make sure that the cluster serves.
const MORE: usize = 10;
/// How long to wait before connecting again.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    acknowledged: Mutex<Vec<u64>>,
    ended: AtomicBool,
    /// The connection of the moment.
    client: Mutex<Option<Child>>,
}

impl Shared {
    /// Ends the connection: also one whose server never answers.
    fn hang_up(&self) {
        if let Some(mut client) = self.client.lock().unwrap().take() {
            drop(client.kill());
            drop(client.wait());
        }
    }
}

impl Writer {
    /// Begins to write with this client.
    pub(crate) fn start(client: &[String]) -> Self {
        let shared = Arc::new(Shared::default());
        let (client, writing) = (client.to_vec(), Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            let mut number = 0;
            while !writing.ended.load(Ordering::Relaxed) {
                write(&client, &writing, &mut number);
                std::thread::park_timeout(PAUSE);
            }
        });
        Self { shared, thread }
    }

    /// The rows that were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> Vec<u64> {
        self.shared.acknowledged.lock().unwrap().clone()
    }

    /// Waits until more rows are acknowledged.
    pub(crate) fn until_more(&self) {
        let (began, before) = (Instant::now(), self.acknowledged().len());
        while self.acknowledged().len() < before + MORE {
            assert!(began.elapsed() < PATIENCE, "waited until rows are acknowledged");
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Ends it; all rows that were acknowledged.
    pub(crate) fn stop(self) -> Vec<u64> {
        self.shared.ended.store(true, Ordering::Relaxed);
        while !self.thread.is_finished() {
            self.shared.hang_up();
            std::thread::park_timeout(PAUSE);
        }
        self.thread.join().unwrap();
        self.shared.acknowledged.lock().unwrap().clone()
    }
}

/// Writes with one connection until it breaks. A row that was not acknowledged may be there or not; its number is not used again.
fn write(client: &[String], shared: &Shared, number: &mut u64) {
    let mut command = Command::new(&client[0]);
    command.args(&client[1..]).args([
        "--batch",
        "--skip-column-names",
        "--unbuffered",
        "--connect-timeout=5",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    *shared.client.lock().unwrap() = Some(child);
    let mut answers = BufReader::new(output).lines().map_while(Result::ok);
    while !shared.ended.load(Ordering::Relaxed) {
        *number += 1;
        let row = number.to_string();
        let sent = writeln!(input, "INSERT INTO {TABLE} VALUES ({row}); SELECT {row};");
        if sent.is_err() || answers.next() != Some(row) {
            break;
        }
        shared.acknowledged.lock().unwrap().push(*number);
    }
    shared.hang_up();
}

/// The members in an order of chance, each with a pause of chance; the same for the same number.
pub(crate) fn shuffled(seed: u64) -> Vec<(&'static str, Duration)> {
    let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mut left = MEMBERS.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let chance = state >> 33;
        let member = left.remove(usize::try_from(chance).unwrap() % left.len());
        order.push((member, Duration::from_millis(chance % 300)));
    }
    order
}
