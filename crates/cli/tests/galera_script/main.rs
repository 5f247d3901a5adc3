//! Galera's script on what crashes leave behind, with stand-ins for the server and its client. Real ones are in `real_galera`.

#![cfg(test)]

mod full;
mod member;

use self::member::{Member, NOBODY, UUID};

fn position(sequence: u64) -> String {
    format!(r#"{{"history":"{UUID}","sequence":{sequence},"position":"{UUID}:{sequence}","empty":false}}"#)
}

const EMPTY: &str = r#"{"sequence":0,"empty":true}"#;

#[test]
fn a_clean_stop_left_its_position() {
    let member = Member::new("clean").installed().state(UUID, 41);
    assert_eq!(member.says("sequence"), (0, position(41)));
}

#[test]
fn after_a_crash_the_server_is_asked_and_its_answer_kept() {
    for (name, member) in [
        ("crashed", Member::new("crashed").installed().state(UUID, -1)),
        ("lost", Member::new("lost").installed()),
        ("garbage", Member::new("garbage").installed().file("data/grastate.dat", "\0uuid: x\nseqno: 12")),
        // The copy had not begun to throw anything away.
        ("early", Member::new("early").installed().state(UUID, -1).file("data/sst_in_progress", "")),
        // Whoever was to send it died first, and Galera wrote down that it got nothing.
        ("unsent", Member::new("unsent").installed().state(NOBODY, -1).file("data/sst_in_progress", "")),
    ] {
        let member = member.recovers(&format!("{UUID}:7"));
        assert_eq!(member.says("sequence"), (0, position(7)), "{name}");
        assert_eq!(member.recoveries(), 1, "{name}");
        assert_eq!(member.says("sequence"), (0, position(7)), "{name}");
        assert_eq!(member.recoveries(), 1, "{name}: the second time it is written down");
        assert!(!member.has("data/sst_in_progress"), "{name}");
    }
}

#[test]
fn what_is_of_no_use_is_empty() {
    let half = Member::new("half").installed().state(UUID, -1).file("data/sst_in_progress", "");
    let cut = Member::new("cut").installed().state(NOBODY, -1).file("data/sst_in_progress", "");
    let fresh = Member::new("fresh").installed().file("data/muster-fresh", "");
    for member in [
        Member::new("nothing"),
        Member::new("begun").state(NOBODY, -1).file("data/sst_in_progress", ""),
        half.file("data/.sst/ibdata1", ""),
        cut.file("data/.sst/ibdata1", ""),
        fresh.recovers(&format!("{NOBODY}:-1")),
    ] {
        assert_eq!(member.says("sequence"), (0, EMPTY.to_owned()));
    }
}

#[test]
fn what_cannot_be_judged_is_not_guessed() {
    let foreign = Member::new("foreign").installed().recovers(&format!("{NOBODY}:-1"));
    let differs = Member::new("differs").installed().state(NOBODY, -1).recovers(&format!("{UUID}:7"));
    let broken = Member::new("broken").installed().state(UUID, -1);
    for member in [foreign, differs, broken] {
        assert_eq!(member.says("sequence"), (1, String::new()));
    }
}

#[test]
fn nothing_is_started_without_passwords_or_without_anyone_to_join() {
    let open = Member::new("open").file("secrets/accounts/sst", "");
    assert_eq!(open.says("seed"), (1, String::new()));
    let alone = Member::new("alone").installed().state(UUID, 3);
    assert_eq!(alone.says("join"), (1, String::new()));
    assert!(!open.has("started") && !alone.has("started"));
}

#[test]
fn a_password_that_would_mean_something_in_sql_or_options_is_refused_before_it_is_used() {
    let passwords =
        ["it's", "a\"b", "back\\slash", "semi;colon", "two words", "two\nlines", "#1", "p\u{e4}ss"];
    let plain = |name: &str| Member::new(name).installed().state(UUID, 3);
    for (at, password) in passwords.into_iter().enumerate() {
        let account = ["root", "sst", "admin"][at % 3];
        let secret = format!("secrets/accounts/{account}");
        let member = plain(&format!("password-{at}")).file(&secret, password);
        let complaint = member.complains("seed");
        let wanted = format!("the password of {account} holds something other than letters and digits");
        assert!(complaint.starts_with(&wanted), "{password:?}: {complaint}");
        assert!(!complaint.contains(password), "it is not for everyone to read");
        assert!(!member.has("started") && !member.has("run/my.cnf"), "{password:?}");
    }
    // Whoever edits the Secret of a cluster that runs does not make it look broken.
    let runs = plain("password-runs").file("secrets/accounts/admin", "it's");
    let runs = runs.client("printf '8\\t{\"state\":\"serving\"}\\n'");
    assert_eq!(runs.says("status").0, 8);
    assert_eq!(runs.says("sequence"), (0, position(3)));
}

#[test]
fn a_seed_may_begin_and_keeps_its_data() {
    let member = Member::new("seed").installed().state(UUID, 3).file("data/mysql/kept", "");
    assert_eq!(member.says("seed").0, 0);
    assert!(
        member.read("started").ends_with("--read-only=OFF --wsrep-new-cluster\n"),
        "{}",
        member.read("started")
    );
    assert!(
        member.has("data/mysql/kept") && member.read("data/grastate.dat").contains("safe_to_bootstrap: 1")
    );
    let config = member.read("run/my.cnf");
    for line in ["max_connections=99", "wsrep_node_address=127.9.0.1", "innodb_flush_log_at_trx_commit=1"] {
        assert!(config.lines().any(|said| said == line), "{line} is not in {config}");
    }
    assert!(config.contains("pc.recovery=false") && config.contains("gcache.size=64M"));
}

#[test]
fn a_status_is_what_the_server_says_or_that_it_cannot_say_yet() {
    let serves = Member::new("serves").client("printf '8\\t{\"state\":\"serving\"}\\n'");
    assert_eq!(serves.says("status"), (8, r#"{"state":"serving"}"#.to_owned()));
    let silent = "echo 'ERROR 2002 (HY000): Cannot connect' >&2; exit 1";
    let (code, said) = Member::new("starts").client(silent).says("status");
    assert!(code == 0 && said.starts_with(r#"{"state":"starting","progress":"#), "{code} {said}");
    let (code, said) = Member::new("joins").client(silent).file("data/sst_in_progress", "").says("status");
    assert!(code == 0 && said.starts_with(r#"{"state":"joining","progress":"#), "{code} {said}");
    let full = Member::new("full").client("echo 'ERROR 1040 (HY000): Too many connections' >&2; exit 1");
    assert_eq!(full.says("status"), (1, String::new()));
}

#[test]
fn a_cluster_is_re_formed_until_it_is_seen_to_be() {
    // It refuses once, then obeys.
    let client = r#"query=$(cat)
case $query in
SET*) if [ -e "$HERE/asked" ]; then touch "$HERE/formed"; else touch "$HERE/asked"; exit 1; fi ;;
*) if [ -e "$HERE/formed" ]; then state=Primary; else state=non-Primary; fi; printf 'wsrep_cluster_status\t%s\n' $state ;;
esac"#;
    let member = Member::new("bootstrap").client(client);
    assert_eq!(member.says("bootstrap").0, 0);
    assert!(member.has("formed"));
}
