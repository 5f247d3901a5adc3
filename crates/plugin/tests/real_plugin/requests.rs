//! `recover`, `switchover`, `fence`, `forget`, `rejoin`: asked for once, for what was seen, and followed to the outcome.

use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::Stage;

fn cluster(stage: &Stage) {
    stage.cluster("orders", 2);
    stage.member("orders", 0);
    stage.member("orders", 1);
    stage.lease(0);
    let recovery = json!({"state": "Blocked", "digest": "d1", "missing": ["orders-a-1"],
        "expected": ["orders-a-0", "orders-a-1"],
        "reported": [{"member": "orders-a-0", "sequence": 41, "term": "9.1", "empty": false}]});
    stage.status("rcl", "orders", &json!({"observedGeneration": 1, "recovery": recovery}));
}

/// Takes up the request, as the operator does: removes it first.
fn take(stage: &Stage) -> Value {
    let request = stage.until("rcl", "orders", |seen| {
        seen["metadata"]["annotations"]["muster.dev/request"].as_str().map(str::to_owned)
    });
    stage.patch("rcl", "orders", &json!({"metadata": {"annotations": {"muster.dev/request": null}}}));
    serde_json::from_str(&request).unwrap()
}

fn answer(stage: &Stage, request: &Value, result: &str) {
    let last = json!({"id": request["id"], "action": request["action"], "result": result, "message": "for a reason"});
    stage.status("rcl", "orders", &json!({"lastRequest": last}));
}

#[test]
fn a_switchover_is_asked_for_and_followed() {
    on_both("switchover", |stage| {
        cluster(stage);
        let mut going = stage.begin("switchover orders --to orders-a-1 --timeout=90s");
        let request = take(stage);
        let uid = stage.get("rcl", "orders")["metadata"]["uid"].clone();
        assert_eq!(request["action"], "switchover");
        assert_eq!(request["to"], "orders-a-1");
        assert_eq!((&request["clusterUid"], &request["generation"]), (&uid, &json!(1)));
        assert_eq!(request["digest"], Value::Null, "it asks for none");
        let expires: jiff::Timestamp = request["expires"].as_str().unwrap().parse().unwrap();
        let lives = expires.duration_since(jiff::Timestamp::now()).as_secs();
        assert!((540..=601).contains(&lives), "{lives}");
        answer(stage, &json!({"id": "another", "action": "switchover"}), "Done");
        answer(stage, &request, "Accepted");
        assert!(going.goes_on());
        answer(stage, &request, "Done");
        let said = going.end().succeeded();
        assert_eq!(said.out, "switchover done: for a reason\n");
        assert!(said.err.contains("is being carried out"), "{said:?}");
    });
}

#[test]
fn what_is_refused_or_fails_says_why_and_exits_with_4() {
    on_both("refused", |stage| {
        cluster(stage);
        for result in ["Refused", "Failed"] {
            let going = stage.begin("switchover orders --timeout=90s");
            let request = take(stage);
            answer(stage, &request, result);
            let words = format!("switchover {}: for a reason", result.to_lowercase());
            going.end().failed(4, &["ReplicatedCluster \"orders\"", &words]);
        }
    });
}

#[test]
fn what_can_lose_data_says_what_and_is_not_done_unasked() {
    on_both("losses", |stage| {
        cluster(stage);
        let asks = [
            ("recover orders --seed orders-a-0", "orders-a-0 ends at sequence 41 of term 9.1"),
            ("recover orders --seed orders-a-0 --accept-data-loss", "Not heard: orders-a-1"),
            ("recover orders --replicas 1", "recovers as soon as 1 members are there"),
            ("fence orders orders-a-1", "You vouch that orders-a-1 of orders run nowhere"),
            ("forget orders orders-a-1", "given up for good"),
            ("rejoin orders orders-a-1 --discard", "All that orders-a-1 of orders holds is discarded"),
        ];
        for (words, loss) in asks {
            stage.muster(words).failed(4, &[loss, "not done", "--yes"]);
        }
        let annotations = stage.get("rcl", "orders")["metadata"]["annotations"].clone();
        assert_eq!(annotations["muster.dev/request"], Value::Null);
        for (words, loss) in asks {
            let going = stage.begin(&format!("{words} --yes --timeout=90s"));
            let request = take(stage);
            let digest = if matches!(request["action"].as_str(), Some("recover" | "fence")) {
                json!("d1")
            } else {
                Value::Null
            };
            assert_eq!(request["digest"], digest, "{words}");
            answer(stage, &request, "Done");
            assert!(going.end().succeeded().err.contains(loss), "{words}");
        }
    });
}

#[test]
fn the_request_says_exactly_what_was_asked() {
    on_both("asked", |stage| {
        cluster(stage);
        let asks = [
            ("recover orders --seed orders-a-0", json!({"seed": "orders-a-0", "acceptDataLoss": false})),
            ("recover orders --replicas 1", json!({"replicas": 1, "acceptDataLoss": false})),
            ("fence orders orders-a-0 orders-a-1", json!({"members": ["orders-a-0", "orders-a-1"]})),
            ("forget orders gone-long-ago", json!({"members": ["gone-long-ago"]})),
            ("rejoin orders orders-a-1 --discard", json!({"member": "orders-a-1", "discard": true})),
        ];
        for (words, expected) in asks {
            stage.muster(&format!("{words} --yes --no-wait")).succeeded();
            let request = take(stage);
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(&request[key], value, "{words}: {request}");
            }
        }
    });
}

#[test]
fn nothing_is_asked_over_a_request_that_waits_or_where_it_makes_no_sense() {
    on_both("pending", |stage| {
        cluster(stage);
        stage.muster("switchover orders --no-wait").succeeded();
        let first = stage.get("rcl", "orders")["metadata"]["annotations"]["muster.dev/request"].clone();
        let said = stage.muster("fence orders orders-a-1 --yes");
        said.failed(4, &["a request waits for ReplicatedCluster \"orders\"", "muster.dev/request-"]);
        assert_eq!(stage.get("rcl", "orders")["metadata"]["annotations"]["muster.dev/request"], first);
        take(stage);

        stage
            .muster("switchover orders --to orders-a-9")
            .failed(1, &["Member \"orders-a-9\"", "orders-a-0, orders-a-1"]);
        stage.muster("stop clustering orders").succeeded();
        stage.muster("switchover orders").failed(4, &["is stopped", "kubectl muster start clustering -n"]);
        stage.muster("start clustering orders").succeeded();
        stage.muster("rejoin orders orders-a-1").failed(2, &["--discard"]);
        stage.muster("recover orders --seed x --replicas 1").failed(2, &["cannot be used with"]);
    });
}

#[test]
fn time_that_is_up_says_how_far_it_came() {
    on_both("late", |stage| {
        cluster(stage);
        stage.lease(3000);
        let said = stage.muster("switchover orders --timeout=1s");
        said.failed(3, &["nobody took up request", "operator not running", "kubectl annotate rcl"]);
        take(stage);
        let going = stage.begin("switchover orders --timeout=10s");
        let request = take(stage);
        answer(stage, &request, "Accepted");
        going.end().failed(3, &["is still being carried out after 10s"]);
    });
}
