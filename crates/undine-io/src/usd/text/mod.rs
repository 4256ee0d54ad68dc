//! `.usda`: a layer as text, as OpenUSD's "USDA File Format Specification" and its parser have it.
//!
//! [`parse`] takes more than OpenUSD writes: a line's end is a space like any other, so statements may stand on one line.
//! Variant sets, splines, relocations and values of unknown types are left out, and [`Layer::passed_over`] says so by line.
//! [`write()`] gives the same text for the same layer, with numbers that read back to the bit.
//!
//! [`Layer::passed_over`]: super::layer::Layer::passed_over

mod cursor;
mod metadata;
mod parse;
mod value;
mod write;

pub(super) use metadata::type_of_field;
pub use parse::parse;
pub use write::write;

/// Words of the text for fields that have another name in the scene description.
const WORDS: [(&str, &str); 4] = [
    ("doc", "documentation"),
    ("inherits", "inheritPaths"),
    ("variantSets", "variantSetNames"),
    ("variants", "variantSelection"),
];

/// The field that a text calls so.
fn field_of_word(word: &str) -> &str {
    WORDS.iter().find(|(text, _)| *text == word).map_or(word, |(_, field)| field)
}

/// What a text calls this field.
fn word_of_field(field: &str) -> &str {
    WORDS.iter().find(|(_, name)| *name == field).map_or(field, |(text, _)| text)
}
