//! Nothing is allocated to a disabled member: its agent leaves alone the devices that are not part of the storage pool.

use super::super::command::Action;
use super::Decision;
use super::scene::Scene;

/// Tells whoever was disabled, or enabled again, since it was last told.
pub(super) fn reserve(scene: &Scene<'_>, decision: &mut Decision) {
    if !scene.wanted.engine.adds_devices {
        return;
    }
    for (member, report) in scene.observed.reporting() {
        let disabled = scene.wanted.disabled(member);
        if report.reserved != disabled {
            decision.order(scene, member, Action::Reserve(disabled));
        }
    }
}
