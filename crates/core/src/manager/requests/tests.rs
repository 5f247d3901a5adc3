//! Tests of requests.

use serde_json::json;

use super::super::testing::at;
use super::*;

const MEMBERS: &[&str] = &["a", "b"];
const NOW: i64 = 1_000_000;

fn request(ask: Ask) -> Request {
    Request {
        id: "r1".into(),
        cluster_uid: "u".into(),
        generation: 4,
        expires: at(NOW + 600),
        digest: Some("d".into()),
        ask,
    }
}

fn circumstances() -> Circumstances<'static> {
    Circumstances {
        cluster_uid: "u",
        generation: 4,
        now: at(NOW),
        digest: Some("d"),
        clustering_stopped: false,
        members: Some(MEMBERS),
    }
}

fn seed(member: &str) -> Ask {
    Ask::Recover { seed: Some(member.into()), accept_data_loss: false, replicas: None }
}

fn judge(ask: Ask) -> Result<Granted, RequestRefusal> {
    request(ask).judge(&circumstances(), Some("a"))
}

fn forget() -> Ask {
    Ask::Forget { members: vec!["b".into()] }
}

#[test]
fn what_is_asked_for_is_granted() {
    let direct = |directive| Ok(Granted::Direct(directive));
    assert_eq!(judge(seed("b")), direct(Directive::Seed { member: "b".into(), accept_data_loss: false }));
    let lossy = Ask::Recover { seed: Some("b".into()), accept_data_loss: true, replicas: None };
    assert_eq!(judge(lossy), direct(Directive::Seed { member: "b".into(), accept_data_loss: true }));
    let count = Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(1) };
    assert_eq!(judge(count), Ok(Granted::Restore(1)));
    let both = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(judge(Ask::Fence { members: both.clone() }), Ok(Granted::Fence(both)));
    assert_eq!(judge(forget()), direct(Directive::Forget { members: vec!["b".into()] }));
    let rejoin = Ask::Rejoin { member: "b".into(), discard: true };
    assert_eq!(judge(rejoin), direct(Directive::Rejoin { member: "b".into() }));
}

#[test]
fn a_switchover_is_from_the_present_primary_and_has_two_minutes() {
    for to in [None, Some("b".to_owned())] {
        let directive = Directive::Switchover { to: to.clone(), from: "a".into(), deadline: at(NOW + 120) };
        assert_eq!(judge(Ask::Switchover { to }), Ok(Granted::Direct(directive)));
    }
    let nowhere = request(Ask::Switchover { to: None }).judge(&circumstances(), None);
    assert_eq!(nowhere, Err(RequestRefusal::NoPrimary));
}

#[test]
fn what_asks_for_nothing_or_for_two_things_is_refused() {
    let recover = |seed: Option<&str>, accept_data_loss, replicas| Ask::Recover {
        seed: seed.map(str::to_owned),
        accept_data_loss,
        replicas,
    };
    let incomplete = [
        recover(None, false, None),
        recover(None, true, None),
        recover(None, false, Some(0)),
        recover(None, true, Some(2)),
        recover(Some("a"), false, Some(2)),
        recover(Some("a"), true, Some(2)),
        Ask::Fence { members: vec![] },
        Ask::Rejoin { member: "a".into(), discard: false },
    ];
    for ask in incomplete {
        assert_eq!(judge(ask.clone()), Err(RequestRefusal::Incomplete), "{ask:?}");
    }
}

#[test]
fn another_cluster_of_the_same_name_is_not_meant() {
    let other = Circumstances { cluster_uid: "v", ..circumstances() };
    assert_eq!(request(forget()).judge(&other, None), Err(RequestRefusal::OtherCluster("u".into())));
}

#[test]
fn who_has_not_looked_yet_does_not_say_that_there_is_no_such_member() {
    let too_early = Circumstances { members: None, ..circumstances() };
    assert_eq!(request(forget()).judge(&too_early, None), Err(RequestRefusal::NotLookedYet));
}

#[test]
fn nothing_is_granted_while_clustering_is_stopped() {
    let stopped = Circumstances { clustering_stopped: true, members: None, ..circumstances() };
    assert_eq!(request(forget()).judge(&stopped, None), Err(RequestRefusal::ClusteringStopped));
}

#[test]
fn an_edited_spec_voids_a_request() {
    for generation in [3, 5] {
        let edited = Circumstances { generation, ..circumstances() };
        let refusal = RequestRefusal::OtherGeneration { asked: 4, now: generation };
        assert_eq!(request(forget()).judge(&edited, None), Err(refusal));
    }
}

#[test]
fn a_request_is_good_until_just_before_it_expires() {
    let judged = |seconds| {
        let now = Circumstances { now: at(seconds), ..circumstances() };
        request(forget()).judge(&now, None)
    };
    assert!(judged(NOW + 599).is_ok());
    let expired = Err(RequestRefusal::Expired(at(NOW + 600)));
    assert_eq!(judged(NOW + 600), expired);
    assert_eq!(judged(NOW + 601), expired);
}

#[test]
fn a_request_that_would_be_good_for_longer_than_clocks_differ_is_refused() {
    let lasting = |seconds| {
        let expires = at(NOW + seconds);
        Request { expires, ..request(forget()) }.judge(&circumstances(), None)
    };
    assert!(lasting(660).is_ok(), "ten minutes, and a minute for the clocks");
    assert_eq!(lasting(661), Err(RequestRefusal::TooLong(at(NOW + 661))));
}

