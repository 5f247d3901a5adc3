//! The configuration: read back as it was written, and named after all that it holds.

use super::super::BuildError;
use super::*;
use muster_api::engine::ReplicationEngineSpec;

fn name_with(change: impl FnOnce(&mut ReplicatedCluster, &mut ReplicationEngineSpec)) -> String {
    let (mut cluster, mut engine) = (cluster(), engine().spec);
    change(&mut cluster, &mut engine);
    MemberConfig::of(&cluster, &engine, AGENT_IMAGE).unwrap().name("orders").unwrap()
}

#[test]
fn it_reads_back_as_it_was_written() {
    let config = config();
    let written = config.config_map(&cluster()).unwrap();
    assert_eq!(MemberConfig::read(&written).unwrap(), config);
    assert_eq!(written.metadata.name, Some(config.name("orders").unwrap()));
    assert_eq!(written.immutable, Some(true));
}

#[test]
fn what_members_run_with_moves_its_name() {
    let before = name_with(|_, _| ());
    let moved = [
        name_with(|cluster, _| cluster.spec.engine.version = Some("0.9".into())),
        name_with(|cluster, _| drop(cluster.spec.engine.parameters.insert("batch_size".into(), "7".into()))),
        name_with(|cluster, _| cluster.spec.certificate_authority = Some(read(json!({"secretName": "ca"})))),
        name_with(|_, engine| drop(engine.files.insert("x".into(), String::new()))),
        name_with(|_, engine| engine.stall_timeout_seconds = 11),
        name_with(|_, engine| engine.actions.stop = None),
        name_with(|_, engine| engine.template.containers[0].env.clear()),
        name_with(|_, engine| engine.data_path = "/x".into()),
        name_with(|_, engine| engine.secrets.clear()),
    ];
    let different: std::collections::BTreeSet<_> = moved.iter().chain([&before]).collect();
    assert_eq!(different.len(), moved.len() + 1);
    let image = MemberConfig::of(&cluster(), &engine().spec, "other").unwrap().name("orders").unwrap();
    assert_ne!(image, before, "another agent");
}

#[test]
fn what_members_do_not_run_with_rolls_nobody() {
    let before = name_with(|_, _| ());
    let same = [
        name_with(|cluster, _| cluster.spec.engine.version = Some("1.0".into())),
        name_with(|cluster, _| cluster.spec.engine.parameters = [("batch_size".into(), "100".into())].into()),
        name_with(|cluster, _| cluster.spec.pools.clear()),
        name_with(|_, engine| engine.versions.truncate(1)),
        name_with(|_, engine| engine.drivers.clear()),
        name_with(|_, engine| engine.namespace_selector = None),
    ];
    for name in same {
        assert_eq!(name, before);
    }
}

#[test]
fn what_is_not_ours_is_not_read() {
    let written = config().config_map(&cluster()).unwrap();
    let mut changed = written.clone();
    changed.data.as_mut().unwrap().insert("files.start.sh".into(), "rm -rf /".into());
    let mut renamed = written.clone();
    renamed.metadata.name = Some("orders-000000000000".into());
    let mut emptied = written;
    emptied.data = None;
    for other in [changed, renamed, emptied] {
        assert!(matches!(MemberConfig::read(&other), Err(BuildError::NotAConfig { .. })));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut engine = engine().spec;
    for index in 0..80 {
        engine.files.insert(format!("f{index}"), "x".repeat(16_384));
    }
    let config = MemberConfig::of(&cluster(), &engine, AGENT_IMAGE).unwrap();
    assert!(matches!(config.config_map(&cluster()), Err(BuildError::TooLarge(_))));
    let mut cluster = cluster();
    cluster.spec.engine.version = Some("2".into());
    let config = MemberConfig::of(&cluster, &engine, AGENT_IMAGE);
    assert_eq!(config, Err(BuildError::NoVersion("2".into())));
}
