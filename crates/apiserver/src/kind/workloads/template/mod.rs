//! What Pods and the templates of all that make Pods have in common: their defaults and their checks.

mod affinity;
mod claims;
mod containers;
mod defaults;
mod drivers;
mod env;
mod handlers;
mod mounts;
mod resources;
mod security;
mod spec;
mod system;
mod tolerations;
mod volume_defaults;
mod volumes;

pub(super) use affinity::check_node_selector;
pub(super) use defaults::{default_spec, default_template};
pub(super) use drivers::{Owner, check_driver};
pub(super) use handlers::check_port;
pub(super) use resources::{round_up, totals};
pub(super) use spec::{Within, check_spec, check_template};
pub(super) use tolerations::{check_effect, check_tolerations};
pub(super) use volume_defaults::default_driver;
pub(super) use volumes::check_host_path;
