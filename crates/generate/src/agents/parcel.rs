//! What a parcel holds on its way: the bytes of an interval, deflated, in base64 because a line is text.
//!
//! ```text
//! interval ─▶ engine::Parcel ─▶ bytes ─▶ deflate ─▶ base64     what its SHA-256 is of
//! ```
//!
//! Invariants: what comes is inflated up to a limit and no further; the digest was looked at before. Stamps of what was sent
//! travel as long as somebody needs them: they are most of an open load's interval.

use super::protocol::{to_bytes, to_text};
use crate::sent_windows::KEPT_MAX;
use engine::{IntervalData, Most, Part};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plan::LoadJob;
use std::io::{Read as _, Write as _};

/// Longest interval, as long as a line may be.
const BYTES_MAX: u64 = 64 << 20;

/// The stamps that an agent sends: those of the measured intervals, until the controller has what the check of arrivals takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamps {
    /// The first measured interval, once it is known.
    pub(super) measure_from: Option<u64>,
    /// Whether the controller has enough of them.
    pub(super) are_enough: bool,
    /// In one interval at most.
    pub(super) most: usize,
}

impl Stamps {
    /// Of this part of a load: twice as many as its share of all that are kept, so that one interval of all agents fills no
    /// memory.
    pub(super) fn of(part: Part, workers: u32) -> Self {
        let share = KEPT_MAX as u64 * u64::from(part.workers) / u64::from(workers.max(1));
        Self { most: 2 * share.max(1) as usize, ..Self::default() }
    }

    /// How many of an interval travel. One whose number came before it was known which are measured is of the warm-up.
    fn in_interval(self, index: u64) -> usize {
        let is_wanted = !self.are_enough && self.measure_from.is_some_and(|from| index >= from);
        if is_wanted { self.most } else { 0 }
    }
}

/// How much a parcel of this load may have.
pub(super) fn most(job: &LoadJob) -> Most {
    Most { entries: job.scenario.requests.len(), stamps: 2 * KEPT_MAX }
}

/// Wraps an interval.
pub(super) fn wrap(data: &IntervalData, stamps: Stamps) -> String {
    let mut parcel = engine::Parcel::pack(data);
    parcel.cut_stamps(stamps.in_interval(data.counts.index));
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = deflated.write_all(&parcel.to_bytes()).and_then(|()| deflated.finish());
    to_text(&written.expect("a vector takes every byte"))
}

/// What [`wrap`] made.
pub(super) fn unwrap(text: &str, most: Most) -> Result<engine::Parcel, String> {
    let deflated = to_bytes(text)?;
    let mut bytes = Vec::new();
    let inflated = DeflateDecoder::new(&*deflated).take(BYTES_MAX + 1).read_to_end(&mut bytes);
    inflated.map_err(|error| format!("an interval cannot be inflated: {error}"))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!(
            "a parcel of {} bytes inflates to more than {} MiB",
            deflated.len(),
            BYTES_MAX >> 20
        ));
    }
    engine::Parcel::from_bytes(&bytes, most).map_err(|error| error.to_string())
}
