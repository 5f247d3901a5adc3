//! A volume is full: the others go on, nothing is acknowledged that is not there, and with room again its member comes back.

use std::cell::Cell;

use crate::suite::Cluster;
use crate::suite::scenarios::filled::{FILLING, fill, leave_nothing, of_sized_volumes};
use crate::suite::scenarios::galera::differs::{discards_what_differs, how_to_discard, says};

/// A row that needs room of its own: small ones find some in what is allocated already.
const LARGE: &str = "INSERT INTO trial.large (text) VALUES (REPEAT('x', 4000000))";
/// How many of them are more than is allocated already.
const MANY: usize = 30;

pub(crate) fn a_full_disk_acknowledges_nothing_that_is_not_there() {
    let Some((cluster, _mounts)) = of_sized_volumes() else { return };
    let writer = cluster.writer();
    cluster.until_more(&writer, 10);
    let account = cluster.clients_account();
    account
        .ask("CREATE TABLE trial.large (number BIGINT AUTO_INCREMENT PRIMARY KEY, text LONGTEXT)")
        .unwrap();
    account.ask(LARGE).unwrap();
    let members = cluster.members(3);
    let before = 1 + one_is_full(&cluster, &members);
    cluster.holds_all(&writer);
    account.ask(LARGE).unwrap();
    let kept: usize = account
        .ask("SET SESSION wsrep_sync_wait=1; SELECT COUNT(*) FROM trial.large")
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let told = before + 1;
    assert!(kept >= told, "{kept} of {told} large rows that were acknowledged");
    leave_nothing(&cluster, &members);
}

/// One volume is full, and the others go on: how many large rows were acknowledged. With room again it comes back, by itself or as it says.
fn one_is_full(cluster: &Cluster, members: &[String]) -> usize {
    let (full, others) = members.split_last().unwrap();
    let account = cluster.account_at(&others[0]).unwrap();
    fill(&cluster.volume(full));
    let written = Cell::new(0);
    let how = how_to_discard(cluster, full).join(" ");
    cluster.until("it cannot go on", |_| {
        if written.get() < MANY && account.ask(LARGE).is_ok() {
            written.set(written.get() + 1);
        }
        cluster.application(full).is_none()
    });
    println!("{full} ended after {} large rows", written.get());
    std::fs::remove_file(cluster.volume(full).join(FILLING)).unwrap();
    cluster.until("it runs again, or says what to do", |_| {
        cluster.application(full).is_some() || says(cluster, full, &how)
    });
    discards_what_differs(cluster, members);
    written.get()
}
