//! Values that one virtual user has taken from answers.

/// Longest captured value.
pub const CAPTURED_BYTES_MAX: usize = 8 << 10;

/// Values by place in [`Program::captures`](crate::Program::captures). Memory is kept for the next session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    values: Vec<(bool, Vec<u8>)>,
}

impl Captured {
    /// Room for `count` values, none set.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { values: vec![(false, Vec::new()); count] }
    }

    /// Sets a value. One longer than [`CAPTURED_BYTES_MAX`] is not taken: the place is empty then, and the answer
    /// is `false`, as for a place that does not exist.
    pub fn set(&mut self, index: usize, value: &[u8]) -> bool {
        let Some((is_set, bytes)) = self.values.get_mut(index) else { return false };
        bytes.clear();
        *is_set = value.len() <= CAPTURED_BYTES_MAX;
        if *is_set {
            bytes.extend_from_slice(value);
        }
        *is_set
    }

    /// A value that was set.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.values.get(index).filter(|(is_set, _)| *is_set).map(|(_, bytes)| bytes.as_slice())
    }

    /// Forgets all values, for a new session.
    pub fn clear(&mut self) {
        self.values.iter_mut().for_each(|(is_set, _)| *is_set = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_bounded_and_forgotten() {
        let mut captured = Captured::new(2);
        assert_eq!(captured.get(0), None);
        assert!(captured.set(0, b"a") && captured.set(1, &[b'x'; CAPTURED_BYTES_MAX]));
        assert_eq!(captured.get(0), Some(&b"a"[..]));
        assert!(!captured.set(1, &[b'x'; CAPTURED_BYTES_MAX + 1]), "too long");
        assert_eq!(captured.get(1), None, "no old value stands for one that was not taken");
        assert!(!captured.set(2, b"a"), "no such place");
        captured.clear();
        assert_eq!(captured.get(0), None);
    }
}
