//! Installing the CRDs as users do, and asking for them.

use std::process::Output;

use crate::server::installed;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn real_client_side_apply_installs_all_three_without_a_warning() {
    let installed = installed();
    let applied = succeeded(&installed.applied);
    assert_eq!(applied.lines().count(), 3, "{applied}");
    assert_eq!(text(&installed.applied.stderr), "", "a warning, such as an unrecognized format");
    let established = succeeded(&installed.established);
    assert_eq!(established.matches("condition met").count(), 3, "{established}");
}

#[test]
fn real_explain_describes_each_field_of_a_threshold() {
    let explained = succeeded(&installed().plane.kubectl(&["explain", "rcl.spec.pools.threshold"]).unwrap());
    let words = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    let fields = [
        ("nodes", "Exactly this many members. 0 in every pool parks the cluster"),
        ("minNodes", "At least this many members."),
        ("maxNodes", "At most this many members."),
        ("freeStorageMin", "Members are added while the pool's free storage is below this"),
        ("freeStorageMax", "Members are removed while the pool's free storage is above this"),
    ];
    for (field, description) in fields {
        let at =
            words.find(&format!(" {field} <")).unwrap_or_else(|| panic!("{field} is not in {explained}"));
        assert!(words[at..].contains(description), "{field}: {explained}");
    }
}

#[test]
fn real_r4_7_short_names_the_category_and_the_columns_are_served() {
    let plane = installed().plane;
    let resources =
        succeeded(&plane.kubectl(&["api-resources", "--categories=muster", "--no-headers"]).unwrap());
    for short in ["rcl", "mbr", "eng"] {
        assert!(resources.split_whitespace().any(|word| word == short), "{short} is not in {resources}");
    }
    // Through the server's own table, because kubectl prints no headings for an empty list.
    let crd =
        succeeded(&plane.kubectl(&["get", "crd", "replicatedclusters.muster.dev", "-o", COLUMNS]).unwrap());
    assert_eq!(
        crd.trim(),
        "Phase,Ready,Available,Healthy,Primary,Members,Synced Replicas,Errant Replicas,Clustering Active,\
         Reconcile Active,Last Backup,Age,Engine,Free,Reason,"
    );
}

const COLUMNS: &str = "jsonpath={range .spec.versions[0].additionalPrinterColumns[*]}{.name}{','}{end}";

#[test]
fn real_r2_9_members_are_selected_by_cluster_and_pool() {
    let plane = installed().plane;
    let selector = "--field-selector=spec.clusterName=orders,spec.pool=a";
    let output = plane.kubectl(&["get", "mbr", "-n", "nowhere", selector]).unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let unknown = plane.kubectl(&["get", "mbr", "--field-selector=spec.zone=a"]).unwrap();
    assert!(text(&unknown.stderr).contains("field label not supported"), "{}", text(&unknown.stderr));
}
