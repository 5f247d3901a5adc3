//! Disks that are full, and state that is damaged.

use std::path::PathBuf;
use std::process::Command as Process;

use muster_core::manager::command::{Action, Answer};
use muster_core::manager::report::{Application, Data};
use muster_core::manager::stamp::Stamp;
use muster_operator::agents::CallError;
use muster_protocol::{Epoch, Outcome, Refusal};
use muster_test_control_plane::skip;

use super::place::Place;

/// A small filesystem. Dropped, it is gone.
struct Small(PathBuf);

impl Small {
    /// None where nobody may mount one.
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        let options = format!("size={size},mode=0755");
        let mounted =
            Process::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&at).output().ok()?;
        mounted.status.success().then_some(Self(at))
    }

    /// Takes all space that is left.
    fn fill(&self) {
        let (mut file, block) = (std::fs::File::create(self.0.join("filling")).unwrap(), [0; 4096]);
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
    }

    /// Takes the space too that was kept for state, as a disk that fails does.
    fn break_down(&self) {
        let options = "remount,ro";
        assert!(Process::new("mount").args(["-o", options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Process::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn on_small_disk(size: &str) -> Option<(Place, Small)> {
    let mut place = Place::new();
    let at = place.path("small");
    let Some(small) = Small::mount(at.clone(), size) else {
        skip("nobody may mount a filesystem here");
        return None;
    };
    std::fs::create_dir(at.join("data")).unwrap();
    place.volume = at;
    Some((place, small))
}

#[tokio::test]
async fn on_a_full_disk_everything_is_still_remembered() {
    let Some((place, small)) = on_small_disk("4m") else { return };
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    small.fill();
    for n in 2..30 {
        agent.obeys(n, Action::Remember(usize::try_from(n).unwrap()), true).await;
    }
    assert_eq!(agent.epoch(2).await.report.epoch, 2);
    agent.obeys_at(Stamp::new(2, 1), Action::Stop, true).await;
    agent.kill();
    let agent = place.start_and_settle().await;
    let report = agent.report().await;
    assert_eq!((report.epoch, report.recorded), (2, vec![28, 29]));
    assert_eq!(report.last, Some(Answer { stamp: Stamp::new(2, 1), succeeded: true }));
}

#[tokio::test]
async fn where_nothing_can_be_written_only_a_stop_is_obeyed_and_not_undone() {
    let Some((place, small)) = on_small_disk("4m") else { return };
    let agent = place.start_and_settle().await;
    agent.seed().await;
    small.break_down();
    for action in [Action::Demote, Action::Remember(3), Action::TakeRoster, Action::Leave] {
        let refused = agent.command(2, action).await;
        assert!(
            matches!(&refused, Err(CallError::Refused(fault)) if fault.message.contains("written")),
            "{refused:?}"
        );
    }
    let refused = agent.client.epoch(Epoch { epoch: 5, round: 0 }).await;
    assert!(matches!(refused, Err(CallError::Refused(_))), "{refused:?}");
    assert_eq!(agent.report().await.epoch, 1, "what is not on disk is not said");
    assert!(agent.report().await.running().is_some());

    agent.obeys(4, Action::Stop, true).await;
    let report =
        agent.until("it is stopped", |line| line.report.application == Application::Stopped).await.report;
    assert_eq!(report.last, Some(Answer { stamp: Stamp::new(1, 4), succeeded: true }));
    let outcome = agent.command(3, Action::Lead).await.unwrap();
    let (got, last) = (Stamp::new(1, 3), Stamp::new(1, 4));
    assert_eq!(
        outcome,
        Outcome::Refused(Refusal::OldNumber { got, last }),
        "a delayed start does not undo it"
    );
    agent.obeys(4, Action::Stop, true).await;
    assert_eq!(place.log(), ["seed", "stop"]);
}

#[tokio::test]
async fn damaged_state_is_never_guessed() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    let before = agent.seed().await;
    agent.obeys(2, Action::Stop, true).await;
    agent.until_stopped().await;
    agent.kill();
    let state = std::fs::read(place.state()).unwrap();
    let end = state.iter().rposition(|byte| *byte != b'\n').unwrap();
    for damage in [0, 25, end / 2, end] {
        let mut damaged = state.clone();
        damaged[damage] ^= 0x10;
        std::fs::write(place.state(), &damaged).unwrap();
        let mut agent = place.start_and_settle().await;
        let report = agent.report().await;
        assert_eq!(
            (report.data, report.application),
            (Data::Unreadable, Application::Stopped),
            "byte {damage}"
        );
        assert_eq!((report.last, report.roster, report.epoch), (None, None, 0));
        assert_ne!(report.volume, before.volume);
        agent.epoch(1).await;
        let outcome = agent.command(1, Action::Seed { forming: true }).await.unwrap();
        assert_eq!(outcome, Outcome::Refused(Refusal::NotEmpty));
        agent.kill();
        let mut agent = place.start_and_settle().await;
        assert_eq!(agent.report().await.data, Data::Unreadable, "it stays so");
        agent.kill();
        assert_eq!(std::fs::read(place.volume.join(".muster/state.damaged")).unwrap(), damaged);
    }
    std::fs::write(place.state(), &state).unwrap();
    let agent = place.start_and_settle().await;
    assert_eq!(agent.report().await.volume, before.volume);
}

#[tokio::test]
async fn state_of_another_format_is_left_for_who_understands_it() {
    let place = Place::new();
    let mut agent = place.start_and_settle().await;
    agent.seed().await;
    agent.kill();
    let newer = String::from_utf8(std::fs::read(place.state()).unwrap()).unwrap();
    let newer = newer.replacen("muster-agent-state 1 ", "muster-agent-state 2 ", 1);
    std::fs::write(place.state(), &newer).unwrap();
    let mut agent = place.start_and_settle().await;
    assert_eq!(agent.report().await.data, Data::Unreadable);
    let refused = agent.client.epoch(Epoch { epoch: 5, round: 0 }).await;
    assert!(
        matches!(&refused, Err(CallError::Refused(fault)) if fault.message.contains("format 2")),
        "{refused:?}"
    );
    agent.kill();
    assert_eq!(std::fs::read_to_string(place.state()).unwrap(), newer);
}
