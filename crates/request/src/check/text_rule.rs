//! A text that bodies must contain, which is looked for as they come.

use memchr::memmem::Finder;

/// The body must contain a text.
#[derive(Clone, Debug)]
pub(super) struct TextRule {
    pub(super) finder: Finder<'static>,
    pub(super) number: u16,
}
