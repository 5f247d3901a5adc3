//! Roles: promoted and demoted by command, by another road where the engine has no action for it, and by hand.

use muster_api::names::Role;
use muster_core::manager::command::{Action, Follow, Join};
use muster_core::manager::report::{Activity, Application, Running};
use muster_core::manager::stamp::{Stamp, Term};
use muster_core::manager::terms::{TermList, TermStart};

use super::place::{Living, Place};

fn joining(copy: bool) -> Action {
    let term = Term::commanded(Stamp::new(1, 1));
    let terms = TermList::new([TermStart { term, start: 1 }]);
    Action::Join(Join { role: Role::Secondary, term, history: "primary's".into(), terms, copy })
}

async fn demoted_and_promoted(place: &Place, agent: &Living) {
    let report = agent.seed().await;
    std::fs::write(place.data().join("sequence"), "7").unwrap();
    agent.obeys(2, Action::Demote, true).await;
    agent
        .until_running("it follows", |it| it.role == Role::Secondary && it.activity == Activity::Serving)
        .await;
    std::fs::write(place.data().join("sequence"), "9").unwrap();
    agent.obeys(3, Action::Promote, true).await;
    let term = Term::commanded(Stamp::new(1, 3));
    let promoted = agent.until_running("it leads", |it| it.role == Role::Primary && it.synced).await;
    assert_eq!(promoted.running().unwrap().term, Some(term));
    let held = promoted.held().unwrap();
    assert_eq!(
        held.terms.entries().last(),
        Some(&TermStart { term, start: 10 }),
        "behind all that it had received"
    );
    assert_eq!(held.history, report.held().unwrap().history);
}

#[tokio::test]
async fn it_is_demoted_and_promoted_while_it_runs() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    demoted_and_promoted(&place, &agent).await;
    assert_eq!(place.log(), ["seed", "demote", "promote"]);
}

#[tokio::test]
async fn without_such_actions_it_is_stopped_and_started() {
    let place = Place::with(&[]);
    let agent = place.start_and_settle().await;
    demoted_and_promoted(&place, &agent).await;
    assert_eq!(place.log(), ["seed", "secondary", "primary"]);
    agent.obeys(4, Action::Bootstrap, false).await;
    agent.obeys(5, Action::Leave, true).await;
    assert!(agent.report().await.evacuated);
}

#[tokio::test]
async fn a_full_copy_throws_away_what_was_there_and_counts_when_it_is_whole() {
    let place = Place::new();
    std::fs::create_dir(place.data().join("directory")).unwrap();
    std::fs::write(place.data().join("directory/file"), "old").unwrap();
    std::os::unix::fs::symlink(place.control("kept"), place.data().join("link")).unwrap();
    place.tell("kept", "not the application's");
    place.tell("status", r#"{"state":"joining","progress":5}"#);
    place.tell("exit", "0");
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    agent.obeys(2, joining(true), true).await;
    let report =
        agent.until_running("it copies", |it| it.activity == Activity::Joining && it.progress == 5).await;
    let held = report.held().unwrap();
    assert!(!held.complete && !report.running().unwrap().synced && held.history == "primary's");
    assert!(!place.data().join("directory").exists() && !place.data().join("link").exists());
    assert!(place.control("kept").exists(), "links are not followed");
    assert_eq!(place.log(), ["secondary"]);
    place.untell("status");
    agent.until("it is whole", |line| line.report.held().is_some_and(|held| held.complete)).await;
}

#[tokio::test]
async fn a_new_roster_is_used_once_the_software_was_told_of_it() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    assert_eq!(place.log(), ["seed"], "what it was started with it knows");
    place.tell("join.fails", "");
    let mut order = agent.order(2, Action::TakeRoster).await;
    let roster = order.command.roster.take().unwrap();
    order.command.roster = Some(roster.adding("orders-a-1", "w").issue(Stamp::new(1, 2)));
    agent.client.command(&order).await.unwrap();
    let line = agent.until("it failed", |line| line.measured.failure.is_some()).await;
    assert_eq!(line.report.roster.unwrap().version, Stamp::new(1, 2), "it is kept");
    agent.until_running("it does not use it", |it| it.roster == Some(Stamp::new(1, 1))).await;
    place.untell("join.fails");
    agent.until_running("it uses it", |it| it.roster == Some(Stamp::new(1, 2))).await;
    assert!(agent.line().await.measured.failure.is_none());
}

#[tokio::test]
async fn a_roster_that_is_only_kept_is_reported_and_used_when_it_is_taken() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    let newer = Stamp::new(1, 2);
    let mut order = agent.order(2, Action::KeepRoster).await;
    let roster = order.command.roster.take().unwrap();
    order.command.roster = Some(roster.adding("orders-a-1", "w").issue(newer));
    agent.client.command(&order).await.unwrap();
    agent.until("it is kept", |line| line.report.roster.as_ref().unwrap().version == newer).await;
    agent.obeys(3, Action::Remember(3), true).await;
    // It is looked at the application again, which is when it would be told.
    let report = agent.until_running("it is asked", |it| it.activity == Activity::Serving).await;
    assert_eq!(report.running().unwrap().roster, Some(Stamp::new(1, 1)), "nothing else hands it out");
    assert_eq!(place.log(), ["seed"], "the software was not told");
    let take = agent.order(4, Action::TakeRoster).await;
    agent.client.command(&take).await.unwrap();
    agent.until_running("it uses it", |it| it.roster == Some(newer)).await;
}

