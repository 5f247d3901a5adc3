//! Devices of a member, and what its engine says of its storage.

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
