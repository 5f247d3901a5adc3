//! The same sequences on objects of the project's own kinds.

use serde_json::Value;

use crate::kinds::Kind;
use crate::random::Choices;
use crate::sequence::Writer;

fn read(path: &str) -> Value {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    serde_yaml_ng::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

async fn sequences(crd: &str, manifest: &str) {
    let kinds = Kind::of_crd(&read(&format!("deploy/crds/{crd}.yaml")));
    let base = read(&format!("crates/api/tests/manifests/{manifest}.yaml"));
    for seed in 1..=2 {
        let name = format!("{manifest}-{seed}");
        let mut writer =
            Writer { kind: &kinds[0], name, choices: Choices::new(seed), base: Some(base.clone()) };
        writer.run(&kinds, 40).await;
    }
}

#[tokio::test]
async fn real_clusters_are_owned_the_same() {
    sequences("replicatedclusters", "cluster-small").await;
}

#[tokio::test]
async fn real_members_are_owned_the_same() {
    sequences("members", "member-pool").await;
}

#[tokio::test]
async fn real_engines_are_owned_the_same() {
    sequences("replicationengines", "engine-ledger").await;
}
