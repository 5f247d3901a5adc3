//! Drift says that nothing differs exactly when a further apply writes nothing: seen on a real kube-apiserver and on the
//! embedded one, over random edits by others and random changes of what is wanted.
//!
//! Cases come from fixed seeds: a failure shows its seed, and comes again.

#![cfg(test)]

#[allow(dead_code)] // shared with other tests, which use more of it
#[path = "../real_validation/chance.rs"]
mod chance;
mod edits;
#[path = "../build/fixtures.rs"]
mod fixtures;
#[allow(dead_code)] // shared with other tests, which use more of it
#[path = "../real_build/servers.rs"]
mod servers;
mod shapes;

mod real_drift {
    use muster_api::names::FIELD_MANAGER;
    use muster_core::drift::differs;
    use muster_core::drift::shapes::{MERGED_LISTS, WHOLE_OBJECTS};
    use serde_json::{Value, json};

    use crate::chance::Chance;
    use crate::servers::{Server, version};
    use crate::{edits, fixtures};

    /// How many steps are made with each object.
    const STEPS: u64 = 50;

    /// What was seen.
    #[derive(Debug, Default)]
    struct Seen {
        still: usize,
        moved: usize,
        refused: usize,
    }

    /// One object, what is wanted of it, and what was last taken.
    struct Case<'a> {
        server: &'a Server,
        wanted: Value,
        taken: Value,
        shown: String,
    }

    impl Case<'_> {
        /// Someone else edits the live object, or puts back what we want; or we want something else.
        async fn disturb(&mut self, chance: &mut Chance) {
            let live = self.server.get(&self.wanted).await;
            let mut edited = live.clone();
            match chance.below(9) {
                8 => {
                    // Another manager applies some of the same, and shares what is equal. Not quantities: one that we want in
                    // another form than the server's would be taken from the other. We build the server's form.
                    let mut theirs = self.taken.clone();
                    edits::without_quantities(&mut theirs);
                    edits::change(&mut theirs, chance);
                    drop(self.server.apply_as(&theirs, "another").await);
                    return;
                }
                0..=3 => edits::change(&mut self.wanted, chance),
                4..=6 => edits::change(&mut edited, chance),
                _ => {
                    // Changed and put back: the values are ours, and no longer owned by us.
                    edits::change(&mut edited, chance);
                    let there = edits::patch(&live, &edited);
                    if let Ok(changed) = self.server.merge(&self.wanted, &there, "other").await {
                        let mut back = live.clone();
                        back["metadata"]["resourceVersion"] = version(&changed).into();
                        back["metadata"]["managedFields"] = changed["metadata"]["managedFields"].clone();
                        back["metadata"]["generation"] = changed["metadata"]["generation"].clone();
                        let back = edits::patch(&changed, &back);
                        drop(self.server.merge(&self.wanted, &back, "other").await);
                    }
                    return;
                }
            }
            let patch = edits::patch(&live, &edited);
            drop(self.server.merge(&self.wanted, &patch, "other").await);
        }

        /// What is said now is what an apply then does.
        async fn check(&mut self, seen: &mut Seen) {
            let live = self.server.get(&self.wanted).await;
            let said = differs(&self.wanted, &live, FIELD_MANAGER);
            let Ok(after) = self.server.apply(&self.wanted).await else {
                seen.refused += 1;
                let shown = format!("{}: refused\n{}\n{live}", self.shown, self.wanted);
                assert!(said.is_some(), "{shown}");
                self.wanted = self.taken.clone();
                return;
            };
            let moved = version(&live) != version(&after);
            *(if moved { &mut seen.moved } else { &mut seen.still }) += 1;
            // Where we want what an absent field has (0, false, an empty text), the server may put its default in place. We build
            // no such fields; then it is enough that no difference is overlooked.
            let nothing = said.as_ref().is_some_and(|said| said.wanted.as_ref().is_some_and(is_nothing));
            // Beside what another manager owns as a whole, a real server may write anew what is the same in every field.
            let unseen = said.is_none() && bare(&live) == bare(&after);
            assert!(
                said.is_some() == moved || nothing || unseen,
                "{}: {said:?}\nwanted {}\nbefore {live}\nafter  {after}",
                self.shown,
                self.wanted
            );
            self.taken = self.wanted.clone();
        }
    }

    /// The object without its version.
    fn bare(object: &Value) -> Value {
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = Value::Null;
        object
    }

    fn is_nothing(value: &Value) -> bool {
        [json!(0), json!(false), json!(""), json!([]), json!({})].contains(value)
    }

    async fn agree(server: &Server) {
        for member in [fixtures::by_hand(), fixtures::external()] {
            server.create(&serde_json::to_value(member).unwrap()).await.unwrap();
        }
        let mut seen = Seen::default();
        for (number, built) in fixtures::all().into_iter().enumerate() {
            let apply = || server.apply(&built.object);
            apply().await.unwrap();
            apply().await.unwrap(); // a real server stores a claim anew once
            for step in 0..STEPS {
                let mut chance = Chance::new(number as u64 * 1000 + step);
                let mut case = Case {
                    server,
                    wanted: built.object.clone(),
                    taken: built.object.clone(),
                    shown: format!("{} on {}, step {step}", built.name, server.what),
                };
                case.check(&mut seen).await;
                for _ in 0..=chance.below(2) {
                    case.disturb(&mut chance).await;
                }
                case.check(&mut seen).await;
            }
        }
        println!("{}: {seen:?}", server.what);
        assert!(seen.still > 200 && seen.moved > 200, "a poor mixture: {seen:?}");
    }

    #[tokio::test]
    async fn real_says_what_the_real_server_does() {
        agree(&Server::real("drift").await).await;
    }

    #[tokio::test]
    async fn real_says_what_the_embedded_server_does() {
        agree(&Server::embedded("drift").await).await;
    }

    #[test]
    fn real_shapes_are_as_the_server_describes_them() {
        let plane = muster_test_control_plane::ControlPlane::shared().unwrap();
        let said = plane.kubectl(&["get", "--raw", "/openapi/v2"]).unwrap();
        let shapes = crate::shapes::Shapes::of(&serde_json::from_slice(&said.stdout).unwrap());
        assert_eq!(shapes.whole_objects, WHOLE_OBJECTS.map(str::to_owned).into());
        assert_eq!(shapes.merged_lists, MERGED_LISTS.map(str::to_owned).into());
        assert!(shapes.whole_objects.is_disjoint(&shapes.merged_objects), "{shapes:#?}");
        assert!(shapes.merged_lists.is_disjoint(&shapes.whole_lists), "{shapes:#?}");
    }
}
