//! The built-in kinds: their types, and what is particular to each.

mod definitions;
mod read;
mod roots;
mod types;

pub use definitions::{PLACE, definitions, differences, with_references};
