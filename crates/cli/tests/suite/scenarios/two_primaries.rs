//! While nobody looks a person makes a second primary. Muster says so, touches neither, and does what the person then chooses.

use muster_api::Member;
use muster_ledger::client::Appended;
use serde_json::json;

use crate::suite::Cluster;
use crate::suite::cluster::{condition, is_split, leader};
use crate::suite::hands::{command, offered};

/// What only the second primary has.
const BY_HAND: &str = "written by hand";

pub(crate) fn two_primaries_made_by_hand_are_left_alone_until_a_person_chooses_one(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 10);
    let members = cluster.members(3);
    let stays = cluster.until_one_leads(&members);
    let other = members.iter().find(|member| **member != stays).unwrap();
    cluster.stop_clustering();
    // The first still has the copies of the third, so clients are served and their histories part.
    make_primary(cluster, other, &members);
    cluster.until_more(&writer, 5);
    let before = [&stays, other].map(|member| cluster.until_runs(member));
    cluster.start_clustering();

    let object = cluster.until("a person has to choose", is_split);
    let choices = [&stays, other].map(|member| command(&["recover", &cluster.name, "--seed", member]));
    let (mut wanted, mut offers) = (choices.to_vec(), offered(&object));
    wanted.sort();
    offers.sort();
    assert_eq!(offers, wanted, "{object:#}");
    for (member, pid) in [&stays, other].into_iter().zip(before) {
        assert_eq!(cluster.application(member), Some(pid), "{member} goes on as it was");
        assert!(cluster.leads(member), "{member} goes on as it was");
    }

    let [choice, _] = choices;
    cluster.until("the other is stopped and kept as errant", |it| {
        cluster.obey_if_offered(it, &choice);
        it["status"]["members"]["errant"] == json!([other]) && leader(it).as_ref() == Some(&stays)
    });
    assert_eq!(cluster.application(&stays), Some(before[0]), "who was chosen goes on as it was");
    assert_eq!(cluster.application(other), None);
    cluster.until_more(&writer, 5);
    assert!(has_by_hand(&cluster.on_disk(other).unwrap()), "what it holds is kept until it is given up");
    tells_how_to_give_it_up(cluster, other);

    cluster.gives_up_the_errant(&writer);
    cluster.holds_all(&writer);
    for member in &members {
        assert!(!has_by_hand(&cluster.read(member).unwrap()), "{member}: that history was given up");
    }
}

/// Makes this secondary primary, lets it write something for which it finds no second copy, and waits until its agent has noticed.
fn make_primary(cluster: &Cluster, member: &str, voters: &[String]) {
    cluster.promote_by_hand(member, voters);
    let written = cluster.ledger(member).unwrap().append(BY_HAND).unwrap();
    assert!(matches!(written, Appended::Unknown(_)), "{written:?}");
    cluster.until("its agent has noticed", |_| {
        cluster.memory(member).terms.current().is_some_and(|term| !term.is_commanded())
    });
}

/// The member's own status offers the command that the scenario then runs.
fn tells_how_to_give_it_up(cluster: &Cluster, member: &str) {
    let found = cluster.run(cluster.api::<Member>().get(member)).unwrap();
    let found = json!({"status": serde_json::to_value(found.status).unwrap()});
    let joined = condition(&found, "Joined").unwrap();
    let how = format!("kubectl muster rejoin {} {member} --discard", cluster.name);
    assert!(
        joined["reason"] == "MemberErrant" && joined["message"].as_str().unwrap().contains(&how),
        "{joined}"
    );
}

fn has_by_hand(entries: &[(u64, String)]) -> bool {
    entries.iter().any(|(_, entry)| entry == BY_HAND)
}
