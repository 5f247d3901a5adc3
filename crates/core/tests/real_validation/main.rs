//! Validation in Rust and a real kube-apiserver give the same verdict, on random specs and on random changes
//! of them.
//!
//! Names start with `real_`, so that `--skip real_` leaves them out. Cases come from fixed seeds: a failure
//! shows its manifest, and comes again.

#![cfg(test)]

mod chance;
mod mutate;
mod nodes;
mod server;

mod real_validation {
    use std::collections::BTreeMap;

    use muster_api::rules;
    use muster_core::validation::schema::refusals;
    use serde_json::Value;

    use crate::chance::Chance;
    use crate::mutate::Mutator;
    use crate::server::{Server, Verdict};

    /// How many manifests are tried for each kind, new and changed.
    const CREATED: u64 = 500;
    const CHANGED: u64 = 300;

    const CLUSTERS: [&str; 2] = [
        include_str!("../../../api/tests/manifests/cluster-galera.yaml"),
        include_str!("../../../api/tests/manifests/cluster-small.yaml"),
    ];
    const MEMBERS: [&str; 3] = [
        include_str!("../../../api/tests/manifests/member-pool.yaml"),
        include_str!("../../../api/tests/manifests/member-external.yaml"),
        include_str!("../../../api/tests/manifests/member-devices.yaml"),
    ];
    const ENGINES: [&str; 1] = [include_str!("../../../api/tests/manifests/engine-ledger.yaml")];

    fn read(manifest: &str) -> Value {
        serde_yaml_ng::from_str(manifest).unwrap()
    }

    /// Random manifests made from valid ones by one to three changes.
    fn created(kind: &str, bases: &[&str], number: u64) -> Vec<Value> {
        let mutator = Mutator::of(kind);
        (0..number)
            .map(|seed| {
                let mut chance = Chance::new(seed);
                let mut object = read(chance.pick(bases));
                if chance.one_in(6) {
                    object["metadata"]["name"] = chance.name().into();
                }
                for _ in 0..=chance.below(3) {
                    mutator.change(&mut object, &mut chance);
                }
                object
            })
            .collect()
    }

    /// Random changes of one of so many valid manifests.
    fn changed(kind: &str, old: &Value, index: usize, bases: usize) -> Vec<Value> {
        let mutator = Mutator::of(kind);
        (0..CHANGED / bases as u64)
            .map(|seed| {
                let mut chance = Chance::new(10_000 + seed * 8 + index as u64);
                let mut object = old.clone();
                for _ in 0..=chance.below(2) {
                    mutator.change(&mut object, &mut chance);
                }
                object
            })
            .collect()
    }

    /// The verdicts on both sides, case by case; how many were accepted.
    async fn compare(server: &Server, kind: &str, cases: Vec<(Value, Option<Value>)>) -> usize {
        let mut accepted = 0;
        for some in cases.chunks(16) {
            let verdicts = server.ask(some).await;
            for ((object, old), theirs) in some.iter().zip(verdicts) {
                let ours = refusals(kind, object, old.as_ref());
                let agree = ours.is_empty() == (theirs == Verdict::Accepted);
                let shown = serde_yaml_ng::to_string(object).unwrap();
                assert!(agree, "{shown}\nhere: {ours:?}\nthere: {theirs:?}\nold: {old:?}");
                accepted += usize::from(ours.is_empty());
            }
        }
        accepted
    }

    async fn same_verdict(kind: &str, bases: &[&str]) {
        let server = Server::of(kind).await;
        let cases: Vec<_> = created(kind, bases, CREATED).into_iter().map(|object| (object, None)).collect();
        let total = cases.len();
        let accepted = compare(&server, kind, cases).await;
        assert!(
            (total / 6..total * 5 / 6).contains(&accepted),
            "{accepted} of {total} accepted: a poor mixture"
        );

        let mut changes = Vec::new();
        for (index, base) in bases.iter().enumerate() {
            let old = server.store(&read(base)).await;
            let new = changed(kind, &old, index, bases.len());
            changes.extend(new.into_iter().map(|object| (object, Some(old.clone()))));
        }
        let total = changes.len();
        let accepted = compare(&server, kind, changes).await;
        assert!((total / 6..total * 5 / 6).contains(&accepted), "{accepted} of {total} changes accepted");
    }

    #[tokio::test]
    async fn real_r0_7_clusters_get_the_same_verdict() {
        same_verdict("ReplicatedCluster", &CLUSTERS).await;
    }

    #[tokio::test]
    async fn real_members_get_the_same_verdict() {
        same_verdict("Member", &MEMBERS).await;
    }

    #[tokio::test]
    async fn real_engines_get_the_same_verdict() {
        same_verdict("ReplicationEngine", &ENGINES).await;
    }

    /// Random manifests would be worth little if there were rules that none of them breaks.
    #[test]
    fn the_manifests_break_every_rule() {
        let mut broken: BTreeMap<&str, usize> = rules::ALL.iter().map(|rule| (rule.message, 0)).collect();
        for (kind, bases) in [
            ("ReplicatedCluster", CLUSTERS.as_slice()),
            ("Member", MEMBERS.as_slice()),
            ("ReplicationEngine", ENGINES.as_slice()),
        ] {
            let mut note = |object: &Value, old: Option<&Value>| {
                for violation in refusals(kind, object, old) {
                    if let Some(count) = broken.get_mut(violation.message.as_str()) {
                        *count += 1;
                    }
                }
            };
            for object in &created(kind, bases, 4 * CREATED) {
                note(object, None);
            }
            for (index, base) in bases.iter().enumerate() {
                let old = read(base);
                for object in &changed(kind, &old, index, bases.len()) {
                    note(object, Some(&old));
                }
            }
        }
        let never: Vec<&&str> =
            broken.iter().filter(|(_, count)| **count == 0).map(|(message, _)| message).collect();
        assert!(never.is_empty(), "never broken: {never:#?}");
    }
}
