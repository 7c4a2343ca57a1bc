//! What the decoders of all formats say of each step.

/// What a format's decoder did with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All of it is used; more is needed, or the end has come.
    Done,
    /// So many bytes came out; there may be more.
    Out(usize),
}
