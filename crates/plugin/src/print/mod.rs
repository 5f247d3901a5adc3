//! How things are shown: aligned columns, colour, ages, and whole documents.

pub mod age;
pub mod document;
pub mod paint;
pub mod size;
pub mod table;

pub use document::document;
pub use paint::{Paint, Tone};
pub use size::size;
pub use table::Table;

/// What stands where nothing is known.
pub const NOTHING: &str = "-";
