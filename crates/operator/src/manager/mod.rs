//! Managers: one task for each cluster that forms and keeps replication, by the rules of `muster-core`.
//!
//! In reading order: the cluster's controller gives an [`intent`]; [`facts`] are what Kubernetes shows; [`streams`] what
//! agents say; the [`task`] takes it all in and has its [`turn`], which sends commands and [`writes`]; the [`view`] is what
//! controllers make status of. [`asked`] are the requests of people, and [`finish`] is how it stops for them.

pub mod asked;
pub mod facts;
mod finish;
pub mod intent;
mod registry;
pub mod streams;
mod task;
mod turn;
pub mod view;
mod writes;

pub use self::finish::STOP_LIMIT;
pub use self::intent::{EngineSpec, Intent};
pub use self::registry::{Handle, Managers};
pub use self::task::START_LIMIT;
pub use self::view::View;
