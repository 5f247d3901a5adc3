//! All members live, and none has a quorum: nothing is started from scratch, the most advanced is told to go on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::thread;

use crate::suite::Cluster;
use crate::suite::galeras::CUT;

/// Every connection between members is cut at once. One is told to go on alone, as it is; with connections again the others are back.
pub(crate) fn members_that_all_lost_their_quorum_go_on_as_they_are(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_ready();
    cluster.until_more(&writer, 5);
    let members = cluster.members(3);
    let before: Vec<_> = members.iter().map(|member| cluster.until_runs(member)).collect();
    let whole: Vec<_> = members.iter().map(|member| component_of(cluster, member)).collect();
    let recoveries = cluster.recoveries();
    cut(cluster, &members);
    // Until then each goes on as if nothing had happened. One may be told to go on before it was seen to have stopped: it is alone then.
    let noticed = RefCell::new(BTreeSet::new());
    cluster.until("each has noticed", |_| {
        let differs = |(member, before): &(&String, &String)| {
            cluster.component_of(member).is_some_and(|now| now != **before)
        };
        let apart = members.iter().zip(&whole).filter(differs).map(|(member, _)| member.clone());
        noticed.borrow_mut().extend(apart);
        noticed.borrow().len() == members.len()
    });
    let alone = cluster.until_one_leads(&members);
    println!("{alone} goes on alone");
    for member in &members {
        cluster.connect_again(member);
    }
    cluster.until_more(&writer, 5);
    cluster.holds_all(&writer);
    let place = members.iter().position(|member| *member == alone).unwrap();
    assert_eq!(cluster.application(&alone), Some(before[place]), "{alone} goes on as it is");
    let same = members.iter().zip(&before).filter(|(member, pid)| cluster.application(member) == Some(**pid));
    println!("{} of 3 were not restarted; seeds: {:?}", same.count(), recoveries.seeds());
}

fn component_of(cluster: &Cluster, member: &str) -> String {
    cluster.until_found(&format!("{member} answers"), || cluster.component_of(member))
}

/// At the same time: whoever is left with another has a quorum.
fn cut(cluster: &Cluster, members: &[String]) {
    let accounts: Vec<_> = members.iter().map(|member| cluster.account_at(member).unwrap()).collect();
    let said: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = accounts.iter().map(|account| scope.spawn(move || account.ask(CUT))).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for answer in said {
        answer.unwrap();
    }
}
