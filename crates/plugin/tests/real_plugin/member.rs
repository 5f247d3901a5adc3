//! `enable` and `disable` (R2.5).

use serde_json::json;

use crate::servers::on_both;

#[test]
fn r2_5_a_member_is_disabled_and_enabled() {
    on_both("member", |stage| {
        stage.cluster("orders", 1);
        stage.cluster("other", 1);
        stage.member("orders", 0);
        let state = || stage.get("mbr", "orders-a-0")["spec"]["desiredState"].clone();
        let said = stage.muster("disable orders orders-a-0").succeeded();
        assert_eq!(said.out, "member.muster.dev/orders-a-0 disabled\n");
        assert_eq!(state(), "Disabled");
        stage.muster("disable orders orders-a-0").succeeded().says(&["was disabled already"]);

        let mut enable = stage.begin("enable orders orders-a-0 --wait --timeout=90s");
        let generation = stage.until("mbr", "orders-a-0", |member| {
            (member["spec"]["desiredState"] == "Enabled").then(|| member["metadata"]["generation"].clone())
        });
        stage.status("mbr", "orders-a-0", &json!({"currentState": "Enabled", "observedGeneration": 1}));
        assert!(enable.goes_on(), "that is about an older generation");
        stage.status("mbr", "orders-a-0", &json!({"observedGeneration": generation}));
        enable.end().succeeded();

        stage.muster("enable orders orders-a-7").failed(1, &["Member \"orders-a-7\" of", "kubectl get mbr"]);
        stage
            .muster("enable other orders-a-0")
            .failed(1, &["Member \"orders-a-0\" of ReplicatedCluster \"other\""]);
    });
}
