//! The page and its files, embedded in the binary.

/// Files of the lab's page by name, such as `index.html` and `assets/lab.js`.
pub type Assets = &'static [(&'static str, &'static [u8])];