#[test]
fn recover_and_fence_hold_only_for_the_recovery_that_was_seen() {
    let judged = |ask: Ask, seen: Option<&str>, now: Option<&str>| {
        let asked = Request { digest: seen.map(str::to_owned), ..request(ask) };
        asked.judge(&Circumstances { digest: now, ..circumstances() }, Some("a")).is_ok()
    };
    let count = Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(2) };
    for ask in [seed("a"), count, Ask::Fence { members: vec!["a".into()] }] {
        assert!(judged(ask.clone(), Some("d"), Some("d")));
        assert!(judged(ask.clone(), None, None), "nothing was being recovered, then or now");
        for (seen, now) in [(Some("d"), Some("e")), (None, Some("d")), (Some("d"), None)] {
            let asked = Request { digest: seen.map(str::to_owned), ..request(ask.clone()) };
            let judged = asked.judge(&Circumstances { digest: now, ..circumstances() }, Some("a"));
            assert_eq!(judged, Err(RequestRefusal::OtherRecovery), "{ask:?} {seen:?} {now:?}");
        }
    }
    let rejoin = Ask::Rejoin { member: "b".into(), discard: true };
    for ask in [forget(), rejoin, Ask::Switchover { to: None }] {
        assert!(judged(ask, Some("d"), Some("e")), "says nothing of a recovery");
    }
}

#[test]
fn a_member_that_there_is_not_is_refused_by_its_name() {
    let stranger = || "x".to_owned();
    let asks = [
        seed("x"),
        Ask::Switchover { to: Some(stranger()) },
        Ask::Fence { members: vec!["a".into(), stranger()] },
        Ask::Forget { members: vec![stranger()] },
        Ask::Rejoin { member: stranger(), discard: true },
    ];
    for ask in asks {
        assert_eq!(judge(ask.clone()), Err(RequestRefusal::NoSuchMember("x".into())), "{ask:?}");
    }
}

#[test]
fn the_first_thing_that_is_wrong_is_what_a_person_is_told() {
    let asked = Request { digest: None, expires: at(NOW), ..request(seed("x")) };
    let mut now =
        Circumstances { cluster_uid: "v", generation: 9, clustering_stopped: true, ..circumstances() };
    let mut told = Vec::new();
    told.push(asked.judge(&now, None));
    now.cluster_uid = "u";
    told.push(asked.judge(&now, None));
    now.clustering_stopped = false;
    told.push(asked.judge(&now, None));
    now.generation = 4;
    told.push(asked.judge(&now, None));
    now.now = at(NOW - 1);
    told.push(asked.judge(&now, None));
    now.digest = None;
    told.push(asked.judge(&now, None));
    let expected = [
        RequestRefusal::OtherCluster("u".into()),
        RequestRefusal::ClusteringStopped,
        RequestRefusal::OtherGeneration { asked: 4, now: 9 },
        RequestRefusal::Expired(at(NOW)),
        RequestRefusal::OtherRecovery,
        RequestRefusal::NoSuchMember("x".into()),
    ];
    assert_eq!(told, expected.map(Err));
}

#[test]
fn an_annotation_reads_back_as_it_is_written() {
    let asks = [
        seed("a"),
        Ask::Recover { seed: None, accept_data_loss: false, replicas: Some(2) },
        Ask::Switchover { to: None },
        Ask::Switchover { to: Some("b".into()) },
        Ask::Fence { members: vec!["a".into(), "b".into()] },
        forget(),
        Ask::Rejoin { member: "b".into(), discard: true },
    ];
    for ask in asks {
        let asked = request(ask);
        assert_eq!(parse(&serde_json::to_string(&asked).unwrap()), Ok(asked));
    }
}

#[test]
fn the_annotation_has_the_words_of_the_command_line() {
    let written = json!({
        "id": "r1", "clusterUid": "u", "generation": 4, "expires": "1970-01-12T13:56:40Z", "digest": "d",
        "action": "recover", "seed": "a", "acceptDataLoss": true,
    });
    let asked = Ask::Recover { seed: Some("a".into()), accept_data_loss: true, replicas: None };
    assert_eq!(parse(&written.to_string()), Ok(request(asked)));
    let short = json!({
        "id": "r1", "clusterUid": "u", "generation": 4, "expires": "1970-01-12T13:56:40Z",
        "action": "switchover",
    });
    let bare = Request { digest: None, ..request(Ask::Switchover { to: None }) };
    assert_eq!(parse(&short.to_string()), Ok(bare));
}

#[test]
fn an_annotation_that_cannot_be_read_is_refused_and_so_is_a_very_long_one() {
    let malformed = |text: &str| matches!(parse(text), Err(RequestRefusal::Malformed(_)));
    assert!(malformed("") && malformed("{}") && malformed("recover"));
    let unknown = serde_json::to_string(&request(forget())).unwrap().replace("forget", "explode");
    assert!(malformed(&unknown));
    let padded = |bytes: usize| {
        let text = serde_json::to_string(&request(forget())).unwrap();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    assert_eq!(parse(&padded(MAX_REQUEST_BYTES)), Ok(request(forget())));
    assert!(malformed(&padded(MAX_REQUEST_BYTES + 1)));
}