#[tokio::test]
async fn a_promotion_by_hand_is_a_term_of_its_own() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    agent.obeys(2, Action::Demote, true).await;
    agent.until_running("it follows", |it| it.role == Role::Secondary).await;
    place.tell("role", "primary");
    let report = agent.until_running("it leads", |it| it.role == Role::Primary).await;
    let term = Term::self_made(Stamp::new(1, 2), 1);
    assert_eq!(report.running().unwrap().term, Some(term));
    assert_eq!(report.held().unwrap().terms.current(), Some(term));
}

#[tokio::test]
async fn a_quorum_that_was_given_by_hand_is_a_term_of_its_own_and_one_that_was_found_again_is_not() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("exit", "8");
    let mut term = Some(Term::commanded(Stamp::new(1, 1)));
    // All of the last component again; a later one, which others formed; a part of the last; again a later one.
    for (number, members, by_hand) in
        [(5, "a,b", false), (6, "a,b", false), (8, "a,b", false), (9, "a", true), (11, "a,b", false)]
    {
        let component = format!(r#"{{"number":{number},"members":"{members}"}}"#);
        let said =
            format!(r#"{{"state":"serving","synced":true,"view":"{number}","component":{component}}}"#);
        place.tell("status", &said);
        if by_hand {
            term = Some(Term::self_made(Stamp::new(1, 1), 1));
        }
        // The component is told first, and the term that began with it once it is on disk.
        let serves = |it: &Running| {
            it.view.as_deref() == Some(number.to_string().as_str()) && (!by_hand || it.term == term)
        };
        let report = agent.until_running("it has a quorum", serves).await;
        assert_eq!(report.running().unwrap().term, term, "in {number}");
        assert_eq!(report.held().unwrap().terms.current(), term, "in {number}");
        place.tell("status", r#"{"state":"isolated"}"#);
        agent.until_running("it has none", |it| it.activity == Activity::Isolated).await;
        // What it missed is told to it as it fetches that.
        let missed = format!(r#"{{"number":{},"members":"b"}}"#, number + 1);
        place.tell("status", &format!(r#"{{"state":"joining","component":{missed}}}"#));
        agent.until_running("it fetches", |it| it.activity == Activity::Joining).await;
    }
}

#[tokio::test]
async fn a_quorum_that_was_lost_and_given_by_hand_between_two_questions_is_a_term_of_its_own() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("exit", "8");
    let mut term = Some(Term::commanded(Stamp::new(1, 1)));
    // One left, and came back, and nobody was without a quorum; then this one was, for a moment; then others came to it.
    for (number, members, interruptions) in
        [(5, "a,b", 1), (6, "a", 1), (7, "a,b", 1), (8, "a", 2), (9, "a,b", 2)]
    {
        let component =
            format!(r#"{{"number":{number},"members":"{members}","interruptions":{interruptions}}}"#);
        let said =
            format!(r#"{{"state":"serving","synced":true,"view":"{number}","component":{component}}}"#);
        place.tell("status", &said);
        let serves = |it: &Running| {
            let known =
                it.term.is_some_and(Term::is_commanded) || number > 7 && it.view.as_deref() != Some("7");
            assert!(known, "nobody hears of the term before the component: {it:?}");
            it.view.as_deref() == Some(number.to_string().as_str())
        };
        agent.until_running("it has a quorum", serves).await;
        if number == 8 {
            agent.until_running("it has a term of its own", |it| it.term != term).await;
            term = Some(Term::self_made(Stamp::new(1, 1), 1));
        }
        let report = agent.report().await;
        assert_eq!(report.running().unwrap().term, term, "in {number}");
        assert_eq!(report.held().unwrap().terms.current(), term, "in {number}");
    }
}

#[tokio::test]
async fn a_term_is_taken_over_while_it_runs() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    agent.obeys(2, Action::Demote, true).await;
    agent.until_running("it follows", |it| it.role == Role::Secondary).await;
    let term = Term::commanded(Stamp::new(1, 9));
    let terms = TermList::new([TermStart { term, start: 3 }]);
    agent.obeys(3, Action::Follow(Follow { term, terms: terms.clone() }), true).await;
    let report = agent.report().await;
    assert_eq!((report.running().unwrap().term, &report.held().unwrap().terms), (Some(term), &terms));
}

#[tokio::test]
async fn a_status_that_fails_is_no_stop() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    place.tell("exit", "1");
    place.tell("status", "broken");
    let line = agent
        .until("it says so", |line| line.report.running().is_some_and(|it| it.activity == Activity::Failed))
        .await;
    assert_eq!(line.measured.failure.unwrap().action, "status");
    assert!(!line.report.running().unwrap().synced);
    place.untell("status");
    agent.until_running("it is well again", |it| it.activity == Activity::Serving && it.synced).await;
}

#[tokio::test]
async fn a_volume_that_left_is_marked_and_leads_no_more() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    agent.seed().await;
    agent.obeys(2, Action::Leave, true).await;
    agent.obeys(3, Action::Stop, true).await;
    agent.until_stopped().await;
    agent.obeys(4, Action::MarkLeft, true).await;
    let report = agent.report().await;
    assert!(report.evacuated && report.held().unwrap().left && report.application == Application::Stopped);
    let mut order = agent.order(5, Action::Lead).await;
    let roster = order.command.roster.take().unwrap();
    order.command.roster = Some(roster.adding("orders-a-1", "w").issue(Stamp::new(1, 5)));
    let refused = agent.client.command(&order).await.unwrap();
    assert_eq!(refused, muster_protocol::Outcome::Refused(muster_protocol::Refusal::Left));
    // A copy makes it another volume, which has not left.
    agent.obeys(6, joining(true), true).await;
    let after = agent.until("it is whole", |line| line.report.held().is_some_and(|held| held.complete)).await;
    assert_ne!(after.report.volume, report.volume);
    assert!(!after.report.held().unwrap().left && !after.report.evacuated);
}
