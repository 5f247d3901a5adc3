//! Devices of a member, and what its engine says of its storage.

use muster_core::manager::command::Action;
use muster_protocol::Device;

use super::place::{Place, until_so};

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
    place.tell("devices", r#"[{"name":"data","available":true,"pooled":false,"capacity":9,"free":8}]"#);
    let agent = place.start_and_settle().await;
    agent.until("it is measured", |line| !line.measured.devices.is_empty()).await;
    let before = place.asked("devices");
    agent.epoch(1).await;
    agent.obeys(1, Action::Reserve(true), true).await;
    assert!(agent.report().await.reserved);
    until_so("its devices are looked at because it is disabled", || place.asked("devices") > before).await;
    let before = place.asked("devices");
    agent.obeys(2, Action::Seed { forming: true }, true).await;
    agent.until_running("it serves", |running| running.synced).await;
    until_so("its devices are looked at because it serves", || place.asked("devices") > before).await;
    // What an agent does about what it saw is done before it looks again, and it looks again when its application does not serve.
    let before = place.asked("devices");
    place.tell("exit", "8");
    place.tell("status.new", r#"{"state":"starting","sequence":0,"synced":false}"#);
    std::fs::rename(place.control("status.new"), place.control("status")).unwrap();
    until_so("its devices are looked at once more", || place.asked("devices") > before).await;
    assert_eq!(place.log(), ["seed"]);
    place.untell("status");
    agent.obeys(3, Action::Reserve(false), true).await;
    agent.until("it is part of the pool", |line| line.measured.devices.iter().all(|it| it.pooled)).await;
    assert_eq!(place.log(), ["seed", "addDevice"]);
}
