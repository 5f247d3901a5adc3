//! What a client asks for: the path, the query and the selectors, understood.

mod labels;
pub mod path;
pub mod query;
pub mod selector;
