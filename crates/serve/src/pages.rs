//! Pages of runs that were made, kept for those who ask again.

use axum::body::Bytes;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Pages that were made, which cost seconds for long runs.
#[derive(Default)]
pub(crate) struct Pages {
    made: Mutex<Vec<Page>>,
    /// One at a time: each may take much memory.
    pub(crate) making: tokio::sync::Mutex<()>,
}

pub(crate) struct Page {
    pub(crate) key: (String, bool, Option<SystemTime>, u64),
    pub(crate) text: Bytes,
}

/// Most pages that are kept, and most bytes of all.
const PAGES_MAX: usize = 6;
const PAGES_BYTES_MAX: usize = 128 << 20;

impl Pages {
    pub(crate) fn find(&self, key: &(String, bool, Option<SystemTime>, u64)) -> Option<Bytes> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().find(|page| &page.key == key).map(|page| page.text.clone())
    }

    pub(crate) fn keep(&self, page: Page) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.insert(0, page);
        made.truncate(PAGES_MAX);
        while made.len() > 1 && made.iter().map(|page| page.text.len()).sum::<usize>() > PAGES_BYTES_MAX {
            made.pop();
        }
    }
}
