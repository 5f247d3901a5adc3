//! What all commands have in common: `-o json|yaml|wide`, an object that is not there, and an operator that does not run.

use serde_json::{Value, json};

use crate::servers::on_both;
use crate::stage::{Stage, cluster, condition};

/// A cluster with a member, as an operator would have written it.
fn prepare(stage: &Stage) {
    stage.cluster("orders", 1);
    stage.member("orders", 0);
    let ready = json!({"observedGeneration": 1, "conditions": [condition("Ready", "True", "AsDesired", 1)]});
    stage.status("rcl", "orders", &ready);
    stage.status("mbr", "orders-a-0", &ready);
}

/// Runs a command, with a manifest where it reads one.
fn run(stage: &Stage, words: &str) -> crate::stage::Said {
    let manifest = cluster("orders", &stage.namespace, 1).to_string();
    if words.contains(" -f -") { stage.muster_with(words, &manifest) } else { stage.muster(words) }
}

#[test]
fn every_command_that_shows_something_shows_it_to_programs_too() {
    on_both("forms", |stage| {
        prepare(stage);
        stage.lease(0);
        // What is in it, by a path that programs would use; and whether the answer may be no.
        let commands = [
            ("status orders", "/cluster/metadata/name", json!("orders")),
            ("status", "/0/metadata/name", json!("orders")),
            ("tree orders", "/0/name", json!("orders")),
            ("wait orders --timeout=5s", "/metadata/name", json!("orders")),
            ("plan orders", "/cluster", json!("orders")),
            ("plan -f -", "/cluster", json!("orders")),
            ("validate -f - --offline", "/0/name", json!("orders")),
            ("disable orders orders-a-0", "/spec/desiredState", json!("Disabled")),
            ("enable orders orders-a-0", "/metadata/name", json!("orders-a-0")),
            ("stop reconciliation orders", "/metadata/name", json!("orders")),
            ("start reconciliation orders", "/metadata/name", json!("orders")),
        ];
        for (words, path, expected) in commands {
            let said = run(stage, &format!("{words} -o json"));
            let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| {
                panic!("{words}: {error}: {said:?}");
            });
            assert_eq!(value.pointer(path), Some(&expected), "{words}: {value:#}");
            let code = said.code;
            let said = run(stage, &format!("{words} -o yaml"));
            let value: Value = serde_yaml_ng::from_str(&said.out).unwrap();
            assert_eq!((value.pointer(path), said.code), (Some(&expected), code), "{words}: {value:#}");
            let said = run(stage, &format!("{words} -o wide"));
            assert_eq!(said.code, code, "{words}: {said:?}");
            assert!(said.out.contains("orders") && !said.out.starts_with(['{', '[']), "{words}: {said:?}");
        }
        stage.muster("status orders -o table").failed(2, &["'table'", "json, yaml, wide"]);
    });
}

#[test]
fn the_outcome_of_a_request_is_shown_to_programs_too() {
    on_both("outcomes", |stage| {
        prepare(stage);
        stage.lease(0);
        for (form, result, code) in [("json", "Done", 0), ("yaml", "Refused", 4), ("wide", "Done", 0)] {
            let going = stage.begin(&format!("switchover orders -o {form} --timeout=90s"));
            let request = stage.until("rcl", "orders", |seen| {
                let text = seen["metadata"]["annotations"]["muster.dev/request"].as_str()?;
                serde_json::from_str::<Value>(text).ok()
            });
            let last =
                json!({"id": request["id"], "action": "switchover", "result": result, "message": "so"});
            stage.status("rcl", "orders", &json!({"lastRequest": last}));
            stage.patch("rcl", "orders", &json!({"metadata": {"annotations": {"muster.dev/request": null}}}));
            let said = going.end();
            assert_eq!(said.code, Some(code), "{said:?}");
            if form == "wide" {
                assert_eq!(said.out, "switchover done: so\n");
            } else {
                let value: Value = serde_yaml_ng::from_str(&said.out).unwrap();
                assert_eq!((&value["id"], &value["result"]), (&request["id"], &json!(result)), "{said:?}");
                assert_eq!(said.out.starts_with('{'), form == "json", "{said:?}");
            }
        }
    });
}

#[test]
fn every_command_names_what_is_not_there() {
    on_both("nobody", |stage| {
        for words in [
            "stop clustering nobody",
            "start clustering nobody",
            "stop reconciliation nobody",
            "start reconciliation nobody",
            "status nobody",
            "tree nobody",
            "wait nobody --timeout=1s",
            "plan nobody",
            "enable nobody nobody-a-0",
            "disable nobody nobody-a-0",
            "recover nobody --seed nobody-a-0 --yes",
            "recover nobody --replicas 1 --yes",
            "switchover nobody",
            "fence nobody nobody-a-0 --yes",
            "forget nobody nobody-a-0 --yes",
            "rejoin nobody nobody-a-0 --discard --yes",
        ] {
            let said = stage.muster(words).failed(1, &["ReplicatedCluster \"nobody\"", "does not exist"]);
            assert_eq!(said.out, "", "{words}");
        }
        stage.cluster("orders", 1);
        stage.member("orders", 0);
        for words in [
            "enable orders orders-a-9",
            "disable orders orders-a-9",
            "recover orders --seed orders-a-9 --yes",
            "switchover orders --to orders-a-9",
            "fence orders orders-a-9 --yes",
            "rejoin orders orders-a-9 --discard --yes",
        ] {
            stage.muster(words).failed(1, &["Member \"orders-a-9\"", "ReplicatedCluster \"orders\""]);
        }
        let annotations = stage.get("rcl", "orders")["metadata"]["annotations"].clone();
        assert_eq!(annotations["muster.dev/request"], Value::Null, "nothing was asked for");
        stage.muster("completion tcsh").failed(2, &["tcsh"]);
    });
}

#[test]
fn every_command_that_needs_an_operator_says_when_none_runs() {
    on_both("alone", |stage| {
        prepare(stage);
        // What is waited for does not come.
        for words in [
            "stop clustering orders --wait --timeout=1s",
            "start clustering orders --wait --timeout=1s",
            "disable orders orders-a-0 --wait --timeout=1s",
            "enable orders orders-a-0 --wait --timeout=1s",
            "wait orders --for=condition=Healthy --timeout=1s",
        ] {
            stage.muster(words).failed(3, &["operator not running"]);
        }
        // What is asked for waits, and is warned of.
        let warned = |words: &str| {
            let said = stage.muster(&format!("{words} --yes --no-wait")).succeeded();
            assert!(said.err.contains("warning: operator not running"), "{words}: {said:?}");
            take_back(stage);
        };
        for words in [
            "switchover orders",
            "recover orders --seed orders-a-0",
            "recover orders --replicas 1",
            "fence orders orders-a-0",
            "forget orders orders-a-0",
            "rejoin orders orders-a-0 --discard",
        ] {
            warned(words);
        }
        // One that has not been heard of for long is as good as none.
        stage.lease(3_000);
        stage.muster("status orders").succeeded().says(&["operator not running"]);
        stage.muster("wait orders --for=condition=Healthy --timeout=1s").failed(3, &["operator not running"]);
        stage.muster("stop clustering orders --wait --timeout=1s").failed(3, &["operator not running"]);
        stage.muster("start clustering orders").succeeded();
        warned("fence orders orders-a-0");
    });
}

/// Takes back what was asked for.
fn take_back(stage: &Stage) {
    stage.patch("rcl", "orders", &json!({"metadata": {"annotations": {"muster.dev/request": null}}}));
}
