//! Devices of a member, and what its engine says of its storage.

use muster_core::manager::command::Action;
use muster_protocol::Device;

use super::place::Place;

#[tokio::test]
async fn r2_7_an_available_device_becomes_part_of_the_pool_when_the_application_serves() {
    let place = Place::with(&["devices", "addDevice", "freeStorage"]);
    place.tell("devices", r#"[{"name":"data","available":true,"pooled":false,"capacity":9,"free":8}]"#);
    let agent = place.start_and_settle().await;
    let line = agent.until("it is measured", |line| !line.measured.devices.is_empty()).await;
    assert_eq!(
        line.measured.devices,
        [Device { name: "data".into(), available: true, pooled: false, capacity: 9, free: 8 }]
    );
    assert_eq!(line.measured.storage.map(|storage| storage.free), Some(12345));
    assert!(place.log().is_empty(), "without an application there is no pool");
    agent.seed().await;
    agent.until("it is part of the pool", |line| line.measured.devices.iter().all(|it| it.pooled)).await;
    assert_eq!(place.log(), ["seed", "addDevice"]);
}

#[tokio::test]
async fn r2_5_a_disabled_member_leaves_its_devices_alone_until_it_is_enabled() {
    let place = Place::with(&["devices", "addDevice"]);
    let device = |free: u64| {
        format!(r#"[{{"name":"data","available":true,"pooled":false,"capacity":9,"free":{free}}}]"#)
    };
    place.tell("devices", &device(8));
    let agent = place.start_and_settle().await;
    agent.epoch(1).await;
    agent.obeys(1, Action::Reserve(true), true).await;
    assert!(agent.report().await.reserved);
    place.tell("devices", &device(7));
    agent.obeys(2, Action::Seed { forming: true }, true).await;
    // Its engine was asked again because it serves: then the device would have been added.
    agent.until("it is measured", |line| line.measured.devices.iter().any(|it| it.free == 7)).await;
    agent.until_running("it serves", |running| running.synced).await;
    assert_eq!(place.log(), ["seed"]);
    agent.obeys(3, Action::Reserve(false), true).await;
    agent.until("it is part of the pool", |line| line.measured.devices.iter().all(|it| it.pooled)).await;
    assert_eq!(place.log(), ["seed", "addDevice"]);
}
