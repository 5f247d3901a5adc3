//! The workload of a member: when there is one, and what the engine's template becomes in it.

use k8s_openapi::api::core::v1::Container;
use muster_api::member::External;

use super::super::BuildError;
use super::super::stateful_set::{Presence, of_member};
use super::*;

fn main_of(member: &Member, config: &MemberConfig) -> Container {
    let set = of_member(member, config, Presence::Running).unwrap();
    let pod = set.spec.unwrap().template.spec.unwrap();
    pod.containers.into_iter().find(|container| container.name == "main").unwrap()
}

#[test]
fn there_is_none_without_what_it_is_a_function_of() {
    let config = config();
    let refused = |change: fn(&mut Member)| {
        let mut member = wanted();
        change(&mut member);
        of_member(&member, &config, Presence::Running).unwrap_err()
    };
    let name = "orders-a-0".to_owned();
    assert_eq!(refused(|member| member.spec.workload = None), BuildError::NoWorkload(name.clone()));
    assert_eq!(
        refused(|member| member.spec.external = Some(External::default())),
        BuildError::External(name.clone())
    );
    assert_eq!(
        refused(|member| member.spec.storage = read(json!([{"device": "/dev/sdb"}]))),
        BuildError::NoVolume(name)
    );
    let other = refused(|member| member.spec.workload.as_mut().unwrap().config = "orders-0".into());
    assert!(matches!(other, BuildError::OtherConfig { .. }));
    let other = refused(|member| member.spec.workload.as_mut().unwrap().version = "0.9".into());
    assert!(matches!(other, BuildError::OtherConfig { .. }));
}

#[test]
fn a_parked_member_has_no_pod_and_is_otherwise_the_same() {
    let running = of_member(&wanted(), &config(), Presence::Running).unwrap();
    let mut parked = of_member(&wanted(), &config(), Presence::Parked).unwrap();
    let replicas = &mut parked.spec.as_mut().unwrap().replicas;
    assert_eq!(replicas.replace(1), Some(0));
    assert_eq!(parked, running);
}

#[test]
fn the_agent_and_nobody_else_sees_the_root_of_the_volume() {
    let (mut engine, mut member) = (engine().spec, wanted());
    engine.template.containers[1].mounts = read(
        json!([{"name": "data", "mountPath": "/d"}, {"name": "data", "mountPath": "/e", "subPath": "x"}]),
    );
    let config = MemberConfig::of(&cluster(), &engine, AGENT_IMAGE).unwrap();
    member.spec.workload.as_mut().unwrap().config = config.name("orders").unwrap();
    let set = of_member(&member, &config, Presence::Running).unwrap();
    let pod = set.spec.unwrap().template.spec.unwrap();
    let mounts = |container: &Container| -> Vec<(String, Option<String>)> {
        let all = container.volume_mounts.iter().flatten().filter(|mount| mount.name == "data");
        all.map(|mount| (mount.mount_path.clone(), mount.sub_path.clone())).collect()
    };
    let pair = |path: &str, sub_path: Option<&str>| (path.to_owned(), sub_path.map(str::to_owned));
    assert_eq!(
        mounts(&pod.containers[0]),
        [pair("/muster/volume", None), pair("/var/lib/ledger", Some("data"))]
    );
    assert_eq!(mounts(&pod.containers[1]), [pair("/d", Some("data")), pair("/e", Some("data/x"))]);
}

#[test]
fn resources_of_the_pool_take_the_place_of_the_engines() {
    let mut member = wanted();
    let of_engine = main_of(&member, &config()).resources.unwrap();
    assert_eq!(of_engine.requests.unwrap()["cpu"].0, "100m");
    let resources = read(json!({"limits": {"memory": "1024Mi"}}));
    member.spec.workload.as_mut().unwrap().resources = Some(resources);
    let of_pool = main_of(&member, &config()).resources.unwrap();
    assert_eq!(of_pool.requests, None);
    assert_eq!(of_pool.limits.unwrap()["memory"].0, "1Gi");
}

#[test]
fn a_change_of_a_secret_is_a_change_of_the_pod() {
    let mut member = wanted();
    let before = of_member(&member, &config(), Presence::Running).unwrap();
    member.spec.workload.as_mut().unwrap().secrets_hash = Some("1".into());
    let after = of_member(&member, &config(), Presence::Running).unwrap();
    assert_ne!(before.spec.unwrap().template, after.spec.unwrap().template);
}
