//! Random writes with restarts between them: the store that is opened again is the one that was closed.

use std::collections::BTreeMap;

use muster_apiserver::store::{Expect, FIRST_REVISION, Revision, Store, WriteError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{TestDirectory, everything, key};

#[derive(Clone, Debug)]
enum Step {
    /// Writes upon what is there.
    Put(u8, u16),
    /// Writes upon something else.
    WrongPut(u8),
    Remove(u8),
    /// Several at once, so that they share a batch.
    Together(Vec<(u8, u16)>),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..6u8, any::<u16>()).prop_map(|(name, value)| Step::Put(name, value)),
        1 => (0..6u8).prop_map(Step::WrongPut),
        2 => (0..6u8).prop_map(Step::Remove),
        2 => prop::collection::vec((0..6u8, any::<u16>()), 1..12).prop_map(Step::Together),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..40)
}

#[derive(Default)]
struct Model {
    objects: BTreeMap<String, (Revision, u16)>,
    revision: Revision,
}

impl Model {
    fn expect(&self, name: &str) -> Expect {
        self.objects.get(name).map_or(Expect::Absent, |(revision, _)| Expect::At(*revision))
    }

    fn put(&mut self, name: &str, value: u16) -> Revision {
        self.revision += 1;
        self.objects.insert(name.to_owned(), (self.revision, value));
        self.revision
    }
}

fn object(name: &str, value: u16) -> Value {
    json!({"metadata": {"name": name}, "value": value})
}

async fn take(step: Step, store: &Store, model: &mut Model) {
    match step {
        Step::Put(name, value) => {
            let name = name.to_string();
            let stored = store.put(key(&name), object(&name, value), model.expect(&name)).await.unwrap();
            assert_eq!(stored.revision, model.put(&name, value));
        }
        Step::WrongPut(name) => {
            let name = name.to_string();
            let known = model.objects.contains_key(&name);
            let refused = store.put(key(&name), object(&name, 0), Expect::At(u64::MAX)).await.unwrap_err();
            assert_eq!(refused, if known { WriteError::Changed } else { WriteError::Gone });
        }
        Step::Remove(name) => {
            let name = name.to_string();
            if let Some((revision, value)) = model.objects.remove(&name) {
                model.revision += 1;
                let removed = store.remove(&key(&name), object(&name, value), revision).await.unwrap();
                assert_eq!(removed.revision, model.revision);
            }
        }
        Step::Together(writes) => together(writes, store, model).await,
        Step::Restart => {}
    }
}

/// All expect what is there now, so of each name the first write happens and the others are refused.
async fn together(writes: Vec<(u8, u16)>, store: &Store, model: &mut Model) {
    let writes = writes.into_iter().map(|(name, value)| {
        let name = name.to_string();
        let expect = model.expect(&name);
        async move { (store.put(key(&name), object(&name, value), expect).await, name, value) }
    });
    let results = futures::future::join_all(writes).await;
    let mut seen = std::collections::BTreeSet::new();
    for (result, name, value) in results {
        if seen.insert(name.clone()) {
            assert_eq!(result.unwrap().revision, model.put(&name, value));
        } else {
            assert!(matches!(result, Err(WriteError::Exists | WriteError::Changed)));
        }
    }
}

fn check(store: &Store, model: &Model) {
    let snapshot = store.list(&everything());
    let found: BTreeMap<String, (Revision, u16)> = snapshot
        .objects
        .iter()
        .map(|(key, stored)| {
            let object = stored.object.value();
            assert_eq!(object["metadata"]["resourceVersion"], stored.revision.to_string());
            let value = u16::try_from(object["value"].as_u64().unwrap()).unwrap();
            (key.name.clone(), (stored.revision, value))
        })
        .collect();
    assert_eq!((found, snapshot.revision), (model.objects.clone(), model.revision));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_store_that_is_opened_again_is_the_same(steps in steps()) {
        let directory = TestDirectory::new(false);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut store = Some(Store::open(directory.path()).unwrap());
        let mut model = Model { revision: FIRST_REVISION, ..Model::default() };
        for step in steps.into_iter().chain([Step::Restart]) {
            if matches!(step, Step::Restart) {
                drop(store.take());
                let opened = Store::open(directory.path()).unwrap();
                let before = model.revision - 1;
                prop_assert!(opened.changes_after(&everything(), before).is_err(), "the past is forgotten");
                prop_assert!(opened.changes_after(&everything(), model.revision).is_ok());
                store = Some(opened);
            }
            let store = store.as_ref().unwrap();
            runtime.block_on(take(step, store, &mut model));
            check(store, &model);
        }
    }
}
