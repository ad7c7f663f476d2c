//! Bought bodies on disk, by digest, and the closed list of content types; it never uses a name that a seller chose.

mod kind;
mod notes;
mod shelf;
mod store;

#[cfg(test)]
mod tests;

pub use kind::ContentKind;
pub use notes::Note;
pub use shelf::Kept;
pub use store::{AT_HAND_BYTES, ContentFault, ContentHead, ContentStore, Fullness, Settling, StoredContent, Writer};
