//! The fault matrix: in each life every write and every command of the operator goes wrong once, in every way. It always comes
//! to the same end, no agent is told what it never may be told, and Ready was never said when it was not so.

use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use muster_test_agents::Pace;

use super::cores::{self, alone, everything};
use super::end;
use super::lives::{Beginning, LIVES, Life};
use super::troubles::{Came, Deed, Planned, Trouble};
use super::world::{Base, World};

/// One run: a life in which one thing goes wrong.
struct Run {
    life: usize,
    planned: Planned,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Planned { deed, number, trouble } = self.planned;
        let what = match deed {
            Deed::Write => "write",
            Deed::Command => "command",
            Deed::Epoch => "epoch",
        };
        write!(f, "{}: {what} {number} {trouble:?}", LIVES[self.life].name)
    }
}

/// How a life goes when nothing goes wrong.
struct Usual {
    base: Base,
    end: Vec<String>,
    /// How many deeds of each kind there were.
    done: [usize; Deed::ALL.len()],
}

/// The chance of every run.
const SEED: u64 = 41;
/// How far apart the runs of a sample are: a number that the number of ways does not divide, so that it has different ones.
const SAMPLE_APART: usize = 29;
/// Of so many runs one may have trouble that nobody met: the last writes of a life are followed by no read.
const UNMET: usize = 100;
/// How long an operator that was just started has to find out what there is: a manager waits ten seconds for whom it expects.
const SETTLES: Duration = Duration::from_secs(12);

/// How long it may take to come to its end, in the world's own time, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Lives a life from there on, in which this goes wrong.
async fn live(life: &Life, base: &Base, planned: Option<Planned>) -> World {
    let mut world = begin(base).await;
    world.troubles.arm(planned);
    go_on(life, &mut world).await;
    world
}

/// Waits until it came to this end. What was lost on its way is asked for again, after a while; until then all may be well, and
/// yet not as it will be.
async fn until_end(world: &mut World, end: &[String]) {
    let mut waited = Duration::ZERO;
    loop {
        let differs = end::differences(end, &world.oracle.stored(end::of));
        if differs.is_empty() {
            return;
        }
        let told = || format!("{}\n{}", differs.join("\n"), world.describe());
        assert!(waited < PATIENCE, "it came to another end:\n{}", told());
        world.pass(LOOK_EVERY).await;
        waited += LOOK_EVERY;
    }
}

/// A world in which an operator has found out what there is.
async fn begin(base: &Base) -> World {
    let mut world = World::begin(base, SEED, Pace::default()).await;
    world.start_operator();
    world.pass(SETTLES).await;
    world
}

async fn go_on(life: &Life, world: &mut World) {
    for (step, wait) in life.steps {
        step.take(world).await;
        wait.wait(world).await;
    }
    assert!(world.oracle.wrongs().is_empty(), "{:?}", world.oracle.wrongs());
}

fn usual(life: &Life) -> Usual {
    let base = life.from.base();
    let (end, done) = alone(async {
        let world = live(life, &base, None).await;
        (world.oracle.stored(end::of), Deed::ALL.map(|deed| world.troubles.counted(deed)))
    });
    Usual { base, end, done }
}

/// What can go wrong in a life that goes as usual; or only some of it.
fn runs(life: usize, usual: &Usual) -> Vec<Run> {
    let of_deed = |deed: Deed| {
        let each = move |number| deed.troubles().iter().map(move |trouble| (number, *trouble));
        let all = (1..=usual.done[deed as usize]).flat_map(each);
        all.map(move |(number, trouble)| Run { life, planned: Planned { deed, number, trouble } })
    };
    let all = Deed::ALL.into_iter().flat_map(of_deed);
    let apart = if everything() || cores::replayed().is_some() { 1 } else { SAMPLE_APART };
    all.step_by(apart).filter(cores::is_asked_for).collect()
}

#[test]
fn every_write_and_command_of_every_life_may_go_wrong() {
    let asked = cores::replayed();
    let about = |life: &Life| {
        let name = format!("{}: ", life.name);
        asked.as_ref().is_none_or(|asked| asked.starts_with(&name) || name.starts_with(asked))
    };
    let lives: Vec<usize> = (0..LIVES.len()).filter(|life| about(&LIVES[*life])).collect();
    let usuals: Vec<OnceLock<Usual>> = LIVES.iter().map(|_| OnceLock::new()).collect();
    cores::all(&lives, |life| drop(usuals[*life].set(usual(&LIVES[*life]))));
    let all: Vec<Run> =
        lives.iter().filter_map(|life| Some(runs(*life, usuals[*life].get()?))).flatten().collect();
    for life in &lives {
        if let Some(usual) = usuals[*life].get() {
            let [writes, commands, epochs] = usual.done;
            println!("{}: {writes} writes, {commands} commands, {epochs} epochs", LIVES[*life].name);
        }
    }
    println!("{} runs", all.len());
    let unmet = Mutex::new(Vec::new());
    cores::all(&all, |run| {
        let usual = usuals[run.life].get().unwrap();
        alone(async {
            let mut world = live(&LIVES[run.life], &usual.base, Some(run.planned)).await;
            until_end(&mut world, &usual.end).await;
            match world.troubles.came() {
                Came::Not => panic!("what was planned was not reached"),
                Came::Begun => unmet.lock().unwrap().push(run.to_string()),
                Came::Met => {}
            }
        });
    });
    let unmet = unmet.into_inner().unwrap();
    println!("{} of {} runs had trouble that nobody met: {unmet:?}", unmet.len(), all.len());
    assert!(unmet.len() * UNMET <= all.len().max(UNMET), "too many runs had trouble that nobody met");
}

#[test]
fn a_life_is_the_same_from_wherever_it_begins() {
    if cores::replayed().is_some() {
        return;
    }
    let (nothing, two) = (Beginning::Nothing.base(), Beginning::Members(2).base());
    let up = &LIVES[1];
    let end = |life, base| alone(async { live(life, base, None).await.oracle.stored(end::of) });
    let there = end(up, &two);
    let whole = Life { steps: &[(super::lives::Step::Create(3), super::lives::Wait::Live)], ..LIVES[0] };
    let here = end(&whole, &nothing);
    assert_eq!(end::differences(&there, &here), Vec::<String>::new());
}

fn life(name: &str) -> &'static Life {
    LIVES.iter().find(|life| life.name == name).unwrap()
}

#[test]
fn a_member_whose_workload_could_not_be_applied_is_not_said_to_be_ready() {
    if cores::replayed().is_some() {
        return;
    }
    let set = life("set");
    let base = set.from.base();
    alone(async {
        let mut world = begin(&base).await;
        world.troubles.arm_first("patch", "apps/statefulsets", Trouble::Error);
        go_on(set, &mut world).await;
    });
    // A Pod whose removal is seen late is not removed again and again until then.
    alone(async {
        let mut world = begin(&base).await;
        world.troubles.arm_first("delete", "/pods", Trouble::LateEvents);
        go_on(set, &mut world).await;
        let removals = world.troubles.log().iter().filter(|line| line.contains("delete /pods")).count();
        assert!(removals < 10, "{removals} removals of two Pods");
    });
}
