//! Each kind of software through every ordinary change, one after the other, with nothing that goes wrong and nobody who helps.

use std::fmt;

use muster_test_agents::Pace;

use super::cores::{self, alone};
use super::lives::{Step, Wait, clients_write};
use super::samples::{SOFTWARE, Software};
use super::world::{Base, World};

/// What is done to each.
const CHANGES: [Step; 9] = [
    Step::Create(3),
    Step::Scale(2),
    Step::Scale(1),
    Step::Scale(3),
    Step::Version("2"),
    Step::Size("7"),
    Step::Outage,
    Step::Scale(0),
    Step::Scale(2),
];

struct Kind(Software);

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kind {:?}", self.0)
    }
}

#[test]
fn every_kind_of_software_lives_through_every_change() {
    let kinds: Vec<Kind> = SOFTWARE.into_iter().map(Kind).filter(cores::is_asked_for).collect();
    cores::all(&kinds, |Kind(software)| {
        let base = alone(Base::empty(*software));
        alone(async {
            let mut world = World::begin(&base, 1, Pace::default()).await;
            world.start_operator();
            for change in CHANGES {
                change.take(&mut world).await;
                Wait::Live.wait(&mut world).await;
                clients_write(&world, 3);
            }
        });
    });
}
