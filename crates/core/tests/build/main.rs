//! What is built of a few specs, as it stands in files beside this: a change of it is a change that rolls people's
//! members, and is to be seen. `MUSTER_GOLDEN=write` writes the files anew.

#![cfg(test)]

mod fixtures;

use std::collections::BTreeSet;
use std::path::PathBuf;

fn golden() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/build/golden"))
}

#[test]
fn what_is_built_is_what_the_files_say() {
    let write = std::env::var("MUSTER_GOLDEN").is_ok_and(|value| value == "write");
    let mut known = BTreeSet::new();
    for built in fixtures::all() {
        let file = golden().join(format!("{}.yaml", built.name));
        let text = serde_yaml_ng::to_string(&built.object).unwrap();
        if write {
            std::fs::create_dir_all(golden()).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        let mut pairs = text.lines().zip(expected.lines()).enumerate();
        if let Some((line, (built, said))) = pairs.find(|(_, (a, b))| a != b) {
            panic!("{}:{}: built {built:?}, the file says {said:?}", file.display(), line + 1);
        }
        assert_eq!(text.lines().count(), expected.lines().count(), "{}", file.display());
        assert!(known.insert(file), "{} is built twice", built.name);
    }
    for file in std::fs::read_dir(golden()).unwrap() {
        let file = file.unwrap().path();
        assert!(known.contains(&file), "{} is built no more", file.display());
    }
}

#[test]
fn r3_1_what_is_made_is_owned_except_what_belongs_to_the_data() {
    for built in fixtures::all() {
        let metadata = &built.object["metadata"];
        let owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<_> = owners.iter().map(|owner| owner["kind"].as_str().unwrap()).collect();
        let (kind, of_member) =
            (built.object["kind"].as_str().unwrap(), !metadata["labels"]["muster.dev/member"].is_null());
        let expected: &[&str] = match kind {
            "PersistentVolumeClaim" => &[],
            "Secret" if built.name.ends_with("-account") => &[],
            "Member" if !built.name.ends_with("-a-member") && !built.name.ends_with("-b-member") => &[],
            "StatefulSet" | "Secret" if of_member => &["Member"],
            _ => &["ReplicatedCluster"],
        };
        assert_eq!(kinds, expected, "{}", built.name);
        assert!(owners.iter().all(|owner| owner["controller"] == true), "{}", built.name);
    }
}
