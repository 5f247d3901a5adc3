//! What others may ask the operator without TLS: `/metrics`, `/readyz`, `/livez`.
//!
//! Nothing secret is served and nothing can be changed; so it is bounded, and not guarded.

mod answer;
mod health;
mod listener;

pub use self::health::{Health, LIVE_WITHIN};
pub use self::listener::{Running, ServeError, start};
