//! What Services hold, kept from one allocation to the next: only Services that were written since are read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::kind::Given;
use crate::kind::workloads::held;
use crate::store::{ChangeKind, Document, Key, Revision, Scope, Store};

const SERVICES: &str = "/services";

/// What each Service holds, as of a revision.
#[derive(Debug, Default)]
pub(super) struct GivenOut {
    at: Revision,
    by_service: HashMap<Arc<Key>, Given>,
    addresses: Counted,
    ports: Counted,
}

/// How many hold a number.
type Counted = BTreeMap<u32, usize>;

impl GivenOut {
    /// Everything that is held now.
    pub(super) fn now(&mut self, store: &Store) -> Given {
        let scope = Scope { resource: Arc::from(SERVICES), namespace: None };
        if let Ok((changes, at)) = store.changes_after(&scope, self.at) {
            for change in changes {
                let object = (change.kind != ChangeKind::Deleted).then_some(&change.object);
                self.set(&change.key, object);
            }
            self.at = at;
        } else {
            // At first, and when too much has happened meanwhile.
            let all = store.list(&scope);
            *self = Self { at: all.revision, ..Self::default() };
            all.objects.iter().for_each(|(key, stored)| self.set(key, Some(&stored.object)));
        }
        Given {
            addresses: self.addresses.keys().copied().collect(),
            ports: self.ports.keys().copied().collect(),
        }
    }

    fn set(&mut self, key: &Arc<Key>, service: Option<&Document>) {
        if let Some(before) = self.by_service.remove(key) {
            before.addresses.iter().for_each(|number| forget(&mut self.addresses, *number));
            before.ports.iter().for_each(|number| forget(&mut self.ports, *number));
        }
        if let Some(service) = service {
            let now = held(&service.value());
            now.addresses.iter().for_each(|number| *self.addresses.entry(*number).or_default() += 1);
            now.ports.iter().for_each(|number| *self.ports.entry(*number).or_default() += 1);
            self.by_service.insert(key.clone(), now);
        }
    }
}

fn forget(counted: &mut Counted, number: u32) {
    if let Some(count) = counted.get_mut(&number) {
        *count -= 1;
        if *count == 0 {
            counted.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::store::{Expect, done};

    /// What a store holds, read from the beginning.
    fn afresh(store: &Store) -> Given {
        GivenOut::default().now(store)
    }

    fn write(store: &Store, name: &str, holds: Option<(u32, u32)>) {
        let key = Key::new(&Arc::from(SERVICES), "ns", name);
        let found = store.get(&key);
        let object = holds.map(|(address, port)| {
            json!({"metadata": {"name": name}, "spec": {
                "type": "NodePort", "clusterIPs": [format!("10.0.0.{address}")],
                "ports": [{"nodePort": 30000 + port}],
            }})
        });
        match (object, found) {
            (Some(object), found) => {
                let expect = found.map_or(Expect::Absent, |found| Expect::At(found.revision));
                done(store.put(key, object, expect)).unwrap();
            }
            (None, Some(found)) => {
                done(store.remove(&key, found.object.value(), found.revision)).unwrap();
            }
            (None, None) => {}
        }
    }

    fn at(last: u8) -> u32 {
        std::net::Ipv4Addr::new(10, 0, 0, last).into()
    }

    #[test]
    fn what_is_let_go_is_free_and_what_two_hold_stays_held() {
        let (store, mut kept) = (Store::new(), GivenOut::default());
        write(&store, "a", Some((7, 1)));
        write(&store, "b", Some((7, 2)));
        let held = kept.now(&store);
        assert_eq!((held.addresses, held.ports), ([at(7)].into(), [30001, 30002].into()));
        write(&store, "a", None);
        let held = kept.now(&store);
        assert_eq!((held.addresses, held.ports), ([at(7)].into(), [30002].into()));
        write(&store, "b", Some((8, 2)));
        assert_eq!(kept.now(&store).addresses, [at(8)].into());
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_is_read_afresh(
            writes in prop::collection::vec((0..4u8, prop::option::of((1..5u32, 0..4u32)), 0..4u8), 0..40),
        ) {
            let (store, mut kept) = (Store::new(), GivenOut::default());
            for (name, holds, then) in writes {
                write(&store, &format!("s{name}"), holds);
                match then {
                    0 => prop_assert_eq!(kept.now(&store), afresh(&store)),
                    1 => store.compact(0),
                    _ => {}
                }
            }
            prop_assert_eq!(kept.now(&store), afresh(&store));
        }
    }
}
