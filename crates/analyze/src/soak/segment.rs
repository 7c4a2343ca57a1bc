//! What the judgement of a soak gets of one segment. Absent on purpose: reading it (crate record).

use schema::said::Said;
use schema::soak::{SegmentFile, WindowLine};

/// One start of the target, as read from its folder.
#[derive(Clone, Debug, Default)]
pub struct SegmentData {
    /// `segment.json`.
    pub file: SegmentFile,
    /// `windows.ndjson`.
    pub windows: Vec<WindowLine>,
    /// Why it ended before its time, where that is known to be the target's doing.
    pub ended: Option<Said>,
}
