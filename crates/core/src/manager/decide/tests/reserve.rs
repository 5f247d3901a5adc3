//! Devices of disabled members.

use super::super::super::testing::at;
use super::super::super::wanted::Wanted;
use super::super::decide;
use super::{majority, orders, primary, secondary, trio};

fn with_c_disabled(disabled: bool, adds_devices: bool) -> Wanted {
    let mut wanted = majority();
    wanted.engine.adds_devices = adds_devices;
    wanted.members.get_mut("c").unwrap().disabled = disabled;
    wanted
}

#[test]
fn r2_5_a_disabled_member_is_told_to_leave_its_devices_alone_until_it_is_enabled() {
    let knows =
        |reserved| trio(primary(5), secondary(5), secondary(5).with(|report| report.reserved = reserved));
    assert_eq!(orders(&decide(&knows(false), &with_c_disabled(true, true), at(0))), ["reserve c"]);
    assert!(orders(&decide(&knows(true), &with_c_disabled(true, true), at(0))).is_empty(), "once");
    assert_eq!(orders(&decide(&knows(true), &with_c_disabled(false, true), at(0))), ["reserve c"]);
    assert!(orders(&decide(&knows(false), &with_c_disabled(true, false), at(0))).is_empty(), "it has none");
}
