//! What one request waited to be written, by cause.

use std::ops::{Index, IndexMut};

/// Why a request is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// No connection is established that takes requests.
    Connection,
    /// As many streams are open as the peer or the plan allows.
    Stream,
    /// A window of the peer is used up, or its system takes no more of what was written.
    Window,
}

/// Nanoseconds by [`Lack`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited([u64; 3]);

impl Index<Lack> for Waited {
    type Output = u64;

    #[inline]
    fn index(&self, cause: Lack) -> &u64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Lack> for Waited {
    #[inline]
    fn index_mut(&mut self, cause: Lack) -> &mut u64 {
        &mut self.0[cause as usize]
    }
}

impl Waited {
    /// Without what `other` has; never below 0.
    #[inline]
    pub(crate) fn less(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|cause| self.0[cause].saturating_sub(other.0[cause])))
    }

    /// Of all causes.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, part)| *sum += part);
    }
}
